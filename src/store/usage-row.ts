// The columns of a usage row, which records a finished request. The row's type, its SQL and its validation derive from
// this table.

import type { TokenKind } from '../config/prices.ts'
import type { Nano } from '../money.ts'

/** What a column holds. `small`: fits 32 bits; `time`: whole milliseconds; `json`: stored as text. */
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
  /** The column's name. */
  readonly name: string
  readonly kind: ColumnKind
  /** Never set; carries the TypeScript type. */
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
  /** The vendor's own name of the model that answered; null if none did. */
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
  /** Units other than tokens, by price name: `{"image/1024x1024":2}`, `{"second":12.5}`; null if there are none. */
  units: json<Readonly<Record<string, number>>>('units'),
  /** Source of the token counts: the vendor, the vendor after the client had left, or the gateway by counting. */
  usageSource: text<'reported' | 'drained' | 'counted' | 'none'>('usage_source'),
  /** Version of the rate card in force at admission; null if the request was not admitted. */
  priceVersion: countOrNull('price_version'),
  /** The group's multiplier at admission, in millionths; 0 if a policy made the request free. */
  multiplierPpm: count('multiplier_ppm'),
  /** What the wallet paid; the sum with `writeoffNano` is the computed charge, exact to the nano-unit. */
  chargeNano: money('charge_nano'),
  writeoffNano: money('writeoff_nano'),
  /** What all attempts cost at the vendors, at the model's own prices without the multiplier. */
  vendorCostNano: money('vendor_cost_nano'),
  /** Time to the first byte of content; null if there was none. */
  ttftMs: timeOrNull('ttft_ms'),
  durationMs: time('duration_ms'),
  /** HTTP status the client got; 499 if it left before the end. */
  status: small('status'),
  errorCode: textOrNull('error_code'),
  /** A more detailed cause of a failure, for operators. */
  errorCause: textOrNull('error_cause'),
  /** Attempts that delivered nothing, with the presumable cost of each; null if there were none. */
  failedAttempts: json<readonly FailedAttempt[]>('failed_attempts'),
  /** The client's IP address. */
  clientAddress: textOrNull('client_address'),
  /** The client's own id of the request, unrelated to `requestId`. */
  clientRequestId: textOrNull('client_request_id'),
  /** The trace the request belongs to (W3C Trace Context): 32 hex digits. */
  traceId: textOrNull('trace_id'),
  /** The most that was held for the request; 0 in rows of versions that did not store it. */
  heldNano: money('held_nano'),
  /** The application that sent it, from its User-Agent: `claude-code`, `openai-python`. */
  client: textOrNull('client'),
  clientVersion: textOrNull('client_version'),
  /** The request's id at the vendor that answered last. */
  vendorRequestId: textOrNull('vendor_request_id'),
  /** What the client labelled the request with, such as a feature or a customer of theirs. */
  tag: textOrNull('tag'),
} satisfies Readonly<Record<TokenKind, Column<number>>> & Readonly<Record<string, Column<unknown>>>

/** What followed a failed attempt: another channel, or the reason why none was tried. */
export type AfterFailure =
  | 'next_channel'
  | 'no_other_channel'
  /** The request is at fault, so any channel would answer the same. */
  | 'request_at_fault'
  /** The channel is configured not to be followed by another for this status. */
  | 'status_not_retried'
  /** The vendor may have done the work: sending the request again might cost twice. */
  | 'outcome_unknown'
  | 'retry_budget'
  | 'out_of_time'
  /** The reply to the client had begun. */
  | 'already_answering'

/** Times are whole milliseconds; jobs and sessions have only the first three members. */
export interface FailedAttempt {
  readonly channel: string
  /** The kind of the fault. */
  readonly kind: string
  readonly costNano: string
  /** The vendor's HTTP status, if it answered. */
  readonly status?: number
  readonly vendorRequestId?: string
  /** Time from the request's arrival to the attempt's start. */
  readonly startMs?: number
  /** Time to make a connection; left out if one was reused. */
  readonly connectMs?: number
  /** Time from the attempt's start to the head of a reply. */
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

/** Indexes of the columns of these kinds. */
export function placesOf(...kinds: readonly ColumnKind[]): readonly number[] {
  return usageColumns.flatMap(({ kind }, place) => (kinds.includes(kind) ? [place] : []))
}

/** In the order of the columns. Written out: every request needs it, and lookups by name take 4 times as long. */
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
    row.tag,
  ]
}
