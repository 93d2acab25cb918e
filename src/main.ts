// Starts the server: builds all its parts, listens, reloads and drains. The only file that knows every part.

import { readFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { loadConfiguration } from './admin/configuration.ts'
import type { Collector } from './blobs/memory-trimmer.ts'
import { needsRestart } from './config/describe.ts'
import { loadedText } from './config/load.ts'
import { ConfigError } from './config/problems.ts'
import type { Flags } from './config/settings.ts'
import type { Config } from './config/types.ts'
import { type ConfigWatch, watchConfig } from './config/watch.ts'
import { ListenError } from './http/listening.ts'
import { originOf } from './http/request.ts'
import { type Listener, listen } from './http/server.ts'
import { issueFirstKey } from './identity/first-key.ts'
import { watchKeys } from './identity/watch.ts'
import { isProgram, root } from './installation.ts'
import { keepAlerts } from './main/alert-timer.ts'
import { openArchiver } from './main/archiver.ts'
import { createClockCheck } from './main/clock-check.ts'
import { consoleBuild, openConsole, shownConsole } from './main/console.ts'
import { openControl } from './main/control.ts'
import { createDrain, type Drain } from './main/drain.ts'
import { openExporter } from './main/exporter.ts'
import { keepPayments, rateWarnings } from './main/payments.ts'
import { openPlayMoney, type PlayMoney } from './main/play-money.ts'
import { readProcess } from './main/process-reading.ts'
import { readiness } from './main/readiness.ts'
import { keepUsageFor } from './main/retention.ts'
import { watchRunning } from './main/running-requests.ts'
import { addressWarnings, browserAddress, firstSignInLink } from './main/sign-in-link.ts'
import { onSignals } from './main/signals.ts'
import { StartError } from './main/start-error.ts'
import { buildState, type State } from './main/state.ts'
import { supervise } from './main/supervise.ts'
import { firstModel, frontPage, startText } from './main/welcome.ts'
import { readWorker, Stops, slotVariable, type Worker } from './main/worker.ts'
import { watchPrices } from './meter/watch-prices.ts'
import { isStoreAway } from './store/away.ts'
import { DataError } from './store/data-error.ts'
import { openStore } from './store/open.ts'
import { lockForServer } from './store/restore-folder.ts'
import { labelled } from './telemetry/exposition.ts'
import { createLog, type Log } from './telemetry/log.ts'

const oldestBun = '1.4.5'
/** Where the ledger cannot be opened, a worker listens after this time all the same and reports it. */
const longestJoinMs = 10_000

const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  readonly version: string
}

/** Starts the server and resolves when it serves; the process then lives until a signal. Exits on failure. */
export async function main(argv: readonly string[]): Promise<void> {
  try {
    checkRuntime()
    await serve(argv)
  } catch (error) {
    const failure = expected(error)
    if (failure === null) throw error
    process.stderr.write(`${failure.message}\n`)
    process.exit(failure.code)
  }
}

/**
 * A failure whose message tells the operator what to do, with the exit code: 2 for a wrong command line, else 1. null:
 * an unexpected error.
 */
function expected(error: unknown): { readonly message: string; readonly code: number } | null {
  if (!(error instanceof Error)) return null
  const { message } = error
  if (error instanceof StartError) return { message, code: error.exitCode }
  if (error instanceof ConfigError) {
    const isCommandLine = error.problems.every(({ path }) => path.startsWith('--'))
    return { message, code: isCommandLine ? 2 : 1 }
  }
  if (error instanceof DataError) return { message, code: 1 }
  return isStoreAway(error) ? { message: `The store cannot be used: ${message}.`, code: 1 } : null
}

const collector: Collector = {
  collect: () => Bun.gc(true),
  residentBytes: () => process.memoryUsage.rss(),
  liveBytes() {
    const { heapUsed, external } = process.memoryUsage()
    return Math.max(0, heapUsed - external)
  },
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
      'no-console': { type: 'boolean' },
    } as const
    const { values } = parseArgs({
      args: [...argv],
      options,
      strict: true,
      allowPositionals: false,
    })
    return { ...values, console: values['no-console'] === true ? 'off' : undefined }
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new StartError(
      `${reason}\nUsage: tollgate serve [--config FILE] [--data DIR] [--port N] [--host H] [--workers N] [--no-console]`,
      2,
    )
  }
}

async function serve(argv: readonly string[]): Promise<void> {
  const flags = readFlags(argv)
  const loadWith = (given: Flags) =>
    loadConfiguration({ flags: given, env: process.env, apart: true })
  const load = () => loadWith(flags)
  const config = await load()
  const worker = readWorker(process.env[slotVariable], config.dataDir)
  if (worker === null && config.server.workers > 1) {
    await supervise({ version, config, load: loadWith, env: process.env })
    return
  }
  const log = createLog({ level: config.logLevel, node: hostname(), worker: worker?.slot ?? null })
  const lock = worker === null ? lockForServer(config) : null
  const store = await openStore(config)
  const state = await buildState({ version, config, store, log, worker, collector })
  const stops = new Stops()
  if (worker !== null) {
    worker.onStop(stops.request)
    // A worker that listens gets its share of the connections at once, so it must not listen before it can serve them.
    await Promise.race([state.ledger.opened, delay(longestJoinMs, undefined, { ref: false })])
  }
  const notify = (request: Request) => control.handle(request, null)
  const play = openPlayMoney(state, { isAlone: worker === null, notify })
  const { watches, timers } = watchStore(state, { log, play, worker })
  const refresh = async () => {
    await Promise.all(watches.map((watch) => watch.refresh()))
  }
  const control = openControl(state, { version, log, play, refresh })
  const consoleFiles = worker === null ? consoleBuild(config, log) : null
  const listener = startListening(state, control, { config, log, worker, play })
  const configWatch = config.file === null ? null : await followConfig(config, load, state, log)
  const drain = createDrain({
    state,
    listener,
    log,
    async close() {
      for (const watch of [...watches, ...timers, play]) watch.close()
      await configWatch?.close()
      await control.close()
      await store.close()
      lock?.release()
    },
  })
  const stop = stopper(drain, state, log, () => consoleFiles?.close())
  const reload = () => void configWatch?.reload()
  if (worker === null) onSignals({ stop, reload })
  else {
    stops.reach(stop)
    process.on('SIGHUP', reload)
  }
  logMistakes(log)
  // Health checks are answered meanwhile; requests are served once the last run's outbox is settled.
  await state.ledger.opened
  state.videoJobs.start()
  const reported = await reportOf(state, config, listener.url, worker)
  // The new key works from the first call on.
  if (reported.secret !== null) await refresh()
  // Last: a supervisor or script that waits for this may send a signal at once.
  if (worker !== null) {
    worker.ready({ ...reported, port: listener.port })
    return
  }
  const console = shownConsole(config, listener.url)
  process.stdout.write(startText({ ...reported, console, version, config }))
  consoleFiles?.begin()
}

/** What the start reports; among several workers only the first makes the sign-in link. */
async function reportOf(state: State, config: Config, url: string, worker: Worker | null) {
  const address = browserAddress(config, url)
  const isFirst = worker === null || worker.slot === 0
  return {
    url,
    signInLink: isFirst ? await firstSignInLink(state.store, address, config.currency) : null,
    // Last: a start that is stopped before it prints must leave no key whose secret nobody has seen.
    secret:
      isFirst && config.keys.length === 0 ? await issueFirstKey(state.store, Date.now()) : null,
    model: firstOf(state),
    warnings: [
      ...state.prices.warnings(),
      ...addressWarnings(config, address),
      ...rateWarnings(config),
    ],
  }
}

function logMistakes(log: Log): void {
  const failed = (error: unknown) =>
    log.error({ err: error }, 'internal error: unhandled error; continuing')
  process.on('uncaughtException', failed)
  process.on('unhandledRejection', failed)
}

type WatchParts = Pick<ListeningParts, 'log' | 'play' | 'worker'>

/** Follows the store: keys, prices and settings changed elsewhere apply here within a second; prunes usage rows. */
function watchStore(state: State, { log, play, worker }: WatchParts) {
  const { store, ledger, prices, runTime, stored, activity } = state
  const busy = activity.isBusy
  const failed = (what: string) => (error: unknown) =>
    log.error({ err: error }, `${what} could not be read again; the old ones stay`)
  const watches = [
    watchKeys(store, state.keyring, {
      revision: state.keyRevision,
      onError: failed('keys'),
      busy,
    }),
    state.history.choices.watch({ onError: failed('settings of message history'), busy }),
    watchPrices(store.prices, prices.rows, {
      onChange: (rows) => prices.take(rows),
      onError: failed('prices'),
      busy,
    }),
    stored.watch({
      onChange: state.applyStored,
      onError: failed('channels, groups and models'),
      busy,
    }),
    runTime.watch({ onError: failed('settings'), busy }),
    watchRunning(store.running, {
      deadlines: state.deadlines,
      reading: () => readProcess(state),
      onError: failed('the list of what is to be stopped'),
      busy,
    }),
  ]
  for (const watch of watches) activity.add(watch)
  const archiving = { worker, store, offloading: state.offloading, log }
  const config = () => state.current.config
  const archiver = openArchiver({ config, ...archiving })
  const exporter = openExporter({ config, ...archiving })
  const retention = keepUsageFor({
    clock: createClockCheck({
      databaseMs: () => store.retention.databaseMs(),
      wallMs: Date.now,
      monotonicMs: () => performance.now(),
    }),
    keepDays: () => runTime.current()['usage.keepDays'],
    keepRefusalsDays: () => config().usage.keepRefusalsDays,
    prune: (pruning) => ledger.changes.pruneUsage(pruning),
    archive: () => (config().usage.archive ? archiver.archive : null),
    onError: (error) =>
      log.warn({ err: error }, 'old usage rows could not be removed; trying again'),
  })
  const alerts = keepAlerts(state, log)
  const payments = keepPayments(state, { log, play }, (error) =>
    log.warn({ err: error }, 'open orders could not be checked; trying again'),
  )
  return { watches, timers: [retention, archiver, exporter, alerts, payments] }
}

interface ListeningParts {
  readonly config: Config
  readonly log: Log
  readonly worker: Worker | null
  readonly play: PlayMoney
}

function startListening(
  state: State,
  control: ReturnType<typeof openControl>,
  { config, log, worker, play }: ListeningParts,
): Listener {
  const { healthPort } = config.server
  try {
    return listen({
      control: control.handle,
      simulator: play.handle,
      host: config.server.host,
      port: config.server.port,
      sharePort: worker !== null,
      maxMessageBytes: config.realtime.maxMessageBytes,
      healthPort: healthPort === null ? null : healthPort + (worker?.slot ?? 0),
      front: state.front,
      arrived: state.activity.arrived,
      health: {
        version,
        components: () => readiness(state, performance.now()),
        warnings: () => state.prices.warnings(),
        metrics: () => {
          const readings = state.metrics.registry.readings()
          return worker === null ? readings : labelled(readings, 'worker', String(worker.slot))
        },
        metricsToken: () => state.current.config.server.metricsToken,
      },
      console: config.server.console ? openConsole(state, () => firstOf(state)) : null,
      page: (request) => frontPage(originOf(request, state.current.config.server), firstOf(state)),
      onCrash: (error) => log.error({ err: error }, 'internal error: a request failed'),
      onFull: (connections) =>
        log.error(
          { connections },
          'no more connections can be served with the limit of open files; refusing new ones',
        ),
    })
  } catch (error) {
    throw error instanceof ListenError ? new StartError(error.message) : error
  }
}

function firstOf({ current }: State) {
  return firstModel(current.config, current.front.services.modelAccess)
}

/** Applies a changed file as a whole or not at all. */
function followConfig(
  first: Config,
  load: () => Promise<Config>,
  state: State,
  log: Log,
): Promise<ConfigWatch> {
  let before = first
  return watchConfig({
    file: first.file ?? '',
    text: loadedText(first),
    sources: first.sources.filter((source) => source !== first.file),
    load,
    async onConfig(config) {
      try {
        await state.replace(config)
      } catch (error) {
        const again = isStoreAway(error)
        log.error(
          { err: error },
          again
            ? 'the new configuration waits for the database; the old one stays until then'
            : 'the new configuration was refused; the old one stays',
        )
        return again ? 'again' : 'taken'
      }
      log.info({ needsRestart: needsRestart(before, config) }, 'the configuration was taken over')
      before = config
      return 'taken'
    },
    onRefused: (error) =>
      log.error(
        { problems: error.problems },
        'the new configuration was refused; the old one stays',
      ),
  })
}

/** The first signal drains; the second ends streams at once. */
function stopper(drain: Drain, { load }: State, log: Log, leave: () => void): () => void {
  let signals = 0
  return () => {
    signals++
    if (signals === 1) {
      leave()
      drain.begin()
      return
    }
    log.warn({ inFlight: load.inFlight }, 'asked to stop again: running requests are cut off')
    drain.now()
  }
}

if (import.meta.main && !isProgram) await main(process.argv.slice(2))
