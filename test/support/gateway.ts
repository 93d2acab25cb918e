// Starts the gateway as users do, as a separate process, and stops it whatever the test does.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openStore } from '../../src/store/open.ts'
import type { UsageRow } from '../../src/store/usage-row.ts'
import { program } from './command-line.ts'

const root = join(import.meta.dir, '..', '..')
const bareCommand = [join(root, 'node_modules/.bin/bun'), 'src/main.ts']
const startLimitMs = 60_000
const rowLimitMs = 3_000

/** The secret of the key `test`, which is declared if a configuration has no keys. */
export const testKey = 'sk-test-0123456789abcdef'

export interface GatewayOptions {
  /** As in the configuration file; `keys`, credit and prices are added if left out. */
  readonly config?: Readonly<Record<string, unknown>>
  readonly env?: Readonly<Record<string, string>>
  /** Not by the start script, which sets some variables. */
  readonly bare?: boolean
}

export interface Gateway extends AsyncDisposable {
  /** Without a slash at its end. */
  readonly url: string
  readonly key: string
  readonly dataDir: string
  readonly pid: number
  /** What it has written on standard error so far. */
  readonly stderr: string
  /** Resolves when its log contains the text: lines are written a moment after the event. */
  logged(text: string): Promise<void>
  /** Usage rows, newest first. */
  usage(): Promise<readonly UsageRow[]>
  /** The row of one request; waits for it. Rejects if it does not come in time. */
  row(requestId: string): Promise<UsageRow>
  /** Prometheus text. */
  metrics(): Promise<string>
  /** Sends a JSON body with the key to a path such as `/v1/chat/completions`. */
  post(path: string, body: unknown, options?: PostOptions): Promise<Response>
  /** Ends the process; resolves with its exit code. */
  stop(): Promise<number>
}

export interface PostOptions {
  readonly signal?: AbortSignal
  readonly headers?: Readonly<Record<string, string>>
}

/** Rejects with the output of the process if it does not serve in time. */
export async function startGateway(options: GatewayOptions = {}): Promise<Gateway> {
  const dataDir = mkdtempSync(join(tmpdir(), 'tollgate-test-'))
  const file = join(dataDir, 'tollgate.yaml')
  const config = paidFor(options.config ?? {})
  // JSON is valid YAML.
  writeFileSync(file, JSON.stringify(config))
  const child = Bun.spawn(
    [
      ...(options.bare === true ? bareCommand : [program, 'serve']),
      ...['--config', file, '--data', join(dataDir, 'data'), '--port', '0'],
    ],
    { cwd: root, env: environment(options.env), stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' },
  )
  const gateway = new GatewayProcess(child, dataDir)
  try {
    await gateway.ready()
    return gateway
  } catch (error) {
    await gateway.stop()
    throw error
  }
}

/** Every model has a price and every account money, unless the test sets them itself. */
function paidFor(given: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const keys = (given['keys'] ?? [{ name: 'test', secret: testKey }]) as { account?: string }[]
  const accounts = Object.fromEntries(
    ['default', ...keys.map(({ account }) => account ?? 'default')].map((id) => [
      id,
      { credit: '1000000' },
    ]),
  )
  return {
    ...given,
    // Otherwise a server that was ready a moment before would continue to serve for a while after SIGTERM.
    server: { drainDelayMs: 0, ...(given['server'] as object | undefined) },
    keys,
    accounts: { ...accounts, ...(given['accounts'] as object | undefined) },
    models: { '*': { prices: { input: '1', output: '2' } }, ...(given['models'] as object) },
  }
}

/** Vendors' keys in the developer's own environment must not become channels. */
function environment(more: Readonly<Record<string, string>> = {}): Record<string, string> {
  const { PATH = '', HOME = '' } = process.env
  return { PATH, HOME, LOG_LEVEL: 'warn', TOLLGATE_CONSOLE: 'off', ...more }
}

type Child = Bun.Subprocess<'ignore', 'pipe', 'pipe'>

class GatewayProcess implements Gateway {
  url = ''
  readonly key = testKey
  readonly dataDir: string
  readonly #folder: string
  readonly #child: Child
  readonly #output: Promise<unknown>
  readonly #listening = Promise.withResolvers<void>()
  readonly #killed = () => this.#child.kill('SIGKILL')
  #stdout = ''
  #stderr = ''

  constructor(child: Child, folder: string) {
    this.#child = child
    this.#folder = folder
    this.dataDir = join(folder, 'data')
    process.once('exit', this.#killed)
    this.#output = Promise.all([
      follow(child.stdout, (text) => {
        this.#stdout += text
        const found = /https?:\/\/[\d.]+:\d+/.exec(this.#stdout)
        if (found === null || this.url !== '') return
        this.url = found[0]
        this.#listening.resolve()
      }),
      follow(child.stderr, (text) => {
        this.#stderr += text
      }),
    ])
  }

  get pid(): number {
    return this.#child.pid
  }

  get stderr(): string {
    return this.#stderr
  }

  async logged(text: string): Promise<void> {
    const deadline = performance.now() + rowLimitMs
    while (!this.#stderr.includes(text)) {
      if (performance.now() > deadline) throw new Error(`not in the log: ${text}`)
      await Bun.sleep(20)
    }
  }

  async ready(): Promise<void> {
    const late = Promise.withResolvers<never>()
    const timer = setTimeout(
      () => late.reject(new Error(`the gateway did not start in time:\n${this.#stderr}`)),
      startLimitMs,
    )
    const exited = this.#child.exited.then(async (code) => {
      await this.#output
      throw new Error(`the gateway ended with ${code}:\n${this.#stderr}`)
    })
    try {
      await Promise.race([this.#listening.promise, exited, late.promise])
    } finally {
      clearTimeout(timer)
      exited.catch(() => undefined)
    }
  }

  async usage(): Promise<readonly UsageRow[]> {
    const store = await openStore({ dataDir: this.dataDir, databaseUrl: null })
    try {
      return await store.usage.list({ limit: 1_000_000 })
    } finally {
      await store.close()
    }
  }

  async row(requestId: string): Promise<UsageRow> {
    const deadline = performance.now() + rowLimitMs
    for (;;) {
      const found = (await this.usage()).find((row) => row.requestId === requestId)
      if (found !== undefined) return found
      if (performance.now() > deadline) throw new Error(`no usage row for ${requestId}`)
      await Bun.sleep(20)
    }
  }

  async metrics(): Promise<string> {
    return await (await fetch(`${this.url}/metrics`)).text()
  }

  post(path: string, body: unknown, options: PostOptions = {}): Promise<Response> {
    return fetch(this.url + path, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${this.key}`,
        'content-type': 'application/json',
        ...options.headers,
      },
      body: typeof body === 'string' ? body : JSON.stringify(body),
      ...(options.signal === undefined ? {} : { signal: options.signal }),
    })
  }

  async stop(): Promise<number> {
    this.#child.kill('SIGTERM')
    // A stream that a test left open must not delay the tests, so the drain is cut short.
    const timer = setTimeout(this.#killed, 2_000)
    const code = await this.#child.exited
    clearTimeout(timer)
    await this.#output
    process.off('exit', this.#killed)
    rmSync(this.#folder, { recursive: true, force: true })
    return code
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop()
  }
}

async function follow(stream: ReadableStream<Uint8Array>, take: (text: string) => void) {
  const decoder = new TextDecoder()
  for await (const bytes of stream) take(decoder.decode(bytes, { stream: true }))
}

/** Resident memory of a process. */
export function residentBytes(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) * 1024
}

/** The number of open sockets of a process. */
export function openSockets(pid: number): number {
  const listing = Bun.spawnSync(['ls', '-l', `/proc/${pid}/fd`]).stdout.toString()
  return listing.split('\n').filter((line) => line.includes('socket:')).length
}
