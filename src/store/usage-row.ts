// What is kept of a finished request: the one table of its columns. The row's type, its SQL and what is refused of it
// follow from here.

import type { TokenKind } from '../config/prices.ts'
import type { Nano } from '../money.ts'

/** What a column holds. `small` fits 32 bits; a `time` is in milliseconds, kept whole; `json` is kept as text. */
export type ColumnKind =
  | 'text'
  | 'textOrNull'
  | 'count'
  | 'countOrNull'
  | 'small'
  | 'time'
  | 'timeOrNull'
  | 'flag'
  | 'money'
  | 'json'

interface Column<Value> {
  /** In the database. */
  readonly name: string
  readonly kind: ColumnKind
  /** For its type alone. */
  readonly value?: Value
}

const text = <Word extends string>(name: string): Column<Word> => ({ name, kind: 'text' })
const textOrNull = (name: string): Column<string | null> => ({ name, kind: 'textOrNull' })
const count = (name: string): Column<number> => ({ name, kind: 'count' })
const countOrNull = (name: string): Column<number | null> => ({ name, kind: 'countOrNull' })
const small = (name: string): Column<number> => ({ name, kind: 'small' })
const time = (name: string): Column<number> => ({ name, kind: 'time' })
const timeOrNull = (name: string): Column<number | null> => ({ name, kind: 'timeOrNull' })
const flag = (name: string): Column<boolean> => ({ name, kind: 'flag' })
const money = (name: string): Column<Nano> => ({ name, kind: 'money' })
const json = <Value>(name: string): Column<Value | null> => ({ name, kind: 'json' })

const columns = {
  requestId: text('request_id'),
  /** When the request began, Unix milliseconds. */
  at: time('at'),
  account: text('account'),
  key: text('key_id'),
  keyName: text('key_name'),
  group: text('group_id'),
  operation: text('operation'),
  modelAsked: text('model_asked'),
  /** The vendor's own name of the model that answered, null when none did. */
  modelServed: textOrNull('model_served'),
  channel: textOrNull('channel'),
  vendor: textOrNull('vendor'),
  attempts: small('attempts'),
  stream: flag('stream'),
  input: count('input_tokens'),
  cachedInput: count('cached_input_tokens'),
  cacheWrite: count('cache_write_tokens'),
  output: count('output_tokens'),
  reasoning: count('reasoning_tokens'),
  cacheWrite1h: count('cache_write_1h_tokens'),
  audioInput: count('audio_input_tokens'),
  audioOutput: count('audio_output_tokens'),
  imageInput: count('image_input_tokens'),
  imageOutput: count('image_output_tokens'),
  /** What is not tokens, by price name: `{"image/1024x1024":2}`, `{"second":12.5}`; null where there is none. */
  units: json<Readonly<Record<string, number>>>('units'),
  /** Who said so: the vendor, the vendor after the client had left, or the gateway by counting. */
  usageSource: text<'reported' | 'drained' | 'counted' | 'none'>('usage_source'),
  /** The card the request was admitted under; null where it never was. */
  priceVersion: countOrNull('price_version'),
  /** The group's multiplier at admission, in millionths; 0 where a policy made the request free. */
  multiplierPpm: count('multiplier_ppm'),
  /** What the wallet paid; with `writeoffNano` it is the formula's result, to the nano. */
  chargeNano: money('charge_nano'),
  writeoffNano: money('writeoff_nano'),
  /** What all attempts cost at the vendors, at the model's own prices without the multiplier. */
  vendorCostNano: money('vendor_cost_nano'),
  /** Until the first byte of content; null when there was none. */
  ttftMs: timeOrNull('ttft_ms'),
  durationMs: time('duration_ms'),
  /** HTTP status the client got; 499 when it left first. */
  status: small('status'),
  errorCode: textOrNull('error_code'),
  /** The finer cause of a failure, for operators. */
  errorCause: textOrNull('error_cause'),
  /** Attempts that delivered nothing, with what each is taken to have cost; null where there was none. */
  failedAttempts: json<readonly FailedAttempt[]>('failed_attempts'),
  /** Where the request came from. */
  clientAddress: textOrNull('client_address'),
  /** What the client calls it; says nothing of what it is here. */
  clientRequestId: textOrNull('client_request_id'),
  /** The trace it is part of (W3C Trace Context): 32 hex digits. */
  traceId: textOrNull('trace_id'),
  /** What was held for it at most; 0 in rows of versions that did not keep it. */
  heldNano: money('held_nano'),
  /** The application that sent it, as its User-Agent names it: `claude-code`, `openai-python`. */
  client: textOrNull('client'),
  clientVersion: textOrNull('client_version'),
  /** What the vendor that answered last calls it. */
  vendorRequestId: textOrNull('vendor_request_id'),
} satisfies Readonly<Record<TokenKind, Column<number>>> & Readonly<Record<string, Column<unknown>>>

/** Why nothing, or which, came after a failed attempt. */
export type AfterFailure =
  | 'next_channel'
  | 'no_other_channel'
  /** Any channel would answer the same. */
  | 'request_at_fault'
  /** Its channel is set so for this status. */
  | 'status_not_retried'
  /** The vendor may have done the work: sending it again might pay twice. */
  | 'outcome_unknown'
  | 'retry_budget'
  | 'out_of_time'
  /** The reply had begun. */
  | 'already_answering'

/** Times are whole milliseconds; jobs and sessions leave out all but the first three. */
export interface FailedAttempt {
  readonly channel: string
  /** The fault's kind. */
  readonly kind: string
  readonly costNano: string
  /** The vendor's, where it answered. */
  readonly status?: number
  readonly vendorRequestId?: string
  /** After the request's arrival. */
  readonly startMs?: number
  /** Until a connection was made; left out where one was kept. */
  readonly connectMs?: number
  /** From its start until the head of a reply. */
  readonly firstByteMs?: number
  readonly durationMs?: number
  readonly then?: AfterFailure
}

type Columns = typeof columns
type ValueOf<Of> = Of extends Column<infer Value> ? Value : never

/** One finished request. Append-only; `requestId` is the primary key, a second append of it does nothing. */
export type UsageRow = { readonly [Field in keyof Columns]: ValueOf<Columns[Field]> }

export interface UsageColumn {
  readonly field: keyof UsageRow
  readonly name: string
  readonly kind: ColumnKind
}

export const usageColumns: readonly UsageColumn[] = Object.entries(columns).map(
  ([field, { name, kind }]) => ({ field: field as keyof UsageRow, name, kind }),
)

/** Where the columns of these kinds stand. */
export function placesOf(...kinds: readonly ColumnKind[]): readonly number[] {
  return usageColumns.flatMap(({ kind }, place) => (kinds.includes(kind) ? [place] : []))
}

/** In the order of the columns. Written out: every request's row is checked and kept by it, and a look-up by name takes four times as long. */
export function columnValues(row: UsageRow): UsageRow[keyof UsageRow][] {
  return [
    row.requestId,
    row.at,
    row.account,
    row.key,
    row.keyName,
    row.group,
    row.operation,
    row.modelAsked,
    row.modelServed,
    row.channel,
    row.vendor,
    row.attempts,
    row.stream,
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
    row.units,
    row.usageSource,
    row.priceVersion,
    row.multiplierPpm,
    row.chargeNano,
    row.writeoffNano,
    row.vendorCostNano,
    row.ttftMs,
    row.durationMs,
    row.status,
    row.errorCode,
    row.errorCause,
    row.failedAttempts,
    row.clientAddress,
    row.clientRequestId,
    row.traceId,
    row.heldNano,
    row.client,
    row.clientVersion,
    row.vendorRequestId,
  ]
}
