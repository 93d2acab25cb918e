// What remains of a finished request: its usage record, its counts, one log line, and its place given back.

import type { BillingSettings } from '../config/types.ts'
import type { Fault } from '../errors.ts'
import type { Ledger } from '../ledger/ledger.ts'
import type { OutputEstimates } from '../meter/output-estimate.ts'
import type { Channel } from '../relay/channel.ts'
import type { Keeping, RelayRequest, Settlement } from '../relay/request.ts'
import type { Candidate } from '../router/route.ts'
import type { UsageRow } from '../store/usage-row.ts'
import type { Log } from '../telemetry/log.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import type { Counter, Histogram } from '../telemetry/registry.ts'
import { scrub } from '../telemetry/scrub.ts'
import { isUnbelieved } from './charging-policy.ts'
import { finishedOf, runningOf, usageRow } from './record.ts'

export interface SettleRooms {
  readonly ledger: Ledger
  readonly estimates: OutputEstimates
  readonly billing: BillingSettings
  readonly metrics: Metrics
  readonly log: Log
  readonly channels: ReadonlyMap<string, Channel>
}

/** Children of the metrics for one candidate: resolved once, counted on ever after. */
interface Counts {
  readonly ok: Counter
  readonly duration: Histogram
  readonly firstToken: Histogram
  readonly tokens: Readonly<Record<keyof typeof tokenLabels, Counter>>
}

const tokenLabels = {
  input: 'input',
  cachedInput: 'cached',
  cacheWrite: 'cache_write',
  output: 'output',
  reasoning: 'reasoning',
} as const
const tokenKinds = Object.keys(tokenLabels) as (keyof typeof tokenLabels)[]

export interface Settler {
  /** The record of a request, with what it owes. */
  price(settlement: Settlement): UsageRow
  settle(settlement: Settlement, row: UsageRow, keeping: Keeping): void
  /** The same of a request whose money is settled later: all but the ledger is told. */
  told(settlement: Settlement, row: UsageRow): void
  progress(settlement: Settlement): void
  attemptFailed(
    request: RelayRequest,
    candidate: Candidate,
    fault: Fault,
    failedOver: boolean,
  ): void
  /** A request that no channel was tried for: refused, or answered from what was kept. */
  unrelayed(row: UsageRow | null, route: string, status: number, durationMs: number): void
}

export function createSettler(rooms: SettleRooms): Settler {
  const counts = new WeakMap<Candidate, Counts>()
  const settling = rooms.metrics.overhead.with('settle')
  const answered = countAnswers(rooms.metrics)
  const price = (settlement: Settlement): UsageRow => {
    const { candidate } = settlement
    const channel = candidate === null ? null : rooms.channels.get(candidate.channelId)
    return usageRow(settlement, channel, rooms.billing)
  }
  const told = (settlement: Settlement, row: UsageRow): void => {
    const { request, candidate, status } = settlement
    rooms.estimates.note(request.principal, request.model.id, row.output + row.reasoning)
    request.admission.finish(tokensOf(row), Date.now())
    request.clientSlot.giveBack()
    answered(request.dialect.path, status, settlement.durationMs)
    if (candidate !== null) count(countsOf(rooms, counts, candidate, row), settlement, row)
    if (request.peek.stream && (settlement.fault !== null || status === 499)) {
      rooms.metrics.streamAborts.with(status === 499 ? 'client' : 'upstream').inc()
    }
    if (isUnbelieved(settlement)) alarm(rooms, settlement, row)
    if (rooms.log.writes('info')) logLine(rooms.log, row)
  }
  return {
    price,
    progress(settlement) {
      rooms.ledger.progress(
        settlement.request.authorization.hold,
        runningOf(settlement, price(settlement)),
      )
    },
    settle(settlement, row, keeping) {
      const beganMs = performance.now()
      const { request } = settlement
      const finished = finishedOf(settlement, row)
      const { hold } = request.authorization
      if (keeping === null) rooms.ledger.finish(hold, finished, null)
      else if ('then' in keeping) rooms.ledger.finish(hold, finished, keeping.then)
      else rooms.ledger.finishNow(hold, finished)
      told(settlement, row)
      settling.observe((performance.now() - beganMs) / 1000)
    },
    told,
    attemptFailed(request, candidate, fault, failedOver) {
      const { channelId, model } = candidate
      const vendor = rooms.channels.get(channelId)?.vendor.id ?? ''
      rooms.metrics.upstreamAttempts.with(channelId, vendor, model, fault.kind).inc()
      if (failedOver) rooms.metrics.fallbacks.with(channelId, 'next', fault.kind).inc()
      const { kind, status, message } = fault
      rooms.log.warn(
        {
          request_id: request.requestId,
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
    unrelayed(row, route, status, durationMs) {
      if (row !== null) rooms.ledger.finish(null, { row, capNano: null, idempotency: null }, null)
      answered(route, status, durationMs)
      if (row !== null && rooms.log.writes('info')) logLine(rooms.log, row)
    },
  }
}

/** A vendor that reports what cannot be charges its operator by it, perhaps. */
function alarm({ metrics, log }: SettleRooms, { summary }: Settlement, row: UsageRow): void {
  const { requestId, channel, modelAsked: model, usageSource } = row
  metrics.unbelieved.with(channel ?? '').inc()
  const reported = summary?.usage ?? null
  log.error(
    { request_id: requestId, channel, model, reported, usage_source: usageSource },
    'a vendor reported usage that cannot be; it was counted instead',
  )
}

/** All of them, of whatever kind: what limits on tokens go by. */
function tokensOf(row: UsageRow): number {
  const { input, cachedInput, cacheWrite, cacheWrite1h, audioInput, imageInput } = row
  const prompt = input + cachedInput + cacheWrite + cacheWrite1h + audioInput + imageInput
  return prompt + row.output + row.reasoning + row.audioOutput + row.imageOutput
}

/** Counts replies by route and status; the children of the metrics are looked up once. */
function countAnswers(metrics: Metrics) {
  const routes = new Map<string, { readonly total: Counter; readonly duration: Histogram }>()
  return (route: string, status: number, durationMs: number) => {
    const name = `${route} ${status}`
    let kept = routes.get(name)
    if (kept === undefined) {
      kept = {
        total: metrics.httpRequests.with(route, 'POST', String(status)),
        duration: metrics.httpDuration.with(route),
      }
      routes.set(name, kept)
    }
    kept.total.inc()
    kept.duration.observe(durationMs / 1000)
  }
}

function countsOf(
  rooms: SettleRooms,
  kept: WeakMap<Candidate, Counts>,
  candidate: Candidate,
  row: UsageRow,
): Counts {
  const known = kept.get(candidate)
  if (known !== undefined) return known
  const { metrics } = rooms
  const vendor = row.vendor ?? ''
  const { channelId, model } = candidate
  const tokens = Object.fromEntries(
    tokenKinds.map((kind) => [kind, metrics.tokens.with(row.modelAsked, tokenLabels[kind])]),
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

function count(counts: Counts, settlement: Settlement, row: UsageRow): void {
  if (settlement.fault === null && settlement.status === 200) counts.ok.inc()
  counts.duration.observe(settlement.durationMs / 1000)
  if (settlement.ttftMs !== null) counts.firstToken.observe(settlement.ttftMs / 1000)
  for (const kind of tokenKinds) {
    if (row[kind] > 0) counts.tokens[kind].inc(row[kind])
  }
}

/** Put together by hand: a line at every request must not cost what a general one does. */
function logLine(log: Log, row: UsageRow): void {
  const { input, cachedInput, cacheWrite, output, reasoning } = row
  const error =
    row.errorCode === null
      ? ''
      : `,"err":${JSON.stringify({ code: row.errorCode, cause: row.errorCause })}`
  log.members(
    `"request_id":"${row.requestId}","operation":"${row.operation}","status":${row.status}` +
      `,"dur_ms":${row.durationMs},"ttft_ms":${row.ttftMs},"model":${quoted(scrub(row.modelAsked))}` +
      `,"channel":${quoted(row.channel)},"attempts":${row.attempts},"stream":${row.stream}` +
      `,"account":${quoted(row.account)},"key_id":${quoted(row.key)}${whence(row)}` +
      `,"tokens":{"input":${input},"cached":${cachedInput},"cache_write":${cacheWrite}` +
      `,"output":${output},"reasoning":${reasoning}},"usage_source":"${row.usageSource}"${error}`,
    'request',
  )
}

function whence({ clientAddress, clientRequestId, traceId }: UsageRow): string {
  const id =
    clientRequestId === null ? '' : `,"client_request_id":${quoted(scrub(clientRequestId))}`
  const trace = traceId === null ? '' : `,"trace_id":"${traceId}"`
  return `,"client_address":${quoted(clientAddress)}${id}${trace}`
}

/** Nearly all names need no escape, which is seen sooner than written. */
function quoted(text: string | null): string {
  if (text === null) return 'null'
  return /^[\w ./:@+-]*$/.test(text) ? `"${text}"` : JSON.stringify(text)
}
