// The server by its own command, on a folder that outlives it, to test what happens between two starts.

import { EventEmitter, once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { program, runCommand } from './command-line.ts'

const startLimitMs = 60_000

export interface ServerProcess {
  readonly url: string
  readonly dataDir: string
  readonly pid: number
  /** Its output until it served. */
  readonly stdout: string
  /** What it has written on standard error so far. */
  readonly stderr: string
  /** Resolves when standard error contains this text. Rejects if it ends without. */
  said(text: string): Promise<void>
  /** Its exit code, once it has ended. */
  readonly exited: Promise<number>
  signal(name: NodeJS.Signals): void
  /** kill -9, and waits for the end of the process. */
  kill(): Promise<void>
  /** Removes the folder. */
  remove(): void
}

const environment = {
  PATH: Bun.env['PATH'] ?? '',
  HOME: Bun.env['HOME'] ?? '',
  LOG_LEVEL: 'warn',
  TOLLGATE_CONSOLE: 'off',
}

export interface ServerOptions {
  readonly words?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  /** A command that runs the server as its last arguments, under the same process id. */
  readonly under?: readonly string[]
  /** The start script of another checkout. */
  readonly command?: string
}

/** Rejects with the exit code and the output if it ends before it serves. */
export async function startServer(
  dataDir = mkdtempSync(join(tmpdir(), 'tollgate-server-')),
  { words = [], env = {}, under = [], command = program }: ServerOptions = {},
): Promise<ServerProcess> {
  const child = Bun.spawn(
    [...under, command, 'serve', '--data', dataDir, '--port', '0', ...words],
    {
      cwd: dataDir,
      env: { ...environment, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  )
  const killed = () => child.kill('SIGKILL')
  process.once('exit', killed)
  const timer = setTimeout(killed, startLimitMs)
  let stderr = ''
  const grown = new EventEmitter()
  const errors = (async () => {
    const decoder = new TextDecoder()
    for await (const bytes of child.stderr) {
      stderr += decoder.decode(bytes, { stream: true })
      grown.emit('more')
    }
  })()
  const said = async (text: string) => {
    while (!stderr.includes(text)) {
      const ended = errors.then(() => true)
      const isOver = await Promise.race([ended, once(grown, 'more').then(() => false)])
      if (isOver) break
    }
    if (!stderr.includes(text)) throw new Error(`the server did not say ${text}: ${stderr}`)
  }
  const decoder = new TextDecoder()
  let stdout = ''
  for await (const bytes of child.stdout) {
    stdout += decoder.decode(bytes, { stream: true })
    // The example call is printed last, so the key is there by then.
    if (stdout.includes('-d ')) break
  }
  clearTimeout(timer)
  const url = /listens on (http:\S+)/.exec(stdout)?.[1]
  const kill = async () => {
    killed()
    await child.exited
    process.off('exit', killed)
  }
  if (url === undefined) {
    const code = await child.exited
    process.off('exit', killed)
    await errors
    throw new Error(`the server ended with ${code}: ${stderr}`)
  }
  const remove = () => rmSync(dataDir, { recursive: true, force: true })
  return {
    url,
    dataDir,
    pid: child.pid,
    stdout,
    get stderr() {
      return stderr
    },
    said,
    exited: child.exited,
    signal: (name) => child.kill(name),
    kill,
    remove,
  }
}

/** Runs the command line on this folder; returns its standard output. Rejects if it fails. */
export async function run(dataDir: string, ...words: readonly string[]): Promise<string> {
  const { code, out, err } = await runCommand([...words, '--data', dataDir], dataDir, environment)
  if (code !== 0) throw new Error(`${words.join(' ')} ended with ${code}: ${err}${out}`)
  return out
}
