// Makes OpenTelemetry spans of ended requests: one for each request, one for each attempt. Attributes follow the
// conventions for generative AI, under the old and the new names (gen_ai.system, gen_ai.provider.name).

import { randomBytes } from 'node:crypto'
import type { Settlement } from '../billing/settlement.ts'
import { promptTokens, replyTokens } from '../config/prices.ts'
import { formatUnits } from '../money.ts'
import type { UsageRow } from '../store/usage-row.ts'
import { providerName } from '../vendors/provider-name.ts'

/** An ended request, as the spans need it. */
export interface Traced {
  readonly row: UsageRow
  /** Of the client's request. */
  readonly method: 'GET' | 'POST'
  /** The header as the client sent it. */
  readonly traceparent: string | null
  readonly finishReason: string | null
  /** Milliseconds from the request's arrival to the sending of the attempt that answered. */
  readonly sentAfterMs: number
}

export interface Traces {
  /** Adds an ended request; returns its trace id, null where it is not sampled. */
  ended(settlement: Settlement, row: UsageRow): string | null
  /** Requests that a collector took, and those that were lost. */
  readonly counts: { readonly sent: number; readonly dropped: number }
  /** Sends what is queued; never rejects. */
  flush(): Promise<void>
}

type Value =
  | { readonly stringValue: string }
  | { readonly intValue: string }
  | { readonly arrayValue: { readonly values: readonly Value[] } }
type Attribute = { readonly key: string; readonly value: Value }

/** A span in OTLP's JSON form: ids as hex, nanoseconds as text. */
interface Span {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  readonly kind: number
  readonly startTimeUnixNano: string
  readonly endTimeUnixNano: string
  readonly attributes: readonly Attribute[]
  readonly status: { readonly code: number }
}

/** Values from opentelemetry/proto/trace/v1/trace.proto. */
const spanKind = { server: 2, client: 3 } as const
const statusCode = { unset: 0, error: 2 } as const
const operationNames: ReadonlyMap<string, string> = new Map(
  Object.entries({
    completion: 'text_completion',
    embedding: 'embeddings',
  }),
)

export function operationOf({ operation }: UsageRow): string {
  return operationNames.get(operation) ?? operation
}

export function tracedOf(settlement: Settlement, row: UsageRow): Traced {
  return {
    row,
    method: settlement.request.dialect.client.method ?? 'POST',
    traceparent: settlement.request.caller.traceparent,
    finishReason: settlement.summary?.finishReason ?? null,
    sentAfterMs: Math.round(settlement.sentAfterMs ?? 0),
  }
}

/**
 * The client's trace id; where it sent none, the digits of the request's id, padded with zeros. A session's later
 * records, whose ids have a number behind it, belong to the same trace.
 */
export function traceIdOfRow({ traceId, requestId }: UsageRow): string {
  return traceId ?? requestId.slice(4, 32).padEnd(32, '0')
}

/** The spans of a request, its own first. */
export function spansOf({
  row,
  method,
  traceparent,
  finishReason,
  sentAfterMs,
}: Traced): readonly Span[] {
  const traceId = traceIdOfRow(row)
  const operation = operationOf(row)
  const own: Span = {
    traceId,
    spanId: newSpanId(),
    ...(traceparent !== null && { parentSpanId: traceparent.slice(36, 52) }),
    name: `${operation} ${row.modelAsked}`,
    kind: spanKind.server,
    ...timesOf(row.at, 0, row.durationMs),
    attributes: [
      ...shared(row, operation),
      ...answer(row, finishReason),
      text('http.request.method', method),
      whole('http.response.status_code', row.status),
      ...failure(row.errorCode),
      text('tollgate.request_id', row.requestId),
      text('tollgate.account', row.account),
      text('tollgate.group', row.group),
      text('tollgate.tag', row.tag),
      text('tollgate.channel', row.channel),
      text('tollgate.cost', formatUnits(row.chargeNano)),
      whole('tollgate.attempts', row.attempts),
    ].flat(),
    status: { code: row.status >= 500 || row.errorCode !== null ? statusCode.error : 0 },
  }
  const of = { traceId, parentSpanId: own.spanId, kind: spanKind.client }
  const failed = failedSpans(row, operation, of)
  if (row.attempts <= failed.length) return [own, ...failed]
  const last: Span = {
    ...of,
    spanId: newSpanId(),
    name: `${operation} ${row.modelServed ?? row.modelAsked}`,
    ...timesOf(row.at, sentAfterMs, row.durationMs),
    attributes: [
      ...shared(row, operation),
      ...answer(row, finishReason),
      ...failure(row.errorCode),
      text('tollgate.channel', row.channel),
      text('tollgate.vendor_request_id', row.vendorRequestId),
    ].flat(),
    status: { code: row.errorCode === null ? statusCode.unset : statusCode.error },
  }
  return [own, ...failed, last]
}

function failedSpans(
  row: UsageRow,
  operation: string,
  of: Pick<Span, 'traceId' | 'parentSpanId' | 'kind'>,
): readonly Span[] {
  return (row.failedAttempts ?? []).map((attempt) => ({
    ...of,
    spanId: newSpanId(),
    name: `${operation} ${row.modelAsked}`,
    ...timesOf(row.at, attempt.startMs ?? 0, (attempt.startMs ?? 0) + (attempt.durationMs ?? 0)),
    attributes: [
      text('gen_ai.operation.name', operation),
      text('gen_ai.request.model', row.modelAsked),
      text('error.type', attempt.kind),
      whole('http.response.status_code', attempt.status ?? null),
      text('tollgate.channel', attempt.channel),
      text('tollgate.vendor_request_id', attempt.vendorRequestId ?? null),
      text('tollgate.then', attempt.then ?? null),
    ].flat(),
    status: { code: statusCode.error },
  }))
}

function shared(row: UsageRow, operation: string): readonly Attribute[] {
  return [
    text('gen_ai.operation.name', operation),
    text('gen_ai.system', providerName(row.vendor)),
    text('gen_ai.provider.name', providerName(row.vendor)),
    text('gen_ai.request.model', row.modelAsked),
  ].flat()
}

function answer(row: UsageRow, finishReason: string | null): readonly Attribute[] {
  return [
    text('gen_ai.response.model', row.modelServed),
    finishReason === null
      ? []
      : [
          {
            key: 'gen_ai.response.finish_reasons',
            value: { arrayValue: { values: [{ stringValue: finishReason }] } },
          },
        ],
    whole('gen_ai.usage.input_tokens', promptTokens(row)),
    whole('gen_ai.usage.output_tokens', replyTokens(row)),
  ].flat()
}

function failure(code: string | null): readonly Attribute[] {
  return text('error.type', code)
}

/** Empty where there is no value. */
function text(key: string, value: string | null): readonly Attribute[] {
  return value === null ? [] : [{ key, value: { stringValue: value } }]
}

/** OTLP writes integers as text, since they have 64 bits. */
function whole(key: string, value: number | null): readonly Attribute[] {
  return value === null ? [] : [{ key, value: { intValue: String(value) } }]
}

function timesOf(at: number, fromMs: number, toMs: number) {
  return {
    startTimeUnixNano: `${at + fromMs}000000`,
    endTimeUnixNano: `${at + Math.max(fromMs, toMs)}000000`,
  }
}

function newSpanId(): string {
  return randomBytes(8).toString('hex')
}
