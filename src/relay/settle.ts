// What remains of a finished request: its usage record, its counts, one log line, and its place given back.

import type { Fault } from '../errors.ts'
import type { Recorder } from '../history/recorder.ts'
import type { Candidate } from '../router/route.ts'
import type { UsageRow } from '../store/store.ts'
import type { Log } from '../telemetry/log.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import type { Counter, Histogram } from '../telemetry/registry.ts'
import { scrub } from '../telemetry/scrub.ts'
import type { Usage } from '../wire/ir.ts'
import type { Ask, Settlement, Sight } from './ask.ts'
import type { Channel } from './channel.ts'
import { causeOf } from './verdict.ts'

export interface SettleRooms {
  readonly recorder: Recorder
  readonly metrics: Metrics
  readonly log: Log
  readonly channels: ReadonlyMap<string, Channel>
}

/** About four bytes of text make a token, where no vendor counted. */
const bytesPerToken = 4

const noUsage: Usage = { input: 0, cachedInput: 0, cacheWrite: 0, output: 0, reasoning: 0 }

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
  settle(settlement: Settlement): void
  attemptFailed(ask: Ask, candidate: Candidate, fault: Fault, failedOver: boolean): void
  /** A request refused before any channel was tried. */
  refused(row: UsageRow | null, route: string, status: number, durationMs: number): void
}

export function createSettler(rooms: SettleRooms): Settler {
  const counts = new WeakMap<Candidate, Counts>()
  const settling = rooms.metrics.overhead.with('settle')
  const routes = new Map<string, { readonly total: Counter; readonly duration: Histogram }>()
  const answered = (route: string, status: number, durationMs: number) => {
    const name = `${route} ${status}`
    let kept = routes.get(name)
    if (kept === undefined) {
      const { httpRequests, httpDuration } = rooms.metrics
      kept = {
        total: httpRequests.with(route, 'POST', String(status)),
        duration: httpDuration.with(route),
      }
      routes.set(name, kept)
    }
    kept.total.inc()
    kept.duration.observe(durationMs / 1000)
  }
  return {
    settle(settlement) {
      const beganMs = performance.now()
      const { ask, candidate, status } = settlement
      const row = usageRow(
        settlement,
        candidate === null ? null : rooms.channels.get(candidate.channelId),
      )
      rooms.recorder.record(row)
      ask.admission.finish(
        row.input + row.cachedInput + row.cacheWrite + row.output + row.reasoning,
        Date.now(),
      )
      ask.place.giveBack()
      answered(ask.dialect.path, status, settlement.durationMs)
      if (candidate !== null) count(countsOf(rooms, counts, candidate, row), settlement, row)
      if (ask.peek.stream && (settlement.fault !== null || status === 499)) {
        rooms.metrics.streamAborts.with(status === 499 ? 'client' : 'upstream').inc()
      }
      if (rooms.log.writes('info')) logLine(rooms.log, row)
      settling.observe((performance.now() - beganMs) / 1000)
    },
    attemptFailed(ask, candidate, fault, failedOver) {
      const { channelId, model } = candidate
      const vendor = rooms.channels.get(channelId)?.vendor.id ?? ''
      rooms.metrics.upstreamAttempts.with(channelId, vendor, model, fault.kind).inc()
      if (failedOver) rooms.metrics.fallbacks.with(channelId, 'next', fault.kind).inc()
      const { kind, status, message } = fault
      rooms.log.warn(
        {
          request_id: ask.requestId,
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
    refused(row, route, status, durationMs) {
      if (row !== null) rooms.recorder.record(row)
      answered(route, status, durationMs)
      if (row !== null && rooms.log.writes('info')) logLine(rooms.log, row)
    },
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

/** Reported by the vendor, else counted from the bytes that passed, else nothing. */
function usageOf(
  settlement: Settlement,
  sight: Sight | null,
): { usage: Usage; source: UsageRow['usageSource'] } {
  if (sight?.usage) return { usage: sight.usage, source: 'reported' }
  const outputBytes = sight?.outputBytes ?? 0
  if (sight === null || (outputBytes === 0 && settlement.status !== 200))
    return { usage: noUsage, source: 'none' }
  const input = Math.ceil(settlement.ask.peek.body.length / bytesPerToken)
  const output = Math.ceil(outputBytes / bytesPerToken)
  return { usage: { ...noUsage, input, output }, source: 'counted' }
}

function usageRow(settlement: Settlement, channel: Channel | null | undefined): UsageRow {
  const { ask, candidate, sight, fault } = settlement
  const { principal, peek, dialect } = ask
  const { usage, source } = usageOf(settlement, sight)
  return {
    requestId: ask.requestId,
    at: ask.at,
    account: principal.account,
    key: principal.keyId,
    keyName: principal.keyName,
    group: principal.group,
    operation: dialect.operation,
    modelAsked: peek.model,
    modelServed: sight?.model ?? null,
    channel: candidate?.channelId ?? null,
    vendor: channel?.vendor.id ?? null,
    attempts: settlement.attempts,
    stream: peek.stream,
    input: usage.input,
    cachedInput: usage.cachedInput,
    cacheWrite: usage.cacheWrite,
    output: usage.output,
    reasoning: usage.reasoning,
    usageSource: source,
    ttftMs: settlement.ttftMs === null ? null : Math.round(settlement.ttftMs),
    durationMs: Math.round(settlement.durationMs),
    status: settlement.status,
    errorCode: settlement.errorCode,
    errorCause: fault === null ? null : causeOf(fault),
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
      `,"account":${quoted(row.account)},"key_id":${quoted(row.key)}` +
      `,"tokens":{"input":${input},"cached":${cachedInput},"cache_write":${cacheWrite}` +
      `,"output":${output},"reasoning":${reasoning}},"usage_source":"${row.usageSource}"${error}`,
    'request',
  )
}

/** Nearly all names need no escape, which is seen sooner than written. */
function quoted(text: string | null): string {
  if (text === null) return 'null'
  return /^[\w ./:@+-]*$/.test(text) ? `"${text}"` : JSON.stringify(text)
}
