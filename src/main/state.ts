// What outlives configuration changes: the store, the ledger's node, keys, prices, health and metrics.

import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { type Collector, MemoryTrimmer } from '../blobs/memory-trimmer.ts'
import { createSpools } from '../blobs/spool.ts'
import type { Config } from '../config/types.ts'
import { Doctor } from '../http/doctor.ts'
import type { Front } from '../http/front.ts'
import { KeyUses } from '../http/key-uses.ts'
import { Load } from '../http/load.ts'
import { createKeyring, type ReplaceableKeyring } from '../identity/keyring.ts'
import { loadKeys } from '../identity/watch.ts'
import { createLedger, type LedgerNode, type LedgerOptions } from '../ledger/ledger-node.ts'
import { createLimiter } from '../limits/create.ts'
import { createOutputEstimates } from '../meter/output-estimate.ts'
import { formatUnits, parseUnits } from '../money.ts'
import { Background } from '../operations/responses/background.ts'
import { ResponseKeeper } from '../operations/responses/keeper.ts'
import { Deadlines } from '../relay/deadlines.ts'
import { stoppedFor } from '../relay/final-error.ts'
import type { Traces } from '../relay/request-spans.ts'
import { createHealth } from '../router/health.ts'
import type { Health } from '../router/route.ts'
import type { Arrival } from '../store/arrivals.ts'
import type { Store } from '../store/store.ts'
import { Denials } from '../telemetry/denials.ts'
import type { Log } from '../telemetry/log.ts'
import { startLoopLag } from '../telemetry/loop-lag.ts'
import { createMetrics, type LedgerReading, type MetricSources } from '../telemetry/metrics.ts'
import { createDialer } from '../upstream/dial.ts'
import { Activity } from './activity.ts'
import { openHistoryParts } from './history.ts'
import { settleLeftOutboxes } from './left-outboxes.ts'
import { createOffloading } from './offloading.ts'
import type { OpenTelemetryOptions } from './open-telemetry.ts'
import { Prices } from './prices.ts'
import type { ProcessParts } from './process.ts'
import { openDiskFiles, sweepResults } from './results.ts'
import { RunTime } from './run-time.ts'
import { keepNames, openStored, servingOf } from './serving-now.ts'
import { createVideoJobs } from './videos.ts'
import type { Worker } from './worker.ts'

export type State = Awaited<ReturnType<typeof buildState>>

interface StateOptions {
  readonly version: string
  readonly config: Config
  readonly store: Store
  readonly log: Log
  /** This process among several serving ones; null: it is the only one. */
  readonly worker: Worker | null
  readonly collector: Collector
}

export async function buildState(options: StateOptions) {
  const { version, store, log, collector } = options
  await store.deployment.rememberCurrency(options.config.currency)
  const stored = await openStored(options)
  const config = stored.current
  await keepNames(store, config)
  const { keyring, keyRevision } = await openKeys(options)
  const prices = await Prices.open(store, config, log)
  const runTime = await RunTime.open(store.settings, config)
  const deadlines = new Deadlines()
  const ledger = await openLedger(options, keyring, deadlines)
  const leftSettled = settlingLeft(options)
  const health = watchedHealth(log)
  const { limiter, isShared } = watchedLimiter(config, log)
  const { load, activity, lag } = watchedLoad()
  const history = await openHistoryParts(config, store, log, runTime.current)
  const dialer = createDialer()
  const registry = () => shared.metrics.registry
  const traces = await tracesOf(options, config, { dialer, registry })
  const sources = {
    ...sourcesOf(log, ledger, traces),
    channelStates: () => statesOf(serving.current.front, health),
    loopLagMs: () => lag.lagMs(),
    limitsShared: isShared,
    priceConflicts: () => prices.conflicts.length,
    history: history.recorder,
  } satisfies MetricSources
  const shared = {
    log,
    store,
    health,
    limiter,
    metrics: createMetrics({ version, runtime: `bun ${process.versions.bun}`, sources }),
    keyring,
    ledger,
    ...keptBeside(options, ledger),
    prices,
    history,
    estimates: createOutputEstimates(),
    diskFiles: openDiskFiles(config),
    load,
    ...watchedCallers(options),
    dialer,
    traces,
    deadlines,
    spools: createSpools(join(config.dataDir, 'tmp'), new MemoryTrimmer(collector).passed),
  }
  const videoJobs = createVideoJobs(shared, () => serving.current)
  const parts: ProcessParts = { ...shared, videoJobs }
  const serving = servingOf(stored, runTime, parts)
  sweepResults(() => serving.current.config, parts)
  return {
    ...parts,
    version,
    activity,
    runTime,
    offloading: sources.offloading,
    keyRevision,
    leftSettled,
    get current() {
      return serving.current
    },
    /** Called for each request. */
    front: () => serving.current.front,
    replace: serving.replace,
    applyStored: serving.applyStored,
    stored,
  }
}

/** Loaded only where a collector is named: in the file, or by OpenTelemetry's standard variable. */
async function tracesOf(
  { version, log, worker }: StateOptions,
  config: Config,
  parts: Pick<OpenTelemetryOptions, 'dialer' | 'registry'>,
) {
  const { otlp: settings } = config.telemetry
  const { env } = process
  const endpoint = settings.endpoint ?? env['OTEL_EXPORTER_OTLP_ENDPOINT'] ?? null
  if (endpoint === null || endpoint === '' || env['OTEL_SDK_DISABLED'] === 'true') return null
  const { openTelemetry } = await import('./open-telemetry.ts')
  return openTelemetry({ ...parts, endpoint, settings, env, version, worker, log })
}

async function openKeys({ config, store }: StateOptions) {
  const { revision, rows, closed } = await loadKeys(store)
  const keyring = createKeyring({ configured: config.keys, stored: rows, closed })
  return { keyring, keyRevision: revision }
}

function statesOf({ services }: Front, health: Health) {
  const nowMs = performance.now()
  return [...services.relay.channels.keys()].map((id) => [id, health.state(id, nowMs)] as const)
}

function watchedLoad() {
  const load = new Load()
  const activity = new Activity(load)
  const lag = startLoopLag({ busy: activity.isBusy })
  activity.add(lag)
  return { load, activity, lag }
}

/** What requests leave behind besides their charges: kept responses and key uses. */
function keptBeside(options: StateOptions, ledger: LedgerNode) {
  return { kept: keptResponses(options, ledger), keyUses: keyUsesOf(ledger, options.log) }
}

/** Among several processes, each shares mistaken requests with the others through the store. */
function watchedCallers({ config, store: { arrivals }, log, worker }: StateOptions) {
  const process = randomUUID()
  const others = {
    tell: (noted: readonly Arrival[]) => arrivals.report(process, noted),
    arrivals: () => arrivals.reports(process),
  }
  const isAlone = worker === null && config.nodes === 1
  const doctor = new Doctor({
    ...(!isAlone && { others }),
    onError: (error) =>
      log.warn({ err: error }, 'other processes could not be told of mistaken requests'),
  })
  return { denials: new Denials({ log }), doctor }
}

function keyUsesOf({ changes }: LedgerNode, log: Log): KeyUses {
  return new KeyUses({
    write: (uses) => changes.noteKeyUses(uses),
    onError: (error) =>
      log.warn({ err: error }, 'when keys were last used could not be noted; their next use is'),
  })
}

function keptResponses({ config, store, log, worker }: StateOptions, ledger: LedgerNode) {
  const onLost = (error: unknown) =>
    log.error({ err: error }, 'a response could not be kept: whoever asks for it will not find it')
  const keeper = new ResponseKeeper({
    table: store.responses,
    isShared: worker !== null || config.databaseUrl !== null,
    apply: (changes) => ledger.changes.changeResponses(changes),
    onLost,
    onDelayed: (error) =>
      log.warn({ err: error }, 'a response cannot be kept at the moment; it is tried again'),
  })
  return { keeper, background: new Background(keeper, onLost) }
}

function sourcesOf({ output }: Log, ledger: LedgerNode, traces: Traces | null) {
  return {
    traces: traces?.counts ?? { sent: 0, dropped: 0 },
    offloading: createOffloading(),
    ledger: () => readingOf(ledger),
    logPending: () => output.pending,
    logDropped: () => output.dropped,
  }
}

/** For graphs only, since floats are not exact. */
function readingOf(ledger: LedgerNode): LedgerReading {
  const stats = ledger.stats()
  return {
    ...stats,
    heldUnits: Number(formatUnits(stats.heldNano)),
    leasedUnits: Number(formatUnits(stats.leasedNano)),
    chargedUnits: Number(formatUnits(stats.chargedNano)),
    writtenOffUnits: Number(formatUnits(stats.writtenOffNano)),
    open: ledger.closed === null,
  }
}

/** Starts to settle the outboxes of former workers, in one process; `done` tells when that is complete. */
function settlingLeft(options: StateOptions): { readonly done: boolean } {
  const { worker } = options
  const left = { done: worker !== null && worker.slot > 0 }
  if (left.done) return left
  void settleLeft(options).then(() => {
    left.done = true
  })
  return left
}

/** Settles the outboxes of workers that are no longer started. */
function settleLeft(options: StateOptions): Promise<void> {
  const { config, log } = options
  return settleLeftOutboxes({
    dataDir: config.dataDir,
    workers: config.server.workers,
    open: (slot) => createLedger(ledgerOptions(options, slot)),
    log,
  })
}

async function openLedger(
  options: StateOptions,
  keyring: ReplaceableKeyring,
  deadlines: Deadlines,
): Promise<LedgerNode> {
  const ledger = await createLedger({
    ...ledgerOptions(options, options.worker?.slot ?? 0),
    spendLimits: () => keyring.spendLimits,
  })
  // Requests under a lost lease must not continue: they end and are settled with what they delivered.
  ledger.onFenced(() => deadlines.shutDown(stoppedFor('closed')))
  return ledger
}

/** Long enough for the streams of a busy process to share an append; a vendor's stream generates a few tokens meanwhile. */
const progressWaitMs = 20

function ledgerOptions({ config, log }: StateOptions, slot: number): LedgerOptions {
  const { billing } = config
  const capOf = (decimal: string | null) => (decimal === null ? null : parseUnits(decimal))
  return {
    store: { dataDir: config.dataDir, databaseUrl: config.databaseUrl },
    dataDir: config.dataDir,
    slot,
    settings: config.ledger,
    durability: billing.durability,
    progressWaitMs: billing.durability === 'strict' ? 0 : progressWaitMs,
    maxHeldPerKeyNano: capOf(billing.maxHeldPerKey),
    maxHeldPerAccountNano: capOf(billing.maxHeldPerAccount),
    log,
  }
}

function watchedHealth(log: Log): ReturnType<typeof createHealth> {
  return createHealth({
    random: Math.random,
    onAlarm: (channel, fault) =>
      log.error(
        { channel, cause: fault.kind, detail: fault.message },
        'a channel needs its operator',
      ),
  })
}

function watchedLimiter(config: Config, log: Log) {
  let shared = false
  const limiter = createLimiter({
    valkeyUrl: config.valkeyUrl,
    nodes: config.nodes,
    workers: config.server.workers,
    onState: (now, reason) => {
      shared = now === 'shared'
      log.warn({ state: now, reason }, 'limits')
    },
  })
  return { limiter, isShared: () => (config.valkeyUrl === null ? null : shared) }
}
