// The one list of what a usage row is made of: its columns, their types, and how a row turns into values and back.

import type { Bulk, Value } from './engine.ts'
import { cleanText, cleanTextOrNull } from './text.ts'
import type { FailedAttempt, UsageRow } from './usage-row.ts'

interface Column {
  readonly name: string
  readonly field: keyof UsageRow
  readonly type: 'text' | 'bigint'
  /** Read as text and turned into a bigint: a number would lose its last digits. */
  readonly money?: boolean
}

const text = (name: string, field: keyof UsageRow): Column => ({ name, field, type: 'text' })
const whole = (name: string, field: keyof UsageRow): Column => ({ name, field, type: 'bigint' })
const money = (name: string, field: keyof UsageRow): Column => ({
  name,
  field,
  type: 'bigint',
  money: true,
})

const usageColumns: readonly Column[] = [
  text('request_id', 'requestId'),
  whole('at', 'at'),
  text('account', 'account'),
  text('key_id', 'key'),
  text('key_name', 'keyName'),
  text('group_id', 'group'),
  text('operation', 'operation'),
  text('model_asked', 'modelAsked'),
  text('model_served', 'modelServed'),
  text('channel', 'channel'),
  text('vendor', 'vendor'),
  whole('attempts', 'attempts'),
  whole('stream', 'stream'),
  whole('input_tokens', 'input'),
  whole('cached_input_tokens', 'cachedInput'),
  whole('cache_write_tokens', 'cacheWrite'),
  whole('output_tokens', 'output'),
  whole('reasoning_tokens', 'reasoning'),
  whole('cache_write_1h_tokens', 'cacheWrite1h'),
  whole('audio_input_tokens', 'audioInput'),
  whole('audio_output_tokens', 'audioOutput'),
  whole('image_input_tokens', 'imageInput'),
  whole('image_output_tokens', 'imageOutput'),
  text('units', 'units'),
  text('usage_source', 'usageSource'),
  whole('price_version', 'priceVersion'),
  whole('multiplier_ppm', 'multiplierPpm'),
  money('charge_nano', 'chargeNano'),
  money('writeoff_nano', 'writeoffNano'),
  money('vendor_cost_nano', 'vendorCostNano'),
  whole('ttft_ms', 'ttftMs'),
  whole('duration_ms', 'durationMs'),
  whole('status', 'status'),
  text('error_code', 'errorCode'),
  text('error_cause', 'errorCause'),
  text('failed_attempts', 'failedAttempts'),
  text('client_address', 'clientAddress'),
  text('client_request_id', 'clientRequestId'),
  text('trace_id', 'traceId'),
]

const names = usageColumns.map(({ name }) => name).join(', ')

/** Known ids are passed over. One array a column keeps PostgreSQL's statement the same for any number of rows. */
export const insertUsage: Bulk = {
  sqlite: `INSERT INTO usage (${names}) VALUES (${usageColumns.map(() => '?').join(', ')})
    ON CONFLICT DO NOTHING`,
  postgres: `INSERT INTO usage (${names})
    SELECT * FROM unnest(${usageColumns.map(({ type }, index) => `$${index + 1}::${type}[]`).join(', ')})
    ON CONFLICT DO NOTHING`,
}

/** Every column under its field's name, as `KeptUsage`. */
export const selectUsage = `SELECT ${usageColumns
  .map(({ name, field, money }) => `${money ? `CAST(${name} AS TEXT)` : name} AS "${field}"`)
  .join(', ')} FROM usage`

/**
 * In the order of the columns. Clocks give fractions of a millisecond; they are rounded here. Token counts are kept to
 * the letter. The money is given beside the row: settling decides how it is divided.
 */
export function usageValues(row: UsageRow, chargeNano: bigint, writeoffNano: bigint): Value[] {
  return [
    row.requestId,
    Math.round(row.at),
    cleanText(row.account),
    cleanText(row.key),
    cleanText(row.keyName),
    cleanText(row.group),
    row.operation,
    cleanText(row.modelAsked),
    cleanTextOrNull(row.modelServed),
    cleanTextOrNull(row.channel),
    row.vendor,
    row.attempts,
    row.stream ? 1 : 0,
    row.input,
    row.cachedInput,
    row.cacheWrite,
    row.output,
    row.reasoning,
    row.cacheWrite1h,
    row.audioInput,
    row.audioOutput,
    row.imageInput,
    row.imageOutput,
    row.units === null ? null : JSON.stringify(row.units),
    row.usageSource,
    row.priceVersion,
    row.multiplierPpm,
    chargeNano,
    writeoffNano,
    row.vendorCostNano,
    row.ttftMs === null ? null : Math.round(row.ttftMs),
    Math.round(row.durationMs),
    row.status,
    row.errorCode,
    cleanTextOrNull(row.errorCause),
    row.failedAttempts === null ? null : JSON.stringify(row.failedAttempts),
    cleanTextOrNull(row.clientAddress),
    cleanTextOrNull(row.clientRequestId),
    row.traceId,
  ]
}

/** A row as the engines give it. */
export type KeptUsage = Omit<
  UsageRow,
  'stream' | 'units' | 'chargeNano' | 'writeoffNano' | 'vendorCostNano' | 'failedAttempts'
> & {
  readonly stream: number
  readonly units: string | null
  readonly chargeNano: string
  readonly writeoffNano: string
  readonly vendorCostNano: string
  readonly failedAttempts: string | null
}

export function usageRowOf(kept: KeptUsage): UsageRow {
  return {
    ...kept,
    stream: kept.stream === 1,
    units: kept.units === null ? null : (JSON.parse(kept.units) as UsageRow['units']),
    chargeNano: BigInt(kept.chargeNano),
    writeoffNano: BigInt(kept.writeoffNano),
    vendorCostNano: BigInt(kept.vendorCostNano),
    failedAttempts:
      kept.failedAttempts === null ? null : (JSON.parse(kept.failedAttempts) as FailedAttempt[]),
  }
}
