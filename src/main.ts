// Builds every room, listens, reloads and drains: the only file that knows them all.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { createCatalog } from './catalog/catalog.ts'
import { needsRestart } from './config/describe.ts'
import { loadConfig } from './config/load.ts'
import { ConfigError } from './config/problems.ts'
import type { Flags } from './config/settings.ts'
import type { Config } from './config/types.ts'
import { type ConfigWatch, watchConfig } from './config/watch.ts'
import { createRecorder, type Recorder } from './history/recorder.ts'
import { Load } from './http/load.ts'
import type { FrontRooms } from './http/model-request.ts'
import { createOffer } from './http/offer.ts'
import { refusalRow } from './http/refusal.ts'
import { type Listener, listen } from './http/server.ts'
import { frontPage, startText } from './http/welcome.ts'
import { ensureAccounts } from './identity/ensure-accounts.ts'
import { issueFirstKey } from './identity/first-key.ts'
import { createKeyring } from './identity/keyring.ts'
import { loadKeys, watchKeys } from './identity/watch.ts'
import { createLimiter } from './limits/create.ts'
import { StartError } from './main/start-error.ts'
import { supervise } from './main/supervise.ts'
import { readWorker, slotVariable, type Worker } from './main/worker.ts'
import { channelConfigs, createChannels } from './relay/channels.ts'
import { Deadlines } from './relay/deadlines.ts'
import { createDialer } from './relay/dial.ts'
import { createSettler } from './relay/settle.ts'
import { createDirectory } from './router/directory.ts'
import { createHealth } from './router/health.ts'
import type { Health } from './router/route.ts'
import { DataLocked, lockData } from './store/lock.ts'
import { openStore } from './store/open.ts'
import { createLog, type Log } from './telemetry/log.ts'
import { startLoopLag } from './telemetry/loop-lag.ts'
import { createMetrics } from './telemetry/metrics.ts'
import { labelled } from './telemetry/registry.ts'
import { scrub } from './telemetry/scrub.ts'
import { vendors } from './vendors/registry.ts'
import { dialects } from './wire/dialects.ts'

const oldestBun = '1.4.5'

const { version } = JSON.parse(
  readFileSync(join(import.meta.dirname, '../package.json'), 'utf8'),
) as { readonly version: string }

/** Starts the server and resolves when it serves; the process then lives until a signal. Exits on failure. */
export async function main(argv: readonly string[]): Promise<void> {
  try {
    checkRuntime()
    await serve(argv)
  } catch (error) {
    if (
      !(error instanceof ConfigError || error instanceof DataLocked || error instanceof StartError)
    )
      throw error
    process.stderr.write(`${error.message}\n`)
    process.exit(1)
  }
}

function checkRuntime(): void {
  if (Bun.semver.order(Bun.version, oldestBun) < 0) {
    throw new StartError(
      `Tollgate needs Bun ${oldestBun} or newer; this is ${Bun.version}. Run: npm install`,
    )
  }
}

function readFlags(argv: readonly string[]) {
  try {
    const options = {
      config: { type: 'string' },
      data: { type: 'string' },
      port: { type: 'string' },
      host: { type: 'string' },
      workers: { type: 'string' },
    } as const
    return parseArgs({ args: [...argv], options, strict: true, allowPositionals: false }).values
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new StartError(
      `${reason}\nUsage: tollgate serve [--config FILE] [--data DIR] [--port N] [--host H] [--workers N]`,
    )
  }
}

async function serve(argv: readonly string[]): Promise<void> {
  const flags = readFlags(argv)
  const loadWith = (given: Flags) =>
    loadConfig({
      flags: given,
      env: process.env,
      knownVendors: Object.keys(vendors),
      knownDialects: Object.keys(dialects),
      apart: true,
    })
  const load = () => loadWith(flags)
  const config = await load()
  const worker = readWorker(process.env[slotVariable], config.dataDir)
  if (worker === null && config.server.workers > 1) {
    await supervise({ script: import.meta.path, version, config, load: loadWith, env: process.env })
    return
  }
  const log = createLog({ level: config.logLevel, worker: worker?.slot ?? null })
  const store = await openStore(config)
  const lock = worker === null && config.databaseUrl === null ? lockData(config.dataDir) : null
  const state = await buildState(config, store, log, worker)
  const listener = startListening(state, config, log, worker)
  const keyWatch = watchKeys(store.keys, state.keyring, {
    revision: state.keyRevision,
    onError: (error) =>
      log.error({ err: error }, 'keys could not be read again; the old ones stay'),
  })
  const configWatch = config.file === null ? null : await followConfig(config, load, state, log)
  const stop = stopper(state, listener, config.server.drainMs, log, async () => {
    keyWatch.close()
    await configWatch?.close()
    await store.close()
    lock?.release()
  })
  if (worker === null) {
    process.on('SIGTERM', stop)
    process.on('SIGINT', stop)
  } else worker.onStop(stop)
  process.on('SIGHUP', () => void configWatch?.reload())
  process.on('uncaughtException', (error) =>
    log.error({ err: error }, 'a mistake in the gateway; it goes on'),
  )
  process.on('unhandledRejection', (error) =>
    log.error({ err: error }, 'a mistake in the gateway; it goes on'),
  )
  // Last: whoever waits for this may send a signal at once.
  if (worker !== null) {
    worker.ready({ url: listener.url, port: listener.port, secret: state.firstSecret })
    return
  }
  process.stdout.write(
    startText({
      version,
      url: listener.url,
      secret: state.firstSecret,
      config: state.current.config,
    }),
  )
}

type Store = Awaited<ReturnType<typeof openStore>>
type State = Awaited<ReturnType<typeof buildState>>

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

function watchedRecorder(store: Store, log: Log): Recorder {
  let told = 0
  return createRecorder(store.usage, {
    onError: (error, retryMs) =>
      log.error({ err: error, retryMs }, 'usage could not be written; it will be tried again'),
    onDropped: (row, total) => {
      // One line for each doubling: a flood of losses must not become a flood of lines.
      if (total < told * 2) return
      told = total
      log.error({ request_id: row.requestId, total }, 'usage records are lost: the queue is full')
    },
    onRefused: (row, error) => log.error({ row, err: error }, 'the store refuses a usage record'),
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

/** What outlives a change of the configuration, and the rooms that do not. */
async function buildState(config: Config, store: Store, log: Log, worker: Worker | null) {
  const health = watchedHealth(log)
  const recorder = watchedRecorder(store, log)
  const { limiter, isShared } = watchedLimiter(config, log)
  const lag = startLoopLag()
  const metrics = createMetrics({
    version,
    runtime: `bun ${Bun.version}`,
    sources: {
      channelStates: () =>
        [...current.relay.channels.keys()].map((id) => [id, health.state(id, performance.now())]),
      usageQueueDepth: () => recorder.depth,
      logPending: () => log.pending,
      logDropped: () => log.dropped,
      loopLagMs: () => lag.lagMs(),
      limitsShared: isShared,
    },
  })
  await ensureAccounts(store.accounts, config, Date.now())
  const makesKey = config.keys.length === 0 && (worker === null || worker.slot === 0)
  const firstSecret = makesKey ? await issueFirstKey(store, Date.now()) : null
  const { revision, rows } = await loadKeys(store.keys)
  const keyring = createKeyring({ configured: config.keys, stored: rows })
  const lasting = {
    health,
    recorder,
    limiter,
    metrics,
    keyring,
    log,
    store,
    load: new Load(),
    dialer: createDialer(),
    deadlines: new Deadlines(),
  }
  let current = buildRooms(config, lasting)
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
      await ensureAccounts(store.accounts, next, Date.now())
      keyring.replace({ configured: next.keys })
      current = rooms
    },
  }
}

type Lasting = Pick<
  State,
  | 'health'
  | 'recorder'
  | 'limiter'
  | 'metrics'
  | 'keyring'
  | 'log'
  | 'load'
  | 'dialer'
  | 'deadlines'
>

function buildRooms(config: Config, lasting: Lasting): FrontRooms & { readonly config: Config } {
  const configured = channelConfigs(config, process.env, vendors)
  const channels = createChannels(configured, vendors)
  const catalog = createCatalog(config.models)
  const directory = createDirectory({
    channels: configured,
    groups: config.groups,
    speaks: (vendor) => vendors[vendor]?.speaks ?? [],
    vendorModels: (vendor) => catalog.ofVendor(vendor).map((model) => model.id),
  })
  const settler = createSettler({ ...lasting, channels })
  const underWay = new Map(
    Object.values(dialects).map(({ id, path }) => [
      id,
      lasting.metrics.requestsInFlight.with(path),
    ]),
  )
  const { server } = config
  return {
    config,
    server,
    keyring: lasting.keyring,
    limiter: lasting.limiter,
    load: lasting.load,
    overhead: {
      auth: lasting.metrics.overhead.with('auth'),
      route: lasting.metrics.overhead.with('route'),
    },
    offer: createOffer(config, catalog, directory),
    relay: {
      ...lasting,
      channels,
      dialects,
      timeouts: config.timeouts,
      retry: config.retry,
      heartbeatMs: server.heartbeatMs,
      commitAfterMs: server.commitAfterMs,
      writeStallMs: server.writeStallMs,
      random: Math.random,
      scrub,
      settle: settler.settle,
      attemptFailed: settler.attemptFailed,
    },
    underWay(dialect, change) {
      underWay.get(dialect.id)?.add(change)
    },
    limited({ scope, kind }) {
      // The scope's kind only: an id would be a label without bound.
      lasting.metrics.rateLimited.with(scope.split(':', 1)[0] ?? '', kind).inc()
    },
    refused(refusal) {
      if (refusal.cause !== null)
        lasting.log.error(
          { err: refusal.cause, request_id: refusal.requestId },
          'a mistake in the gateway',
        )
      settler.refused(refusalRow(refusal), refusal.dialect.path, refusal.status, refusal.durationMs)
    },
  }
}

function startListening(state: State, config: Config, log: Log, worker: Worker | null): Listener {
  const { healthPort } = config.server
  try {
    return listen({
      host: config.server.host,
      port: config.server.port,
      sharePort: worker !== null,
      healthPort: healthPort === null ? null : healthPort + (worker?.slot ?? 0),
      rooms: () => state.current,
      dialects,
      health: {
        version,
        notReady: () => (state.load.draining ? ['the server is stopping'] : []),
        metrics: () => {
          const text = state.metrics.registry.print()
          return worker === null ? text : labelled(text, 'worker', String(worker.slot))
        },
        metricsToken: () => state.current.server.metricsToken,
      },
      page: () => frontPage(state.current.config),
      onCrash: (error) => log.error({ err: error }, 'a mistake in the gateway'),
    })
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new StartError(`Cannot listen on ${config.server.host}:${config.server.port}: ${reason}`)
  }
}

/** A changed file is taken over whole or not at all. */
function followConfig(
  first: Config,
  load: () => Promise<Config>,
  state: State,
  log: Log,
): Promise<ConfigWatch> {
  let before = first
  return watchConfig({
    file: first.file ?? '',
    load,
    onConfig: (config) => {
      state.replace(config).then(
        () => {
          const later = needsRestart(before, config)
          before = config
          log.info({ needsRestart: later }, 'the configuration was taken over')
        },
        (error) =>
          log.error({ err: error }, 'the new configuration was refused; the old one stays'),
      )
    },
    onRefused: (error) =>
      log.error(
        { problems: error.problems },
        'the new configuration was refused; the old one stays',
      ),
  })
}

/** The first signal drains; the second ends streams at once. */
function stopper(
  state: State,
  listener: Listener,
  drainMs: number,
  log: Log,
  close: () => Promise<void>,
): () => void {
  let signals = 0
  return () => {
    signals++
    if (signals > 1) {
      log.warn({}, 'stopping at once')
      finish()
      return
    }
    log.info({ inFlight: state.load.inFlight }, 'draining')
    const timer = setTimeout(finish, drainMs)
    state.load.drain().then(() => {
      clearTimeout(timer)
      finish()
    })
  }
  function finish(): void {
    state.deadlines.shutDown()
    listener
      .stop()
      .then(() => state.recorder.drain())
      .then(() => state.limiter.close())
      .then(() => state.dialer.close())
      .then(close)
      .then(
        () => exit(0),
        (error) => {
          log.error({ err: error }, 'the server did not stop in good order')
          exit(1)
        },
      )
  }
  function exit(code: number): void {
    log.flush()
    process.exit(code)
  }
}

if (import.meta.main) await main(process.argv.slice(2))
