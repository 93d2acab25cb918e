// What follows the end of a request and a failed attempt: limits, estimates, metrics, traces and the log.

import { isUnbelieved } from '../billing/charging-policy.ts'
import type { Settlement } from '../billing/settlement.ts'
import { promptTokens, replyTokens } from '../config/prices.ts'
import type { OutputEstimates } from '../meter/output-estimate.ts'
import { formatUnits } from '../money.ts'
import type { Candidate } from '../router/route.ts'
import type { UsageRow } from '../store/usage-row.ts'
import type { Log } from '../telemetry/log.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import type { Counter, Histogram } from '../telemetry/registry.ts'
import { scrub } from '../telemetry/scrub.ts'
import type { ClientDialect } from '../wire/dialect.ts'
import type { Observer } from './request.ts'
import type { Traces } from './request-spans.ts'

interface ObserverRooms {
  readonly estimates: OutputEstimates
  readonly metrics: Metrics
  readonly log: Log
  /** Null where no collector is configured. */
  readonly traces: Traces | null
}

/** A candidate's labelled metrics, looked up once. */
interface Counts {
  readonly ok: Counter
  readonly duration: Histogram
  readonly firstToken: Histogram
  readonly tokens: Readonly<Record<keyof typeof usualTokens, Counter>>
}

const usualTokens = {
  input: 'input',
  cachedInput: 'cached',
  cacheWrite: 'cache_write',
  output: 'output',
  reasoning: 'reasoning',
} as const
const usualKinds = Object.keys(usualTokens) as (keyof typeof usualTokens)[]
/** Counted where there are any: a metric has room for 500 combinations of labels. */
const rareTokens = {
  cacheWrite1h: 'cache_write',
  audioInput: 'audio_input',
  audioOutput: 'audio_output',
  imageInput: 'image_input',
  imageOutput: 'image_output',
} as const
const rareKinds = Object.keys(rareTokens) as (keyof typeof rareTokens)[]

export function createObserver(rooms: ObserverRooms): Observer {
  const { estimates, metrics, log, traces } = rooms
  const counts = new WeakMap<Candidate, Counts>()
  const settling = metrics.overhead.with('settle')
  const answered = countAnswers(metrics)
  return {
    settled(request, { settlement, row }) {
      const { candidate, status } = settlement
      estimates.note(request.principal, request.model.id, row.output + row.reasoning)
      request.clientSlot.giveBack({ tokens: tokensOf(row), status })
      const traceId = traces === null ? null : traces.ended(settlement, row)
      answered(request.dialect, status, settlement.durationMs, traceId)
      if (row.vendorCostNano > 0n) metrics.vendorCost.inc(Number(row.vendorCostNano) / 1e9)
      if (candidate !== null)
        count(countsOf(metrics, counts, candidate, row), settlement, row, traceId)
      for (const kind of rareKinds) {
        if (row[kind] > 0) metrics.tokens.with(row.modelAsked, rareTokens[kind]).inc(row[kind])
      }
      const by = request.peek.stream ? abortedBy(settlement) : null
      if (by !== null) metrics.streamAborts.with(by).inc()
      if (isUnbelieved(settlement)) alarm(rooms, settlement, row)
      if (log.lines.writes('info')) logLine(log, row, traceId ?? row.traceId)
    },
    settling(tookMs) {
      settling.observe(tookMs / 1000)
    },
    attemptFailed({ requestId }, { candidate, channel }, { kind, status, message }, failedOver) {
      const { channelId, model } = candidate
      const vendor = channel.vendor.id
      metrics.upstreamAttempts.with(channelId, vendor, model, kind).inc()
      if (failedOver) metrics.fallbacks.with(channelId, 'next', kind).inc()
      log.warn(
        {
          request_id: requestId,
          channel: channelId,
          model,
          kind,
          status,
          detail: message,
          failedOver,
        },
        'an attempt failed',
      )
    },
    unrelayed(row, dialect, status, durationMs) {
      answered(dialect, status, durationMs, null)
      if (row !== null && log.lines.writes('info')) logLine(log, row, row.traceId)
    },
  }
}

/** Who ended a stream early; null: nobody. */
function abortedBy({ status, fault, errorCode }: Settlement): string | null {
  if (status === 499 || (fault !== null && errorCode === 'request_stopped')) return 'client'
  if (fault !== null) return 'upstream'
  // For want of money, a lost lease or a shutdown.
  return status === 200 && errorCode !== null ? 'gateway' : null
}

/** A vendor that reports impossible usage may also bill the operator by it. */
function alarm({ metrics, log }: ObserverRooms, { summary }: Settlement, row: UsageRow): void {
  const { requestId, channel, modelAsked: model, usageSource } = row
  metrics.unbelieved.with(channel ?? '').inc()
  const reported = summary?.usage ?? null
  log.error(
    { request_id: requestId, channel, model, reported, usage_source: usageSource },
    'a vendor reported impossible usage; the tokens were counted instead',
  )
}

/** The tokens of all kinds together, which token limits count. */
export function tokensOf(row: UsageRow): number {
  return promptTokens(row) + replyTokens(row)
}

/** Counts replies by route and status; the labelled metrics are looked up once. */
function countAnswers(metrics: Metrics) {
  const routes = new Map<string, { readonly duration: Histogram; totals: Map<number, Counter> }>()
  return (
    { client }: Pick<ClientDialect, 'client'>,
    status: number,
    durationMs: number,
    traceId: string | null,
  ) => {
    const { path: route, method = 'POST' } = client
    let kept = routes.get(route)
    if (kept === undefined) {
      kept = { duration: metrics.httpDuration.with(route), totals: new Map() }
      routes.set(route, kept)
    }
    let total = kept.totals.get(status)
    if (total === undefined) {
      total = metrics.httpRequests.with(route, method, String(status))
      kept.totals.set(status, total)
    }
    total.inc()
    kept.duration.observe(durationMs / 1000, traceId)
  }
}

function countsOf(
  metrics: Metrics,
  kept: WeakMap<Candidate, Counts>,
  candidate: Candidate,
  row: UsageRow,
): Counts {
  const known = kept.get(candidate)
  if (known !== undefined) return known
  const vendor = row.vendor ?? ''
  const { channelId, model } = candidate
  const tokens = Object.fromEntries(
    usualKinds.map((kind) => [kind, metrics.tokens.with(row.modelAsked, usualTokens[kind])]),
  ) as Counts['tokens']
  const made = {
    ok: metrics.upstreamAttempts.with(channelId, vendor, model, 'ok'),
    duration: metrics.upstreamDuration.with(vendor, model),
    firstToken: metrics.timeToFirstToken.with(vendor, model),
    tokens,
  }
  kept.set(candidate, made)
  return made
}

function count(
  counts: Counts,
  settlement: Settlement,
  row: UsageRow,
  traceId: string | null,
): void {
  if (settlement.fault === null && settlement.status === 200) counts.ok.inc()
  counts.duration.observe(settlement.durationMs / 1000, traceId)
  if (settlement.ttftMs !== null) counts.firstToken.observe(settlement.ttftMs / 1000, traceId)
  for (const kind of usualKinds) {
    if (row[kind] > 0) counts.tokens[kind].inc(row[kind])
  }
}

/** Builds the line by hand: one is written for every request, so the general serializer would cost too much. */
function logLine(log: Log, row: UsageRow, traceId: string | null): void {
  const { input, cachedInput, cacheWrite, output, reasoning } = row
  const error =
    row.errorCode === null
      ? ''
      : `,"err":${JSON.stringify({ code: row.errorCode, cause: row.errorCause })}`
  log.lines.members(
    `"request_id":"${row.requestId}","operation":"${row.operation}","status":${row.status}` +
      `,"dur_ms":${row.durationMs},"ttft_ms":${row.ttftMs},"model":${quoted(scrub(row.modelAsked))}` +
      `,"channel":${quoted(row.channel)},"vendor":${quoted(row.vendor)},"attempts":${row.attempts},"stream":${row.stream}` +
      `,"account":${quoted(row.account)},"key_id":${quoted(row.key)}` +
      `,"group":${quoted(row.group)}${whence(row, traceId)}` +
      `,"tokens":{"input":${input},"cached":${cachedInput},"cache_write":${cacheWrite}` +
      `,"output":${output},"reasoning":${reasoning}},"usage_source":"${row.usageSource}"` +
      `,"cost":"${formatUnits(row.chargeNano)}"${error}`,
    'request',
  )
}

function whence({ clientAddress, clientRequestId }: UsageRow, traceId: string | null): string {
  const id =
    clientRequestId === null ? '' : `,"client_request_id":${quoted(scrub(clientRequestId))}`
  const trace = traceId === null ? '' : `,"trace_id":"${traceId}"`
  return `,"client_address":${quoted(clientAddress)}${id}${trace}`
}

/** Almost no name needs an escape; testing for that costs less than JSON.stringify. */
function quoted(text: string | null): string {
  if (text === null) return 'null'
  return /^[\w ./:@+-]*$/.test(text) ? `"${text}"` : JSON.stringify(text)
}
