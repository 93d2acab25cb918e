// The one list of what a usage row is made of: its columns, their types, and how a row turns into values.

import type { Value } from './engine.ts'
import type { UsageRow } from './store.ts'
import { cleanText, cleanTextOrNull } from './text.ts'

interface Column {
  readonly name: string
  readonly field: keyof UsageRow
  readonly type: 'text' | 'bigint'
}

const text = (name: string, field: keyof UsageRow): Column => ({ name, field, type: 'text' })
const whole = (name: string, field: keyof UsageRow): Column => ({ name, field, type: 'bigint' })

export const usageColumns: readonly Column[] = [
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
  text('usage_source', 'usageSource'),
  whole('ttft_ms', 'ttftMs'),
  whole('duration_ms', 'durationMs'),
  whole('status', 'status'),
  text('error_code', 'errorCode'),
  text('error_cause', 'errorCause'),
]

export const usageColumnNames = usageColumns.map((column) => column.name).join(', ')

/** In the order of `usageColumns`. Clocks give fractions of a millisecond; they are rounded here. Token counts are kept to the letter. */
export function usageValues(row: UsageRow): Value[] {
  return [
    row.requestId,
    Math.round(row.at),
    cleanText(row.account),
    row.key,
    cleanText(row.keyName),
    cleanText(row.group),
    row.operation,
    cleanText(row.modelAsked),
    cleanTextOrNull(row.modelServed),
    row.channel,
    row.vendor,
    row.attempts,
    row.stream ? 1 : 0,
    row.input,
    row.cachedInput,
    row.cacheWrite,
    row.output,
    row.reasoning,
    row.usageSource,
    row.ttftMs === null ? null : Math.round(row.ttftMs),
    Math.round(row.durationMs),
    row.status,
    row.errorCode,
    cleanTextOrNull(row.errorCause),
  ]
}
