// Tests shared limits with a real server: shared exactly, local while it is away, shared again afterwards.

import { afterAll, expect, test } from 'bun:test'
import { createServer } from 'node:net'
import { RedisClient } from 'bun'
import { createLimiter } from './create.ts'
import type { Admitted, Limiter, LimitScope, Refused } from './limiter.ts'
import { createValkeyLimiter } from './valkey.ts'

const binary = Bun.which('valkey-server') ?? Bun.which('redis-server')
const given = process.env.TEST_VALKEY_URL
const cleanups: (() => unknown)[] = []
afterAll(async () => {
  for (const clean of cleanups.reverse()) await clean()
})

interface Server {
  readonly url: string
  stop(): void
  resume(): void
  kill(): Promise<void>
  start(): Promise<void>
}

async function freePort(): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>()
  const server = createServer()
  server.listen(0, '127.0.0.1', () => {
    const address = server.address()
    server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0))
  })
  return promise
}

/** A separate server without persistence: after a kill it has no data. */
async function ownServer(path: string): Promise<Server> {
  const port = await freePort()
  const command = [
    path,
    '--port',
    `${port}`,
    '--bind',
    '127.0.0.1',
    '--save',
    '',
    '--appendonly',
    'no',
  ]
  const start = async () => {
    const child = Bun.spawn(command, { stdout: 'pipe', stderr: 'ignore', cwd: '/tmp' })
    let said = ''
    for await (const chunk of child.stdout) {
      said += new TextDecoder().decode(chunk)
      if (/ready to accept connections/i.test(said)) return child
    }
    throw new Error(`the server did not start: ${said}`)
  }
  let child = await start()
  const kill = async () => {
    child.kill('SIGKILL')
    await child.exited
  }
  cleanups.push(kill)
  return {
    url: `redis://127.0.0.1:${port}`,
    stop: () => child.kill('SIGSTOP'),
    resume: () => child.kill('SIGCONT'),
    kill,
    start: async () => {
      child = await start()
    },
  }
}

interface Node extends Limiter {
  /** Resolves when the node is in this state, or enters it. */
  becomes(state: 'shared' | 'local'): Promise<void>
}

let serial = 0
const unique = () => `test-${process.pid}-${Date.now()}-${++serial}`

function node(url: string, namespace: string, nodes = 2): Node {
  let now: string | null = null
  const waiting = new Set<{ state: string; resolve: () => void }>()
  const limiter = createValkeyLimiter({
    url,
    nodes,
    namespace,
    onState: (state) => {
      now = state
      for (const each of waiting) if (each.state === state) each.resolve()
    },
  })
  cleanups.push(() => limiter.close())
  return {
    admit: (scopes, tokens, nowMs) => limiter.admit(scopes, tokens, nowMs),
    state: (scope, nowMs) => limiter.state(scope, nowMs),
    close: () => limiter.close(),
    becomes: (state) => {
      const { promise, resolve } = Promise.withResolvers<void>()
      if (now === state) resolve()
      else waiting.add({ state, resolve })
      return promise
    },
  }
}

async function pair(url: string): Promise<[Node, Node]> {
  const namespace = unique()
  const nodes: [Node, Node] = [node(url, namespace), node(url, namespace)]
  await Promise.all(nodes.map((each) => each.becomes('shared')))
  return nodes
}

const ask = async (limiter: Limiter, scopes: readonly LimitScope[], tokens = 0) =>
  limiter.admit(scopes, tokens, performance.now())

/** Returns when the server has executed all commands that this node sent before. */
const settled = (limiter: Limiter) =>
  ask(limiter, [{ id: 'key:barrier', limits: { requestsPerMinute: 1_000 } }])

const isAdmitted = (decision: Admitted | Refused): decision is Admitted => decision.admitted

function sharing(server: () => Promise<string>): void {
  test('two nodes share a limit of requests exactly', async () => {
    const [a, b] = await pair(await server())
    const scopes = [
      { id: 'key:k', limits: { requestsPerMinute: 20 } },
      { id: 'group:g', limits: { requestsPerMinute: 1_000, tokensPerMinute: 100_000 } },
    ]
    const startedAt = performance.now()
    const decisions = await Promise.all(
      Array.from({ length: 200 }, (_, n) => ask(n % 2 ? a : b, scopes)),
    )
    const later = Math.floor((performance.now() - startedAt) / 3_000)
    expect(decisions.filter(isAdmitted).length).toBeWithin(20, 21 + later)
    const refused = decisions.find((decision) => !decision.admitted)
    expect(refused).toMatchObject({
      kind: 'requests',
      scope: 'key:k',
      state: { requests: { remaining: 0, limit: 20 } },
    })
    const other = await ask(a, [{ id: 'group:g', limits: { requestsPerMinute: 1_000 } }])
    expect(other.state.requests?.remaining).toBeGreaterThanOrEqual(979)
    // A thousand a minute is one in 60 ms.
    const back = Math.ceil((performance.now() - startedAt) / 60)
    expect(other.state.requests?.remaining).toBeLessThanOrEqual(979 + back)
  })

  test('what is in use is read by any node, and reading takes nothing', async () => {
    const [a, b] = await pair(await server())
    const scope = {
      id: 'channel:c',
      limits: { requestsPerMinute: 1_000_000, tokensPerMinute: 60_000 },
    }
    expect(await b.state(scope, performance.now())).toMatchObject({
      requests: { remaining: 1_000_000 },
    })
    const startedAt = performance.now()
    await a.admit([scope], 30_000, startedAt)
    for (const node of [b, b, a]) {
      const { tokens } = await node.state(scope, performance.now())
      const back = performance.now() - startedAt + 1
      expect(tokens?.limit).toBe(60_000)
      expect(tokens?.remaining).toBeWithin(30_000, 30_001 + back)
    }
  })

  test('tokens are corrected across nodes, back and into debt', async () => {
    const [a, b] = await pair(await server())
    const scopes = [{ id: 'key:k', limits: { tokensPerMinute: 60 } }]
    const first = await ask(a, scopes, 60)
    if (!first.admitted) throw new Error('refused')
    expect((await ask(b, scopes, 1)).admitted).toBe(false)
    first.finish(20, performance.now())
    await settled(a)
    const second = await ask(b, scopes, 40)
    if (!second.admitted) throw new Error('refused')
    second.finish(160, performance.now())
    await settled(b)
    const third = await ask(a, scopes, 1)
    if (third.admitted) throw new Error('admitted')
    expect(third.kind).toBe('tokens')
    expect(third.retryAfterMs).toBeGreaterThan(115_000)
    expect(third.retryAfterMs).toBeLessThanOrEqual(121_000)
  })

  test('a request that began before a limit was added leaves its meter as it is', async () => {
    const [a, b] = await pair(await server())
    const before: LimitScope = { id: 'key:k', limits: { tokensPerMinute: 60_000 } }
    const after: LimitScope = {
      id: 'key:k',
      limits: { tokensPerMinute: 60_000, requestsPerMinute: 1 },
    }
    const old = await ask(a, [before], 100)
    expect((await ask(b, [after])).admitted).toBe(true)
    if (old.admitted) old.finish(50_000, performance.now())
    await settled(a)
    const { requests, tokens } = await b.state(after, performance.now())
    expect(requests?.remaining).toBe(0)
    expect(tokens?.remaining).toBeWithin(10_000, 14_000)
    expect((await ask(b, [after])).admitted).toBe(false)
  })

  test('places are shared, given back by finish, and lapse with their node', async () => {
    const url = await server()
    const namespace = unique()
    const [a, b] = [node(url, namespace), node(url, namespace)]
    await Promise.all([a.becomes('shared'), b.becomes('shared')])
    const scopes = [{ id: 'key:k', limits: { concurrentRequests: 3 } }]
    const held = (await Promise.all([a, b, a, b, a].map((each) => ask(each, scopes)))).filter(
      isAdmitted,
    )
    expect(held.length).toBe(3)
    held[0]?.finish(0, performance.now())
    held[0]?.finish(0, performance.now())
    // Nobody waits for a finish, but it arrives before the next command of the same node.
    const again = (await Promise.all([a, a, b, b].map((each) => ask(each, scopes)))).filter(
      isAdmitted,
    )
    expect(again.length).toBe(1)
    const raw = new RedisClient(url)
    const leases = `{${namespace}:limits}:c:key:k`
    const members: unknown = await raw.send('ZRANGE', [leases, '0', '-1'])
    if (!Array.isArray(members)) throw new Error('no leases')
    expect(members.length).toBe(3)
    // The leases of a dead node, which nobody renews; here they are moved to the moment they expire.
    for (const member of members)
      await raw.send('ZADD', [leases, String(Date.now() - 1), String(member)])
    raw.close()
    expect((await ask(b, scopes)).admitted).toBe(true)
  })

  test('nothing is taken from any scope when one refuses', async () => {
    const [a] = await pair(await server())
    const group = { id: 'group:g', limits: { requestsPerMinute: 10, concurrentRequests: 10 } }
    const key = { id: 'key:k', limits: { concurrentRequests: 1 } }
    expect((await ask(a, [group, key])).admitted).toBe(true)
    for (let n = 0; n < 20; n += 1)
      expect(await ask(a, [group, key])).toMatchObject({ admitted: false, kind: 'concurrent' })
    expect((await ask(a, [group])).state.requests?.remaining).toBe(8)
  })

  test('state is forgotten by the server once nothing is in use', async () => {
    const url = await server()
    const namespace = unique()
    const a = node(url, namespace)
    await a.becomes('shared')
    const decision = await ask(a, [
      { id: 'key:k', limits: { requestsPerMinute: 60, concurrentRequests: 5 } },
    ])
    expect(decision.admitted).toBe(true)
    const raw = new RedisClient(url)
    const prefix = `{${namespace}:limits}`
    expect(await raw.send('PTTL', [`${prefix}:m:key:k`])).toBeWithin(1, 2_001)
    expect(await raw.send('PTTL', [`${prefix}:c:key:k`])).toBeWithin(1, 30_001)
    expect(await raw.send('PTTL', [`${prefix}:nodes`])).toBeWithin(1, 15_001)
    raw.close()
  })
}

function outages(path: string): void {
  test('a killed server leaves each node its part; restarted, it is shared again and nothing is forgotten', async () => {
    const server = await ownServer(path)
    const [a, b] = await pair(server.url)
    const scopes = [{ id: 'key:k', limits: { requestsPerMinute: 20 } }]
    const seats = [{ id: 'key:s', limits: { concurrentRequests: 4 } }]
    for (let n = 0; n < 4; n += 1) expect((await ask(n % 2 ? a : b, scopes)).admitted).toBe(true)
    for (let n = 0; n < 3; n += 1) expect((await ask(a, seats)).admitted).toBe(true)
    await server.kill()
    await Promise.all([a.becomes('local'), b.becomes('local')])
    let alone = 0
    for (let n = 0; n < 60; n += 1) {
      const decision = (n % 2 ? a : b).admit(scopes, 0, performance.now())
      if (decision instanceof Promise) throw new Error('asked an absent server')
      if (decision.admitted) alone += 1
    }
    expect(alone).toBe(16)
    expect(await ask(a, seats)).toMatchObject({ admitted: false, kind: 'concurrent' })
    await server.start()
    await Promise.all([a.becomes('shared'), b.becomes('shared')])
    await settled(a)
    const after = await ask(b, scopes)
    // 20 were admitted within a moment: the restarted server has its data only from the nodes.
    expect(after.admitted).toBe(false)
    const places = await Promise.all([b, b, a].map((each) => ask(each, seats)))
    expect(places.filter(isAdmitted).length).toBe(1)
  }, 20_000)

  test('a hung server costs 250 ms once; awake again, what it did late is counted once', async () => {
    const server = await ownServer(path)
    const [a, b] = await pair(server.url)
    const scopes = [
      {
        id: 'key:k',
        limits: { requestsPerMinute: 20, tokensPerMinute: 2_000, concurrentRequests: 20 },
      },
    ]
    const early = await ask(a, scopes, 0)
    server.stop()
    const startedAt = performance.now()
    const during = await Promise.all(Array.from({ length: 6 }, () => ask(a, scopes, 100)))
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(200)
    expect(during.filter(isAdmitted).length).toBe(6)
    expect(a.admit(scopes, 100, performance.now())).not.toBeInstanceOf(Promise)
    for (const decision of during.slice(0, 2))
      if (decision.admitted) decision.finish(50, performance.now())
    if (early.admitted) early.finish(0, performance.now())
    server.resume()
    await Promise.all([a.becomes('shared'), b.becomes('shared')])
    await settled(a)
    const { state } = await ask(b, scopes, 0)
    // 1 early, 6 late and 1 alone, then this one; tokens: 7 x 100 less 2 x 50; one is refilled every 3 s, and 33 tokens
    // a second.
    expect(state.requests?.remaining).toBeWithin(11, 13)
    expect(state.tokens?.remaining).toBeWithin(1_400, 1_500)
    const rest = await Promise.all(
      Array.from({ length: 40 }, () =>
        ask(b, [{ id: 'key:k', limits: { concurrentRequests: 20 } }]),
      ),
    )
    expect(rest.filter(isAdmitted).length).toBe(20 - 5 - 1)
  }, 20_000)

  test('a server that is not there at start is found when it comes', async () => {
    const server = await ownServer(path)
    await server.kill()
    const a = node(server.url, unique(), 3)
    await a.becomes('local')
    const scopes = [{ id: 'key:k', limits: { requestsPerMinute: 30 } }]
    const alone = await Promise.all(Array.from({ length: 30 }, () => ask(a, scopes)))
    expect(alone.filter(isAdmitted).length).toBe(10)
    await server.start()
    await a.becomes('shared')
    const shared = await Promise.all(Array.from({ length: 30 }, () => ask(a, scopes)))
    expect(shared.filter(isAdmitted).length).toBe(20)
  }, 20_000)

  test('a server that lost the scripts is given them again', async () => {
    const server = await ownServer(path)
    const namespace = unique()
    const a = node(server.url, namespace, 1)
    await a.becomes('shared')
    const scopes = [{ id: 'key:k', limits: { requestsPerMinute: 5 } }]
    const raw = new RedisClient(server.url)
    await raw.send('SCRIPT', ['FLUSH'])
    expect((await ask(a, scopes)).admitted).toBe(true)
    raw.close()
  }, 20_000)
}

test('without an address limits are local and synchronous', async () => {
  const limiter = createLimiter({ valkeyUrl: null, nodes: 1, workers: 1, onState: () => undefined })
  expect(limiter.admit([], 0, 0)).toMatchObject({ admitted: true })
  await limiter.close()
})

if (given !== undefined) sharing(async () => given)
else if (binary !== null) {
  const server = ownServer(binary)
  sharing(async () => (await server).url)
} else
  console.warn('left out: shared limits (no TEST_VALKEY_URL, no valkey-server or redis-server)')
if (binary !== null) outages(binary)
else console.warn('left out: outages of the limits server (no valkey-server or redis-server)')
