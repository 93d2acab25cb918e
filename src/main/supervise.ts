// Makes this process the supervisor of `--workers`: locks the data, checks the port, starts workers, forwards signals.

import { hostname } from 'node:os'
import { needsRestart } from '../config/describe.ts'
import type { Flags } from '../config/settings.ts'
import type { Config } from '../config/types.ts'
import { ListenError } from '../http/listening.ts'
import { checkPort } from '../http/server.ts'
import { argumentsFor } from '../installation.ts'
import { lockForServer } from '../store/restore-folder.ts'
import { createLog } from '../telemetry/log.ts'
import { consoleBuild, shownConsole } from './console.ts'
import { onSignals } from './signals.ts'
import { StartError } from './start-error.ts'
import { startText } from './welcome.ts'
import { startWorkers } from './workers.ts'

interface SuperviseOptions {
  readonly version: string
  readonly config: Config
  /** Reads the configuration again with these flags; throws ConfigError. */
  readonly load: (flags: Flags) => Promise<Config>
  readonly env: Readonly<Record<string, string | undefined>>
}

/** How long a server that was killed just now may take to free its port. */
const leavingMs = 1_000

/**
 * Resolves when the workers have been started; the process then lives until they have ended. Throws StartError,
 * DataError.
 */
export async function supervise(options: SuperviseOptions): Promise<void> {
  const { config, version } = options
  checkPlatform(process.platform)
  const log = createLog({ level: config.logLevel, node: hostname() })
  const lock = lockForServer(config)
  await waitForPort(config.server.host, config.server.port)
  const consoleFiles = consoleBuild(config, log)
  const workers = startWorkers({
    count: config.server.workers,
    port: config.server.port,
    command: (port) => argumentsFor('serve', words(pinned(config, port)), process.execArgv),
    env: options.env,
    log,
    whyNot: () => changes(options),
    onReady: (ready) => {
      const console = shownConsole(config, ready.url)
      process.stdout.write(startText({ ...ready, console, version, config }))
      consoleFiles?.begin()
    },
    onEnd: (code) => {
      lock.release()
      log.output.flush()
      process.exit(code)
    },
  })
  const stop = () => {
    consoleFiles?.close()
    workers.stop()
  }
  onSignals({ stop, reload: () => workers.reload() })
  const mistake = (error: unknown) =>
    log.error({ err: error }, 'internal error: unhandled error in the supervisor; continuing')
  process.on('uncaughtException', mistake)
  process.on('unhandledRejection', mistake)
}

/** On other systems only one process gets a shared port's connections, or the port cannot be shared. */
export function checkPlatform(platform: NodeJS.Platform): void {
  if (platform === 'linux') return
  throw new StartError(
    'Several workers need Linux, where the system divides the connections to one port among them. Set --workers 1 or leave it out.',
  )
}

async function waitForPort(host: string, port: number): Promise<void> {
  if (port === 0) return
  const deadlineMs = performance.now() + leavingMs
  for (;;) {
    try {
      await checkPort(host, port)
      return
    } catch (error) {
      if (!(error instanceof ListenError)) throw error
      if (!error.isInUse || performance.now() > deadlineMs) throw new StartError(error.message)
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }
}

/** The settings that all workers must share, whatever the file says when one of them is started again. */
function pinned(config: Config, port: number): Flags {
  return {
    config: config.file ?? undefined,
    data: config.dataDir,
    host: config.server.host,
    port: String(port),
    workers: String(config.server.workers),
    console: config.server.console ? undefined : 'off',
  }
}

function words(flags: Flags): string[] {
  return Object.entries(flags).flatMap(([name, value]) =>
    value === undefined ? [] : [name === 'console' ? '--no-console' : `--${name}=${value}`],
  )
}

/** Why a worker started now would differ from the others; null: it would not. */
async function changes({ config, load }: SuperviseOptions): Promise<string | null> {
  try {
    const changed = needsRestart(config, await load(pinned(config, config.server.port)))
    return changed.length === 0 ? null : `changed until the next start: ${changed.join(', ')}`
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}
