// Tests several workers on one port: all serve, one may die, none outlives the server, and a stop drains them.

import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { authorized, eventually } from './support/clients.ts'
import { parsePrometheus } from './support/prometheus.ts'
import { postJson } from './support/requests.ts'
import {
  run,
  type ServerOptions,
  type ServerProcess,
  startServer,
} from './support/server-process.ts'

const hello = { model: 'sandbox/chat', messages: [{ role: 'user', content: 'Hello' }] }
const slowStream = { ...hello, model: 'sandbox/chat+tokens=30+gap=50', stream: true }
const keyForm = /sk-tg-[0-9A-Za-z]{38}/g

const servers: ServerProcess[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) await end(server)
})

async function end(server: ServerProcess): Promise<void> {
  await server.kill()
  server.remove()
}

async function start(options: ServerOptions = {}, dataDir?: string): Promise<ServerProcess> {
  const server = await startServer(dataDir, { words: ['--workers', '3'], ...options })
  servers.push(server)
  return server
}

/** With this configuration from its first start. */
async function startWith(config: object, env: Record<string, string> = {}) {
  const dataDir = mkdtempSync(join(tmpdir(), 'tollgate-server-'))
  const file = join(dataDir, 'tollgate.yaml')
  writeFileSync(file, JSON.stringify(config))
  const server = await start({ words: ['--workers', '3', '--config', file], env }, dataDir)
  return { server, file }
}

/** The output of a start that must not succeed. */
async function refusal(options: ServerOptions, dataDir?: string): Promise<string> {
  const outcome = await start(options, dataDir).catch((error: Error) => error)
  if (!(outcome instanceof Error)) throw new Error('it started')
  return outcome.message
}

function childrenOf(pid: number): number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
    .split(' ')
    .filter(Boolean)
    .map(Number)
}

function runs(pid: number): boolean {
  try {
    // A process that has ended stays listed until its parent has waited for it.
    return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return false
    throw error
  }
}

/** The first of this many consecutive ports on which nobody listens. */
function freePorts(count: number): Promise<number> {
  const take = (port: number) => Bun.serve({ hostname: '127.0.0.1', port, fetch: Response.error })
  return eventually(async () => {
    const servers = [take(0)]
    try {
      const first = servers[0]?.port ?? 0
      for (let n = 1; n < count; n += 1) servers.push(take(first + n))
      return first
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EADDRINUSE')) throw error
      return undefined
    } finally {
      await Promise.all(servers.map((server) => server.stop(true)))
    }
  })
}

function secretOf(server: ServerProcess): string {
  return server.stdout.match(keyForm)?.[0] ?? ''
}

/** A chat on a separate connection, which the system gives to any of the workers. */
async function chat(server: ServerProcess, secret: string): Promise<Response> {
  const reply = await postJson(`${server.url}/v1/chat/completions`, hello, {
    ...authorized(secret),
    connection: 'close',
  })
  await reply.bytes()
  return reply
}

/** The start time of the worker that happens to answer, by its slot. */
async function whoAnswers(server: ServerProcess): Promise<[worker: string, startSeconds: number]> {
  const reply = await fetch(`${server.url}/metrics`, { headers: { connection: 'close' } })
  const samples = parsePrometheus(await reply.text())
  expect(samples.every(({ labels }) => labels['worker'] !== undefined)).toBeTrue()
  const start = samples.find(({ name }) => name === 'process_start_time_seconds')
  return [start?.labels['worker'] ?? '', start?.value ?? 0]
}

/** Sends requests until this many workers have answered. */
function answering(server: ServerProcess, count: number): Promise<Map<string, number>> {
  const seen = new Map<string, number>()
  return eventually(async () => {
    seen.set(...(await whoAnswers(server)))
    return seen.size === count ? seen : undefined
  })
}

/** Resolves to the text of the stream once its first bytes have come, when it is running. */
async function openStream(server: ServerProcess): Promise<{ rest: Promise<string> }> {
  const reply = await postJson(
    `${server.url}/v1/chat/completions`,
    slowStream,
    authorized(secretOf(server)),
  )
  const reader = reply.body?.getReader()
  if (reader === undefined) throw new Error('the reply has no body')
  const first = new TextDecoder().decode((await reader.read()).value)
  if (reply.status !== 200) throw new Error(`${reply.status}: ${first}`)
  const rest = (async () => {
    let text = ''
    const decoder = new TextDecoder()
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return text
      text += decoder.decode(value, { stream: true })
    }
  })()
  return { rest }
}

describe('serving', () => {
  let server: ServerProcess
  beforeAll(async () => {
    server = await startServer(undefined, { words: ['--workers', '3'] })
  })
  afterAll(() => end(server))

  test('every worker answers, under one key printed once', async () => {
    expect(childrenOf(server.pid)).toHaveLength(3)
    expect([...(await answering(server, 3)).keys()].sort()).toEqual(['0', '1', '2'])
    const secret = secretOf(server)
    expect(new Set(server.stdout.match(keyForm))).toEqual(new Set([secret]))
    expect(JSON.parse(await run(server.dataDir, 'key', 'list', '--json'))).toHaveLength(1)
    for (let n = 0; n < 12; n += 1) expect((await chat(server, secret)).status).toBe(200)
  })

  test('a limit is divided among them', async () => {
    const words = [
      'key',
      'create',
      '--account',
      'default',
      '--group',
      'default',
      '--name',
      'limited',
    ]
    const made = await run(server.dataDir, ...words, '--rpm', '90', '--json')
    const { secret } = JSON.parse(made) as { secret: string }
    const reply = await eventually(async () => {
      const got = await chat(server, secret)
      return got.status === 200 ? got : undefined
    })
    expect(reply.headers.get('x-ratelimit-limit-requests')).toBe('30')
  })

  test('each alone answers for its health at a port of its own', async () => {
    const healthPort = await freePorts(3)
    const { server: own } = await startWith({ server: { healthPort } })
    for (const slot of [0, 1, 2]) {
      const at = `http://127.0.0.1:${healthPort + slot}`
      expect((await fetch(`${at}/readyz`)).status).toBe(200)
      expect((await fetch(`${at}/v1/models`)).status).toBe(404)
      const samples = parsePrometheus(await (await fetch(`${at}/metrics`)).text())
      expect(new Set(samples.map(({ labels }) => labels['worker']))).toEqual(new Set([`${slot}`]))
    }
    expect((await chat(own, secretOf(own))).status).toBe(200)
  })

  test('SIGHUP has all of them read the configuration again', async () => {
    const { server: own } = await startWith({ currency: 'USD' }, { LOG_LEVEL: 'info' })
    own.signal('SIGHUP')
    const workers = await eventually(() => {
      const lines = own.stderr.split('\n').filter((line) => line.includes('was taken over'))
      const said = new Set(lines.map((line) => (JSON.parse(line) as { worker: number }).worker))
      return said.size === 3 ? said : undefined
    })
    expect([...workers].sort()).toEqual([0, 1, 2])
  })
})

describe('a worker that dies', () => {
  test('is started again while the others serve', async () => {
    const server = await start()
    const secret = secretOf(server)
    const before = await answering(server, 3)
    const pids = childrenOf(server.pid)
    const [victim = 0] = pids
    process.kill(victim, 'SIGKILL')
    // Its parent is notified when the last of its threads has ended, and with that the connections it had not accepted
    // yet.
    await eventually(() => (server.stderr.includes('"signal":"SIGKILL"') ? true : undefined))
    for (let n = 0; n < 20; n += 1) expect((await chat(server, secret)).status).toBe(200)
    await eventually(() => (childrenOf(server.pid).length === 3 ? true : undefined))
    const after = await eventually(async () => {
      const seen = await answering(server, 3)
      return [...seen].some(([worker, at]) => before.get(worker) !== at) ? seen : undefined
    })
    expect([...after].filter(([worker, at]) => before.get(worker) !== at)).toHaveLength(1)
  })

  test('stays away while the configuration wants a restart of all', async () => {
    const { server, file } = await startWith({ currency: 'USD' })
    writeFileSync(file, '{ "currency": "EUR" }')
    const [victim = 0] = childrenOf(server.pid)
    process.kill(victim, 'SIGKILL')
    await eventually(() =>
      server.stderr.includes('changed until the next start: currency') ? true : undefined,
    )
    expect((await chat(server, secretOf(server))).status).toBe(200)
    expect(childrenOf(server.pid)).toHaveLength(2)
  })
})

describe('the end', () => {
  const pair = { words: ['--workers', '2'] }

  test('kill -9 takes the workers along, also one that is stopped; the next start has the data at once', async () => {
    const first = await start(pair)
    const secret = secretOf(first)
    const pids = childrenOf(first.pid)
    process.kill(pids[1] ?? 0, 'SIGSTOP')
    await first.kill()
    const startedMs = performance.now()
    await eventually(() => (pids.some(runs) ? undefined : true), 1_000)
    const goneMs = performance.now() - startedMs
    const second = await start(
      { words: ['--workers', '2', '--port', new URL(first.url).port] },
      first.dataDir,
    )
    expect((await chat(second, secret)).status).toBe(200)
    console.log(`all workers gone ${Math.round(goneMs)} ms after the supervisor`)
  })

  test('a start that does not wait for the killed ones takes over the same port', async () => {
    const first = await start(pair)
    const port = new URL(first.url).port
    await first.kill()
    const second = await start({ words: ['--workers', '2', '--port', port] }, first.dataDir)
    expect((await chat(second, secretOf(first))).status).toBe(200)
  })

  test.each(['SIGTERM', 'SIGINT'] as const)('%s drains a running stream', async (signal) => {
    const server = await start(pair)
    const pids = childrenOf(server.pid)
    const stream = await openStream(server)
    server.signal(signal)
    expect(await stream.rest).toEndWith('data: [DONE]\n\n')
    expect(await server.exited).toBe(0)
    expect(pids.some(runs)).toBeFalse()
  })

  test('Ctrl-C, which a terminal sends to every process, drains as well', async () => {
    const server = await start(pair)
    const stream = await openStream(server)
    for (const pid of [...childrenOf(server.pid), server.pid]) process.kill(pid, 'SIGINT')
    expect(await stream.rest).toEndWith('data: [DONE]\n\n')
    expect(await server.exited).toBe(0)
  })

  test('a second signal ends streams at once', async () => {
    const server = await start(pair)
    const long = { ...slowStream, model: 'sandbox/chat+tokens=600+gap=50' }
    const reply = await postJson(
      `${server.url}/v1/chat/completions`,
      long,
      authorized(secretOf(server)),
    )
    const text = reply.text()
    server.signal('SIGTERM')
    // Signals within a second of the first are the same request to stop; the stream would last half a minute.
    const repeating = setInterval(() => server.signal('SIGTERM'), 100)
    expect(await server.exited).toBe(0)
    clearInterval(repeating)
    expect(await text).not.toContain('[DONE]')
  })
})

describe('refused', () => {
  let server: ServerProcess
  beforeAll(async () => {
    server = await startServer(undefined, { words: ['--workers', '2'] })
  })
  afterAll(() => end(server))

  test('a second server on the same data, with and without workers', async () => {
    for (const words of [['--workers', '2'], []]) {
      const message = await refusal({ words }, server.dataDir)
      expect(message).toContain('ended with 1')
      expect(message).toContain(`(pid ${server.pid})`)
    }
  })

  test('the port of another server, also of one that shares it with its own', async () => {
    for (const count of ['1', '2']) {
      const words = ['--workers', count, '--port', new URL(server.url).port]
      expect(await refusal({ words })).toContain('Cannot listen on')
    }
  })

  test('a worker without a supervisor', async () => {
    const message = 'TOLLGATE_WORKER is set by Tollgate itself'
    const env = { TOLLGATE_WORKER: '1' }
    expect(await refusal({ words: [], env }, server.dataDir)).toContain(message)
    expect(await refusal({ words: [], env })).toContain(message)
  })

  test('a start that fails in the workers leaves nothing behind', async () => {
    const env = { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' }
    expect(await refusal({ env })).toContain('ended with 1')
  })
})
