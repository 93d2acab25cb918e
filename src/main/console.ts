// The console beside the server: built by a short-lived process, and loaded when a browser first asks for it.

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
/** Most characters kept of a build's output: its end, which tells the cause. */
const keptCharacters = 4_000

/** Holds the error of the last build, for every process of this server; absent during a build and after a good one. */
const failureFile = (dataDir: string) => join(dataDir, 'console-failure.txt')

/** What the start reports about the console; null: it is turned off. */
export function shownConsole(config: Config, listening: string): Start['console'] {
  if (!config.server.console) return null
  const isBuilt = existsSync(join(folder, 'files.json'))
  return { url: `${browserAddress(config, listening)}/`, isBuilt }
}

/** Answers browsers; the first request waits until the console's code is loaded. */
export function openConsole(state: State, model: () => FirstModel | null) {
  let loading: Promise<Console> | null = null
  const load = async () => {
    const { createConsole } = await import('../http/console/console.ts')
    return createConsole({
      folder,
      failureFile: failureFile(state.current.config.dataDir),
      firstSteps: (request) => firstSteps(originOf(request, state.current.config.server), model()),
      isSecure: () => state.current.config.server.publicUrl?.startsWith('https:') === true,
    })
  }
  return async (request: Request, peer: string | null): Promise<Response | null> => {
    loading ??= load()
    return (await loading).handle(request, peer)
  }
}

interface ConsoleBuild {
  /** Builds the console where its sources changed since the last build; a second call does nothing. */
  begin(): void
  /** Ends a build that runs. */
  close(): void
}

/** null: the console is turned off or cannot be built here. */
export function consoleBuild({ server, dataDir }: Config, log: Log): ConsoleBuild | null {
  // Released packages contain the built console, and no build script.
  if (!server.console || !existsSync(script)) return null
  const failure = failureFile(dataDir)
  rmSync(failure, { force: true })
  let child: ChildProcess | null = null
  return {
    begin() {
      child ??= build((output, isBuilt) => {
        if (isBuilt) {
          // A build without work has no output.
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

/** Signals that a terminal or a supervisor sends to all processes of the server at once. */
const leaving: ReadonlySet<string | null> = new Set(['SIGINT', 'SIGTERM', 'SIGHUP'])
/** Exit codes with which the build reports the same signals of its child processes. */
const leftCodes: ReadonlySet<number | null> = new Set([129, 130, 143])

/**
 * `ended` is called with the end of the output, unless the build was stopped. Its child processes end with it, and it
 * ends with this process.
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
    // The build may receive the signal that stops the server before the server does.
    if (leaving.has(signal) || leftCodes.has(code)) return
    if (signal !== null) said += `The build was ended by ${signal}.`
    ended(stripVTControlCharacters(said).trim(), code === 0)
  })
  return child
}
