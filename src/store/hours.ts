// Hourly totals of usage: read here, added to by settling.

import type { Bulk, Engine, Value } from './engine.ts'
import type { HourFilter, HourRow, HourTable } from './ledger.ts'
import { cleanText } from './text.ts'
import type { UsageRow } from './usage-row.ts'

const hourMs = 3_600_000

const columns = `account, hour, key_id, model, channel, group_id, status,
  requests, input_tokens, output_tokens, charge_nano, writeoff_nano, vendor_cost_nano`

const addUp = `ON CONFLICT (hour, account, key_id, model, channel, group_id, status) DO UPDATE SET
  requests = usage_hour.requests + excluded.requests,
  input_tokens = usage_hour.input_tokens + excluded.input_tokens,
  output_tokens = usage_hour.output_tokens + excluded.output_tokens,
  charge_nano = usage_hour.charge_nano + excluded.charge_nano,
  writeoff_nano = usage_hour.writeoff_nano + excluded.writeoff_nano,
  vendor_cost_nano = usage_hour.vendor_cost_nano + excluded.vendor_cost_nano`

/** Adds to the totals that are there; each total at most once in a call. */
export const addHours: Bulk = {
  sqlite: `INSERT INTO usage_hour (${columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ${addUp}`,
  postgres: `INSERT INTO usage_hour (${columns})
    SELECT * FROM unnest($1::text[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::text[],
      $7::integer[], $8::bigint[], $9::bigint[], $10::bigint[], $11::bigint[], $12::bigint[],
      $13::bigint[])
    ORDER BY 1, 2, 3, 4, 5, 6, 7 ${addUp}`,
}

interface Total {
  readonly dimensions: readonly Value[]
  requests: number
  inputTokens: bigint
  outputTokens: bigint
  chargeNano: bigint
  writeoffNano: bigint
  vendorCostNano: bigint
}

/** Adds up a batch, so that each total is touched once. */
export class HourTotals {
  private readonly totals = new Map<string, Total>()

  add(row: UsageRow, chargeNano: bigint, writeoffNano: bigint): void {
    const total = this.totalOf(row)
    total.requests += 1
    total.inputTokens += BigInt(row.input)
    total.outputTokens += BigInt(row.output)
    total.chargeNano += chargeNano
    total.writeoffNano += writeoffNano
    total.vendorCostNano += row.vendorCostNano
  }

  /** For `addHours`. */
  values(): Value[][] {
    return [...this.totals.values()].map((total) => [
      ...total.dimensions,
      total.requests,
      total.inputTokens,
      total.outputTokens,
      total.chargeNano,
      total.writeoffNano,
      total.vendorCostNano,
    ])
  }

  private totalOf(row: UsageRow): Total {
    const dimensions = [
      cleanText(row.account),
      Math.floor(Math.round(row.at) / hourMs) * hourMs,
      cleanText(row.key),
      cleanText(row.modelAsked),
      cleanText(row.channel ?? ''),
      cleanText(row.group),
      row.status,
    ]
    // No cleaned text has a NUL in it.
    const name = dimensions.join('\0')
    let total = this.totals.get(name)
    if (total === undefined) {
      total = {
        dimensions,
        requests: 0,
        inputTokens: 0n,
        outputTokens: 0n,
        chargeNano: 0n,
        writeoffNano: 0n,
        vendorCostNano: 0n,
      }
      this.totals.set(name, total)
    }
    return total
  }
}

const select = `SELECT hour, account, key_id AS "key", model, channel, group_id AS "group", status,
  requests, input_tokens AS "inputTokens", output_tokens AS "outputTokens",
  CAST(charge_nano AS TEXT) AS "chargeNano", CAST(writeoff_nano AS TEXT) AS "writeoffNano",
  CAST(vendor_cost_nano AS TEXT) AS "vendorCostNano" FROM usage_hour`

type KeptHour = Omit<HourRow, 'chargeNano' | 'writeoffNano' | 'vendorCostNano'> & {
  readonly chargeNano: string
  readonly writeoffNano: string
  readonly vendorCostNano: string
}

export function hourTable(engine: Engine): HourTable {
  return {
    async list(filter) {
      const { where, values } = conditions(filter)
      const kept = await engine.query<KeptHour>(
        `${select}${where} ORDER BY hour, account, key_id, model, channel, group_id, status`,
        values,
      )
      return kept.map((row) => ({
        ...row,
        chargeNano: BigInt(row.chargeNano),
        writeoffNano: BigInt(row.writeoffNano),
        vendorCostNano: BigInt(row.vendorCostNano),
      }))
    },
  }
}

function conditions(filter: HourFilter): { where: string; values: Value[] } {
  const dimensions = [
    ['account', filter.account],
    ['key_id', filter.key],
    ['model', filter.model],
    ['channel', filter.channel],
    ['group_id', filter.group],
  ] as const
  const where: string[] = []
  const values: Value[] = []
  for (const [column, value] of dimensions) {
    if (value === undefined) continue
    where.push(`${column} = ?`)
    values.push(cleanText(value))
  }
  if (filter.since !== undefined) {
    where.push('hour >= ?')
    values.push(filter.since)
  }
  if (filter.until !== undefined) {
    where.push('hour < ?')
    values.push(filter.until)
  }
  return { where: where.length === 0 ? '' : ` WHERE ${where.join(' AND ')}`, values }
}
