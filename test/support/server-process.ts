// The server by its own command, on a folder that outlives it: for what happens between two starts.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const command = join(import.meta.dir, '..', '..', 'bin', 'tollgate')
const startLimitMs = 15_000

export interface ServerProcess {
  readonly url: string
  readonly dataDir: string
  /** What it printed until it served. */
  readonly stdout: string
  /** kill -9, and the end of the process. */
  kill(): Promise<void>
  /** Removes the folder. */
  remove(): void
}

const environment = { PATH: Bun.env['PATH'] ?? '', HOME: Bun.env['HOME'] ?? '', LOG_LEVEL: 'warn' }

/** Rejects with the exit code and what it said where it ends before it serves. */
export async function startServer(
  dataDir = mkdtempSync(join(tmpdir(), 'tollgate-server-')),
): Promise<ServerProcess> {
  const child = Bun.spawn([command, 'serve', '--data', dataDir, '--port', '0'], {
    cwd: dataDir,
    env: environment,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const killed = () => child.kill('SIGKILL')
  process.once('exit', killed)
  const timer = setTimeout(killed, startLimitMs)
  const errors = new Response(child.stderr).text()
  const decoder = new TextDecoder()
  let stdout = ''
  for await (const bytes of child.stdout) {
    stdout += decoder.decode(bytes, { stream: true })
    // The call to try comes last, so that the key is there when it is.
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
    throw new Error(`the server ended with ${code}: ${await errors}`)
  }
  const remove = () => rmSync(dataDir, { recursive: true, force: true })
  return { url, dataDir, stdout, kill, remove }
}

/** Runs the command line on this folder; gives its standard output. Rejects where it fails. */
export async function run(dataDir: string, ...words: readonly string[]): Promise<string> {
  const child = Bun.spawn([command, ...words, '--data', dataDir], {
    cwd: dataDir,
    env: environment,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [out, errors, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  if (code !== 0) throw new Error(`${words.join(' ')} ended with ${code}: ${errors}${out}`)
  return out
}
