// What outlives a change of the configuration: the store, the ledger's node, keys, prices, health and metrics.

import { shippedPrices } from '../catalog/shipped-prices.ts'
import type { Config } from '../config/types.ts'
import { Load } from '../http/load.ts'
import { ensureAccounts } from '../identity/ensure-accounts.ts'
import { issueFirstKey } from '../identity/first-key.ts'
import { createKeyring } from '../identity/keyring.ts'
import { loadKeys } from '../identity/watch.ts'
import { createLedger, type LedgerNode } from '../ledger/ledger-node.ts'
import { createLimiter } from '../limits/create.ts'
import type { PriceBook } from '../meter/meter.ts'
import { ensurePrices } from '../meter/ensure-prices.ts'
import { createOutputEstimates, type OutputEstimates } from '../meter/output-estimate.ts'
import { createPriceBook } from '../meter/price-book.ts'
import { formatUnits, parseUnits } from '../money.ts'
import { Deadlines } from '../relay/deadlines.ts'
import { createDialer } from '../relay/dial.ts'
import { createHealth } from '../router/health.ts'
import type { Health } from '../router/route.ts'
import type { PriceRow } from '../store/ledger.ts'
import type { openStore } from '../store/open.ts'
import type { Log } from '../telemetry/log.ts'
import { startLoopLag } from '../telemetry/loop-lag.ts'
import { createMetrics, type LedgerReading, type Metrics } from '../telemetry/metrics.ts'
import { buildRooms, type ServingRooms } from './rooms.ts'
import type { Worker } from './worker.ts'

export type Store = Awaited<ReturnType<typeof openStore>>
export type State = Awaited<ReturnType<typeof buildState>>

/** What every set of rooms shares. */
export interface Lasting {
  readonly version: string
  readonly log: Log
  readonly store: Store
  readonly health: Health
  readonly limiter: ReturnType<typeof createLimiter>
  readonly metrics: Metrics
  readonly keyring: ReturnType<typeof createKeyring>
  readonly ledger: LedgerNode
  readonly load: Load
  readonly dialer: ReturnType<typeof createDialer>
  readonly deadlines: Deadlines
  readonly estimates: OutputEstimates
  readonly prices: { book: PriceBook; rows: readonly PriceRow[] }
}

export interface StateOptions {
  readonly version: string
  readonly config: Config
  readonly store: Store
  readonly log: Log
  /** One of several serving processes; null: the only one. */
  readonly worker: Worker | null
}

export async function buildState(options: StateOptions) {
  const { version, config, store, log, worker } = options
  await store.rememberCurrency(config.currency)
  await ensureAccounts(store, config, Date.now())
  const makesKey = config.keys.length === 0 && (worker === null || worker.slot === 0)
  const firstSecret = makesKey ? await issueFirstKey(store, Date.now()) : null
  const { revision, rows } = await loadKeys(store.keys)
  const keyring = createKeyring({ configured: config.keys, stored: rows })
  const prices = await loadPrices(store, config)
  const deadlines = new Deadlines()
  const ledger = await openLedger(options, deadlines)
  const health = watchedHealth(log)
  const { limiter, isShared } = watchedLimiter(config, log)
  const lag = startLoopLag()
  const metrics = createMetrics({
    version,
    runtime: `bun ${process.versions.bun}`,
    sources: {
      channelStates: () =>
        [...current.relay.channels.keys()].map((id) => [id, health.state(id, performance.now())]),
      ledger: () => readingOf(ledger),
      logPending: () => log.pending,
      logDropped: () => log.dropped,
      loopLagMs: () => lag.lagMs(),
      limitsShared: isShared,
    },
  })
  const lasting: Lasting = {
    version,
    log,
    store,
    health,
    limiter,
    metrics,
    keyring,
    ledger,
    prices,
    estimates: createOutputEstimates(),
    load: new Load(),
    dialer: createDialer(),
    deadlines,
  }
  let current: ServingRooms = buildRooms(config, lasting)
  return {
    ...lasting,
    firstSecret,
    keyRevision: revision,
    get current() {
      return current
    },
    /** Swaps all rooms at once; requests under way keep those they began with. */
    async replace(next: Config) {
      const rooms = buildRooms(next, lasting)
      await ensureAccounts(store, next, Date.now())
      Object.assign(prices, await loadPrices(store, next))
      keyring.replace({ configured: next.keys })
      current = rooms
    },
  }
}

/** For graphs only: a float is no account. */
function readingOf(ledger: LedgerNode): LedgerReading {
  const stats = ledger.stats()
  return {
    ...stats,
    heldUnits: Number(formatUnits(stats.heldNano)),
    writtenOffUnits: Number(formatUnits(stats.writtenOffNano)),
    open: ledger.closed === null,
  }
}

/** Writes down what is declared and shipped, and reads every card. */
async function loadPrices(store: Store, config: Config) {
  const rows = await ensurePrices(
    store.prices,
    config.models,
    shippedPrices(config.currency),
    Date.now(),
  )
  return { book: createPriceBook(rows), rows }
}

async function openLedger(options: StateOptions, deadlines: Deadlines): Promise<LedgerNode> {
  const { config, log, worker } = options
  const { billing } = config
  const capOf = (decimal: string | null) => (decimal === null ? null : parseUnits(decimal))
  const ledger = await createLedger({
    store: { dataDir: config.dataDir, databaseUrl: config.databaseUrl },
    dataDir: config.dataDir,
    slot: worker?.slot ?? 0,
    settings: config.ledger,
    durability: billing.durability,
    maxHeldPerKeyNano: capOf(billing.maxHeldPerKey),
    maxHeldPerAccountNano: capOf(billing.maxHeldPerAccount),
    log,
  })
  // What ran under a lost lease must not run on: it is settled with what it delivered.
  ledger.onFenced(() => deadlines.shutDown())
  return ledger
}

function watchedHealth(log: Log): Health {
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
  return { limiter, isShared: () => shared }
}
