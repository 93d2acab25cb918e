// Tests requests that need the database while it cannot be reached or does not answer: refused as unavailable, in time.

import { describe, expect, test } from 'bun:test'
import pg from 'pg'
import { authorized, eventually } from '../support/clients.ts'
import { chat, deploy, keyOf, postgresCases } from '../support/deployment.ts'
import { startProxy } from '../support/proxy.ts'

/** Connections that wait for a lock of the one that asks. */
const blocked =
  'SELECT pid FROM pg_stat_activity WHERE pg_backend_pid() = ANY(pg_blocking_pids(pid))'
const idle = `SELECT pid FROM pg_stat_activity WHERE pid = $1 AND state = 'idle in transaction'`

/** Opening a connection may take 5 s, and a query 10 s. */
const longestMs = 17_000

/** Reads by key that no lease serves, each with the status that it has while all is well. */
const reads: readonly (readonly [path: string, status: number, body?: object])[] = [
  ['/api/me/balance', 200],
  ['/api/me/usage', 200],
  ['/v1/videos', 200],
  ['/v1/videos/video_none', 404],
  ['/v1/responses/resp_none', 404],
  ['/v1/responses', 400, { model: 'sandbox/chat', input: 'x', previous_response_id: 'resp_none' }],
]

describe.each(postgresCases)('the database of $engine is away', ({ databaseUrl }) => {
  test.each(['cut', 'stall'] as const)(
    '%s: 503 with retry-after, and all is well afterwards',
    async (how) => {
      const proxy = await startProxy(databaseUrl ?? '')
      const { through } = proxy
      const deployment = await deploy({ databaseUrl, credits: { acme: '10' }, through })
      try {
        const { url, said } = await deployment.start()
        const ask = async ([path, , body]: (typeof reads)[number]) => {
          const startMs = performance.now()
          const post = body && { method: 'POST', body: JSON.stringify(body) }
          const reply = await fetch(url + path, { headers: authorized(keyOf('acme')), ...post })
          const { error } = (await reply.json()) as { readonly error?: { readonly code: string } }
          const { status, headers } = reply
          expect(performance.now() - startMs).toBeLessThan(longestMs)
          return { status, code: error?.code, retryAfter: headers.get('retry-after') }
        }
        const statuses = () => Promise.all(reads.map(async (read) => (await ask(read)).status))
        const usual = reads.map(([, status]) => status)
        expect(await statuses()).toEqual(usual)
        proxy[how]()
        const away = { status: 503, code: 'service_unavailable', retryAfter: '2' }
        expect(await Promise.all(reads.map(ask))).toEqual(reads.map(() => away))
        await said('a request needed the store, which is away')
        proxy.restore()
        await eventually(async () => Bun.deepEquals(await statuses(), usual) || undefined)
        await eventually(
          async () =>
            (await chat(url, 'acme', { model: 'sandbox/chat' })).status === 200 || undefined,
        )
      } finally {
        await deployment.remove()
        await proxy.close()
      }
    },
  )

  test('requests refused while settlement lags leave no record that would delay it, unless they have a key to free', async () => {
    const proxy = await startProxy(databaseUrl ?? '')
    const deployment = await deploy({
      databaseUrl,
      credits: { acme: '10' },
      config: { ledger: { maxLagMs: 200 } },
      through: proxy.through,
    })
    try {
      const { url } = await deployment.start()
      const isReady = async () => (await fetch(`${url}/readyz`)).status === 200 || undefined
      const ask = async (model: string, headers: Readonly<Record<string, string>> = {}) => {
        const reply = await fetch(`${url}/v1/chat/completions`, {
          method: 'POST',
          headers: { ...authorized(keyOf('acme')), ...headers },
          body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello' }] }),
        })
        await reply.text()
        return { status: reply.status, requestId: reply.headers.get('x-request-id') }
      }
      await eventually(isReady, 15_000)
      expect((await ask('sandbox/chat')).status).toBe(200)
      proxy.cut()
      // The lease would serve more; what was served is not settled.
      await eventually(
        async () => ((await ask('sandbox/chat')).status === 503 && !(await isReady())) || undefined,
      )
      const models = ['sandbox/chat', 'unknown']
      const refused = await Promise.all(models.map((model) => ask(model)))
      expect(refused.map(({ status }) => status)).toEqual([503, 404])
      const keyed = await ask('sandbox/chat', { 'idempotency-key': 'again' })
      expect(keyed.status).toBe(503)
      proxy.restore()
      await eventually(isReady, 15_000)
      const last = await ask('sandbox/chat', { 'idempotency-key': 'again' })
      expect(last.status).toBe(200)
      // Records are settled in their order.
      const ids = await eventually(async () => {
        const rows = await deployment.store.usage.list({ limit: 1_000 })
        const found = rows.map(({ requestId }) => requestId)
        return found.includes(last.requestId ?? '') ? found : undefined
      })
      expect(ids).toContain(keyed.requestId ?? '')
      for (const { requestId } of refused) expect(ids).not.toContain(requestId ?? '')
    } finally {
      await deployment.remove()
      await proxy.close()
    }
  })

  test('a connection that the database ends within a transaction: 503 with retry-after', async () => {
    const deployment = await deploy({ databaseUrl, credits: { acme: '10' } })
    const other = new pg.Client({ connectionString: deployment.databaseUrl ?? '' })
    await other.connect()
    try {
      const words = 'management-key create --name m --scopes write'.split(' ')
      const { secret } = await deployment.command(...words)
      const server = await deployment.start()
      const pidOf = async (sql: string, ...values: number[]) =>
        (await other.query<{ readonly pid: number }>(sql, values)).rows[0]?.pid
      await other.query(`BEGIN; SELECT 1 FROM ledger_account WHERE id = 'wallet:acme' FOR UPDATE`)
      const adjusting = fetch(`${server.url}/api/accounts/acme/adjustments`, {
        method: 'POST',
        headers: { ...authorized(secret), 'content-type': 'application/json' },
        body: JSON.stringify({ amount: '1', direction: 'credit', reason: 'a gift' }),
      })
      const pid = await eventually(() => pidOf(blocked))
      server.signal('SIGSTOP')
      await other.query('COMMIT')
      await eventually(() => pidOf(idle, pid))
      await other.query('SELECT pg_terminate_backend($1)', [pid])
      await eventually(async () => (await pidOf(idle, pid)) === undefined || undefined)
      server.signal('SIGCONT')
      const reply = await adjusting
      expect([reply.status, reply.headers.get('retry-after')]).toEqual([503, '2'])
      expect(server.stderr).not.toContain('internal error')
    } finally {
      await other.end()
      await deployment.remove()
    }
  })

  test('a stream that outgrows the lease meanwhile ends as unavailable, not for lack of money', async () => {
    const proxy = await startProxy(databaseUrl ?? '')
    const deployment = await deploy({
      databaseUrl,
      credits: { acme: '10' },
      config: { models: { '*': { prices: { input: '0', output: '1000' } } } },
      through: proxy.through,
    })
    try {
      const { url } = await deployment.start()
      // It costs 4, of which the lease covers about 2.
      const body = { model: 'sandbox/chat+tokens=4000+gap=1', stream: true }
      const seen = await chat(url, 'acme', body, undefined, () => proxy.cut())
      expect([seen.status, seen.whole]).toEqual([200, false])
      const last = seen.text.trimEnd().split('\n').at(-1) ?? ''
      expect(JSON.parse(last.replace('data: ', '')).error).toMatchObject({
        message: expect.stringContaining('cannot account for more of it at present'),
        code: 'service_unavailable',
      })
      proxy.restore()
      const row = await eventually(async () => (await deployment.store.usage.list({ limit: 1 }))[0])
      expect(row).toMatchObject({ requestId: seen.requestId, errorCode: 'service_unavailable' })
      expect(row.chargeNano).toBe(BigInt(row.output) * 1_000_000n)
      expect(row.output).toBeGreaterThan(0)
    } finally {
      await deployment.remove()
      await proxy.close()
    }
  })

  test('a stream that runs when the leases end says so, not that the gateway restarts', async () => {
    const proxy = await startProxy(databaseUrl ?? '')
    const config = { ledger: { renewMs: 100, fenceMs: 500, leaseMs: 60_000 } }
    const { through } = proxy
    const deployment = await deploy({ databaseUrl, credits: { acme: '10' }, config, through })
    try {
      const { url } = await deployment.start()
      const body = { model: 'sandbox/chat+tokens=3000+gap=20', stream: true }
      const seen = await chat(url, 'acme', body, undefined, () => proxy.cut())
      expect([seen.status, seen.whole]).toEqual([200, false])
      expect(seen.text).toContain('cannot account for more of it at present')
    } finally {
      await deployment.remove()
      await proxy.close()
    }
  })
})
