// Builds every room, listens, reloads and drains: the only file that knows them all.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { createCatalog } from './catalog/catalog.ts'
import { needsRestart } from './config/describe.ts'
import { loadConfig } from './config/load.ts'
import { ConfigError } from './config/problems.ts'
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

/** A reason not to start, in words for the operator. */
class StartError extends Error {}

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
    } as const
    return parseArgs({ args: [...argv], options, strict: true, allowPositionals: false }).values
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new StartError(
      `${reason}\nUsage: tollgate serve [--config FILE] [--data DIR] [--port N] [--host H]`,
    )
  }
}

async function serve(argv: readonly string[]): Promise<void> {
  const flags = readFlags(argv)
  const load = () =>
    loadConfig({
      flags,
      env: process.env,
      knownVendors: Object.keys(vendors),
      knownDialects: Object.keys(dialects),
      apart: true,
    })
  const config = await load()
  const log = createLog({ level: config.logLevel })
  const store = await openStore(config)
  const lock = config.databaseUrl === null ? lockData(config.dataDir) : null
  const state = await buildState(config, store, log)
  const listener = startListening(state, config, log)
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
  process.on('SIGTERM', stop)
  process.on('SIGINT', stop)
  process.on('SIGHUP', () => void configWatch?.reload())
  process.on('uncaughtException', (error) =>
    log.error({ err: error }, 'a mistake in the gateway; it goes on'),
  )
  process.on('unhandledRejection', (error) =>
    log.error({ err: error }, 'a mistake in the gateway; it goes on'),
  )
  // Last: whoever waits for this line may send a signal at once.
  process.stdout.write(
    startText({
      version,
      url: listener.url,
      secret: state.firstSecret,
      config: state.current.config,
    }),
  )
}

function startListening(state: State, config: Config, log: Log): Listener {
  try {
    return listen({
      host: config.server.host,
      port: config.server.port,
      rooms: () => state.current,
      dialects,
      health: {
        version,
        notReady: () => (state.load.draining ? ['the server is stopping'] : []),
        metrics: () => state.metrics.registry.print(),
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
