// All metrics of the gateway by name: what each counts, and its labels.

import type { Counter, Family, Gauge, Histogram, Registry, Sample } from './registry.ts'
import { createRegistry } from './registry.ts'

/** Values that are read from their owners when metrics are requested. */
export interface MetricSources {
  /** 0 ok, 1 degraded, 2 open or cooling, 3 disabled; by channel id. */
  channelStates(): readonly (readonly [channelId: string, state: number])[]
  /** The state of the ledger's node. */
  ledger(): LedgerReading
  /** Characters of log lines waiting to be written. */
  logPending(): number
  logDropped(): number
  /** Milliseconds. */
  loopLagMs(): number
  /** Whether limits are shared now; null where sharing is not configured. */
  limitsShared(): boolean | null
  /** Models whose price in this node's file is not the one in force. */
  priceConflicts(): number
  readonly history: { readonly reading: HistoryReading }
  readonly offloading: OffloadingReading
  /** Requests whose traces a collector took, and those that were lost. */
  readonly traces: { readonly sent: number; readonly dropped: number }
}

/** The state of archive and exports. Times in Unix milliseconds. */
interface OffloadingReading {
  /** Since when archiving of usage rows fails; null: it works. */
  readonly archiveFailingSince: number | null
  readonly exports: readonly {
    readonly destination: string
    readonly rowsBehind: number
    /** Since when the oldest row waits; null: none does. */
    readonly waitingSince: number | null
  }[]
}

/** The state of message history. */
interface HistoryReading {
  readonly queueBytes: number
  readonly dropped: number
  readonly diskBytes: number
}

export interface LedgerReading {
  /** Finished requests not yet in the ledger, and the age of the oldest. */
  readonly unsettled: number
  /** Requests that ended since the start; those of them in the ledger; and those the ledger has skipped. */
  readonly finished: number
  readonly accounted: number
  readonly missing: number
  readonly oldestUnsettledMs: number
  /** Money held for running requests, in units of the currency: for a graph, not for accounting. */
  readonly heldUnits: number
  /** Money leased to this process and not spent, free or held, in units of the currency. */
  readonly leasedUnits: number
  /** Charges that wallets paid since the start, in units of the currency. */
  readonly chargedUnits: number
  /** Charges that no wallet paid since the start, in units of the currency. */
  readonly writtenOffUnits: number
  /** Settlements that the ledger refused, since the start. */
  readonly setAside: number
  readonly open: boolean
}

export interface Metrics {
  readonly registry: Registry
  /** Labels: route, method, code. */
  readonly httpRequests: Family<Counter>
  /** Label: route. */
  readonly httpDuration: Family<Histogram>
  /** Label: route. */
  readonly requestsInFlight: Family<Gauge>
  /** Labels: channel, vendor, model, outcome (`ok` or a fault's kind). */
  readonly upstreamAttempts: Family<Counter>
  /** Labels: vendor, model. */
  readonly upstreamDuration: Family<Histogram>
  /** Labels: vendor, model. */
  readonly timeToFirstToken: Family<Histogram>
  /** Label: phase (auth, route, settle). */
  readonly overhead: Family<Histogram>
  /** Labels: model, kind (input, cached, cache_write, output, reasoning, audio_input, ...). */
  readonly tokens: Family<Counter>
  /** Labels: from (a channel), to (always `next`), reason (a fault's kind). */
  readonly fallbacks: Family<Counter>
  /** Labels: scope (`key` or `group`, never an id), kind (requests, tokens, concurrent). */
  readonly rateLimited: Family<Counter>
  /** Label: by (client, upstream, gateway). */
  readonly streamAborts: Family<Counter>
  /** Label: channel. */
  readonly unbelieved: Family<Counter>
  /** Requests refused because their model has no price. */
  readonly unpriced: Counter
  /** Requests refused because the balance or their key's spend limit is used up. */
  readonly balanceRejections: Counter
  /** What vendors charge for requests that ended, in units of the currency: for a graph, not for accounting. */
  readonly vendorCost: Counter
  /** Labels: provider, outcome (as the payment was credited). */
  readonly payments: Family<Counter>
  /** Labels: provider, reason (refused, failed). */
  readonly paymentCallbackErrors: Family<Counter>
}

interface MetricsOptions {
  readonly version: string
  readonly runtime: string
  readonly sources: MetricSources
}

const seconds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600]
/** Upper bounds in seconds for the gateway's own time spent on a request. */
export const overheadBounds: readonly number[] = [
  0.00001, 0.000025, 0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.05, 0.25, 1,
]

export function createMetrics({ version, runtime, sources }: MetricsOptions): Metrics {
  const registry = createRegistry()
  const { counter, histogram } = short(registry)
  const metrics: Metrics = {
    registry,
    httpRequests: counter('http_requests_total', 'Requests answered.', 'route', 'method', 'code'),
    httpDuration: histogram(
      'http_request_duration_seconds',
      'From the request to the last byte of its reply.',
      seconds,
      'route',
    ),
    requestsInFlight: registry.gauge({
      name: 'tollgate_requests_in_flight',
      help: 'Requests under way.',
      labels: ['route'],
    }),
    upstreamAttempts: counter(
      'upstream_attempts_total',
      'Attempts at vendors, by what came of them.',
      'channel',
      'vendor',
      'model',
      'outcome',
    ),
    upstreamDuration: histogram(
      'upstream_duration_seconds',
      'From sending an attempt to its end.',
      seconds,
      'vendor',
      'model',
    ),
    timeToFirstToken: histogram(
      'time_to_first_token_seconds',
      'From sending an attempt to its first semantic event.',
      seconds,
      'vendor',
      'model',
    ),
    overhead: histogram(
      'overhead_seconds',
      'Time of our own spent on a request.',
      overheadBounds,
      'phase',
    ),
    tokens: counter('tokens_total', 'Tokens, each in one kind only.', 'model', 'kind'),
    fallbacks: counter(
      'fallbacks_total',
      'Attempts that followed a failed one on another channel.',
      'from',
      'to',
      'reason',
    ),
    rateLimited: counter('rate_limited_total', 'Requests refused by a limit.', 'scope', 'kind'),
    streamAborts: counter('stream_aborts_total', 'Streams that ended early.', 'by'),
    ...moneyCounters(registry),
  }
  addReadings(registry, sources)
  addProcess(registry)
  registry.read(
    'gauge',
    { name: 'tollgate_build_info', help: 'Always 1.', labels: ['version', 'runtime'] },
    () => [[[version, runtime], 1]],
  )
  return metrics
}

/** Counters of money that the ledger does not keep. */
function moneyCounters(registry: Registry) {
  const { counter } = short(registry)
  return {
    unbelieved: counter(
      'unbelievable_usage_total',
      'Replies whose reported usage cannot be, which were counted instead.',
      'channel',
    ),
    unpriced: counter(
      'unpriced_requests_total',
      'Requests refused because their model has no price.',
    ).with(),
    balanceRejections: counter(
      'balance_rejections_total',
      "Requests refused because the balance or their key's spend limit is used up.",
    ).with(),
    vendorCost: counter(
      'vendor_cost_units_total',
      'What vendors charge for requests, failed attempts included, in units of the currency.',
    ).with(),
    payments: counter(
      'payments_total',
      'Payments of orders, by how they were credited.',
      'provider',
      'outcome',
    ),
    paymentCallbackErrors: counter(
      'payment_callback_errors_total',
      'Notifications of payment providers that were refused or could not be handled.',
      'provider',
      'reason',
    ),
  }
}

function short(registry: Registry) {
  return {
    counter: (name: string, help: string, ...labels: readonly string[]) =>
      registry.counter({ name: `tollgate_${name}`, help, labels }),
    histogram: (
      name: string,
      help: string,
      buckets: readonly number[],
      ...labels: readonly string[]
    ) => registry.histogram({ name: `tollgate_${name}`, help, labels }, buckets),
  }
}

function addReadings(registry: Registry, sources: MetricSources): void {
  const read = (type: 'counter' | 'gauge', name: string, help: string, value: () => number) =>
    registry.read(type, { name: `tollgate_${name}`, help }, () => single(value()))
  registry.read(
    'gauge',
    {
      name: 'tollgate_channel_state',
      help: '0 ok, 1 degraded, 2 open or cooling, 3 disabled.',
      labels: ['channel'],
    },
    () => sources.channelStates().map(([id, state]) => [[id], state]),
  )
  addLedger(read, sources)
  read(
    'gauge',
    'log_queue_depth',
    'Characters of log lines waiting to be written.',
    sources.logPending,
  )
  read(
    'counter',
    'log_dropped_total',
    'Log lines lost because the reader did not keep up.',
    sources.logDropped,
  )
  read(
    'gauge',
    'event_loop_lag_seconds',
    'How late the event loop ran, the worst of the last two seconds.',
    () => sources.loopLagMs() / 1_000,
  )
  registry.read(
    'gauge',
    {
      name: 'tollgate_limits_shared',
      help: 'With Valkey: 1 while limits are shared with other nodes, 0 while local.',
    },
    () => {
      const shared = sources.limitsShared()
      return shared === null ? [] : single(Number(shared))
    },
  )
  read(
    'gauge',
    'price_conflicts',
    "Models whose price in this node's file is not the one that is charged.",
    sources.priceConflicts,
  )
  addHistory(read, sources)
  addTraces(read, sources)
  addOffloading(read, sources)
  addExports(registry, sources)
}

type Read = (type: 'counter' | 'gauge', name: string, help: string, value: () => number) => void

function addOffloading(read: Read, { offloading }: MetricSources): void {
  read(
    'gauge',
    'archive_failing_seconds',
    'For how long old requests could not be archived; 0 where they can be.',
    () => secondsSince(offloading.archiveFailingSince),
  )
}

function addExports(registry: Registry, { offloading }: MetricSources): void {
  const labels = ['destination']
  registry.read(
    'gauge',
    {
      name: 'tollgate_export_lag_seconds',
      help: 'For how long the oldest settled request waits to leave to a warehouse.',
      labels,
    },
    () => offloading.exports.map((each) => [[each.destination], secondsSince(each.waitingSince)]),
  )
  registry.read(
    'gauge',
    {
      name: 'tollgate_export_rows_behind',
      help: 'Settled requests that wait to leave to a warehouse.',
      labels,
    },
    () => offloading.exports.map((each) => [[each.destination], each.rowsBehind]),
  )
}

function secondsSince(ms: number | null): number {
  return ms === null ? 0 : Math.max(0, Date.now() - ms) / 1_000
}

function addTraces(read: Read, { traces }: MetricSources): void {
  read(
    'counter',
    'traces_sent_total',
    'Requests whose traces the collector took.',
    () => traces.sent,
  )
  read(
    'counter',
    'traces_dropped_total',
    'Requests whose traces were lost: no room, or a collector that did not take them.',
    () => traces.dropped,
  )
}

function addHistory(read: Read, { history }: MetricSources): void {
  read(
    'gauge',
    'history_queue_bytes',
    'Bytes of message history waiting to be written.',
    () => history.reading.queueBytes,
  )
  read(
    'counter',
    'history_dropped_total',
    'Requests whose message history was not kept: no room in the queue, or no store.',
    () => history.reading.dropped,
  )
  read(
    'gauge',
    'history_disk_bytes',
    'Message history that is kept, as this process last counted it.',
    () => history.reading.diskBytes,
  )
}

function addLedger(read: Read, sources: MetricSources): void {
  const { ledger } = sources
  read(
    'gauge',
    'unsettled_records',
    'Finished requests not yet in the ledger.',
    () => ledger().unsettled,
  )
  read(
    'gauge',
    'settlement_lag_seconds',
    'Age of the oldest finished request not yet in the ledger.',
    () => ledger().oldestUnsettledMs / 1_000,
  )
  read(
    'gauge',
    'held_units',
    'Money held for running requests, in units of the currency.',
    () => ledger().heldUnits,
  )
  read(
    'gauge',
    'leased_units',
    'Money leased to this process and not spent, in units of the currency.',
    () => ledger().leasedUnits,
  )
  read(
    'counter',
    'charged_units_total',
    'Charges that wallets paid, in units of the currency.',
    () => ledger().chargedUnits,
  )
  read(
    'counter',
    'written_off_units_total',
    'Charges no wallet paid, in units of the currency.',
    () => ledger().writtenOffUnits,
  )
  read('counter', 'records_total', 'Requests that ended.', () => ledger().finished)
  read(
    'counter',
    'records_settled_total',
    'Of them, those in the ledger, set aside ones included.',
    () => ledger().accounted,
  )
  read(
    'gauge',
    'records_missing',
    'Records that never came into the ledger, though later ones did.',
    () => ledger().missing,
  )
  read('counter', 'set_aside_total', 'Records the ledger would not take.', () => ledger().setAside)
  read(
    'gauge',
    'admission_open',
    '1 while requests are admitted, 0 while the ledger forbids it.',
    () => Number(ledger().open),
  )
}

/** Uses the names of every Prometheus client library, which dashboards expect. */
function addProcess(registry: Registry): void {
  const startSeconds = (Date.now() - process.uptime() * 1_000) / 1_000
  registry.read('gauge', { name: 'process_resident_memory_bytes', help: 'Resident memory.' }, () =>
    single(process.memoryUsage.rss()),
  )
  registry.read(
    'counter',
    { name: 'process_cpu_seconds_total', help: 'CPU time spent, user and system.' },
    () => {
      const { user, system } = process.cpuUsage()
      return single((user + system) / 1e6)
    },
  )
  registry.read(
    'gauge',
    { name: 'process_start_time_seconds', help: 'Start of the process, Unix time.' },
    () => single(startSeconds),
  )
}

function single(value: number): readonly Sample[] {
  return [[[], value]]
}
