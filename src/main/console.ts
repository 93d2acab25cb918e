// The console beside the server: built by a process of its own that ends, and loaded when a browser first asks for it.

import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import type { Config } from '../config/types.ts'
import type { Console } from '../http/console/console.ts'
import { originOf } from '../http/request.ts'
import { root, runtimeVariables } from '../installation.ts'
import type { Log } from '../telemetry/log.ts'
import { browserAddress } from './sign-in-link.ts'
import type { State } from './state.ts'
import { type FirstModel, firstSteps, type Start } from './welcome.ts'

const folder = join(root, 'console/dist')
const script = join(root, 'scripts/console.mjs')
/** What of a build's output is kept: its end, where the cause stands. */
const keptCharacters = 4_000

/** Why the last build failed, for every process of this server; there is none while one runs, and after one that worked. */
const failureFile = (dataDir: string) => join(dataDir, 'console-failure.txt')

/** What the start says of it; null: it is turned off. */
export function shownConsole(config: Config, listening: string): Start['console'] {
  if (!config.server.console) return null
  const isBuilt = existsSync(join(folder, 'files.json'))
  return { url: `${browserAddress(config, listening)}/`, isBuilt }
}

/** What answers a browser; the first request waits until it is loaded. */
export function openConsole(state: State, model: () => FirstModel | null) {
  let loading: Promise<Console> | null = null
  const load = async () => {
    const { createConsole } = await import('../http/console/console.ts')
    return createConsole({
      folder,
      failureFile: failureFile(state.current.config.dataDir),
      firstSteps: (request) => firstSteps(originOf(request, state.current.config.server), model()),
    })
  }
  return async (request: Request, peer: string | null): Promise<Response | null> => {
    loading ??= load()
    return (await loading).handle(request, peer)
  }
}

interface ConsoleBuild {
  /** Has the console built where its sources changed since it was; the second call does nothing. */
  begin(): void
  /** A build that runs is ended. */
  close(): void
}

/** null: it is turned off. */
export function consoleBuild({ server, dataDir }: Config, log: Log): ConsoleBuild | null {
  // Packages have it built, and nothing to build it with.
  if (!server.console || !existsSync(script)) return null
  const failure = failureFile(dataDir)
  rmSync(failure, { force: true })
  let child: ChildProcess | null = null
  return {
    begin() {
      child ??= build((output, isBuilt) => {
        if (isBuilt) {
          // It says nothing where there was nothing to do.
          if (output !== '') log.info({}, 'the console was built')
          return
        }
        writeFileSync(failure, output)
        log.error(
          { output },
          'the console could not be built: one that was built before is served, else / says why',
        )
      })
    },
    close() {
      child?.removeAllListeners()
      child?.kill('SIGTERM')
    },
  }
}

/** What a terminal, or whoever stops the server, sends to all of its processes at once. */
const leaving: ReadonlySet<string | null> = new Set(['SIGINT', 'SIGTERM', 'SIGHUP'])
/** The same, as the build says it of what it started. */
const leftCodes: ReadonlySet<number | null> = new Set([129, 130, 143])

/**
 * `ended` is told the end of what it said, unless it was stopped. Whatever it starts ends with it, and it with this
 * process.
 */
function build(ended: (output: string, isBuilt: boolean) => void): ChildProcess {
  const flags = ['--no-orphans', '--no-env-file', '--config=/dev/null']
  const child = spawn(process.execPath, [...flags, script, '--aside'], {
    cwd: root,
    env: { ...process.env, ...runtimeVariables },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let said = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(-keptCharacters)
  })
  child.on('error', (error) => {
    said += error.message
  })
  child.on('close', (code, signal) => {
    // It may hear of the server's end before the server does.
    if (leaving.has(signal) || leftCodes.has(code)) return
    if (signal !== null) said += `The build was ended by ${signal}.`
    ended(stripVTControlCharacters(said).trim(), code === 0)
  })
  return child
}
