// Tests that what the gateway depends on fails under load and returns: money is neither lost nor doubled, nor spent
// twice.

import { describe, expect, test } from 'bun:test'
import pg from 'pg'
import { cutOf } from '../contract/databases.ts'
import { expectCharged, type Load, startLoad } from '../crash/gateway-load.ts'
import { anyInstant, eventually } from '../support/clients.ts'
import {
  chat,
  codeOf,
  type Deployment,
  deploy,
  expectBalances,
  expectCleanAudit,
  postgresCases,
} from '../support/deployment.ts'
import { isLong, repetitions } from '../support/long.ts'
import { type Proxy, startProxy } from '../support/proxy.ts'

const hello = { model: 'sandbox/chat+tokens=2' }
/** One unit for each request, whatever its tokens. */
const perRequest = { '*': { prices: { input: '0', output: '0', request: '1000000' } } }
const unitNano = 1_000_000_000n

/** Sends one request after another until one is refused; returns the number of answered ones, and the refusal. */
async function askUntilRefused(url: string, most: number) {
  for (let answered = 0; answered <= most; answered += 1) {
    const outcome = await chat(url, 'acme', hello)
    if (outcome.status !== 200) return { answered, refused: outcome }
  }
  throw new Error(`more than ${most} requests were answered`)
}

/** Resolves when a request is answered again. Returns how long that took. */
async function servedAgain(url: string): Promise<number> {
  const startedMs = performance.now()
  await eventually(
    async () => ((await chat(url, 'acme', hello)).status === 200 ? true : undefined),
    15_000,
  )
  return performance.now() - startedMs
}

async function settled({ store }: Deployment, requests: number): Promise<void> {
  await eventually(async () => {
    const rows = await store.usage.list({ limit: 1_000_000 })
    return rows.filter(({ chargeNano }) => chargeNano > 0n).length === requests ? true : undefined
  }, 15_000)
}

describe.each(postgresCases)('P6: $engine goes away', ({ databaseUrl }) => {
  async function scene(
    options: { readonly credit: string; readonly config?: object },
    play: (deployment: Deployment, proxy: Proxy, url: string) => Promise<void>,
  ): Promise<void> {
    const proxy = await startProxy(databaseUrl ?? '')
    const deployment = await deploy({
      databaseUrl,
      through: proxy.through,
      credits: { acme: options.credit },
      config: { ...options.config },
    })
    try {
      const server = await deployment.start()
      await play(deployment, proxy, server.url)
      server.signal('SIGTERM')
      expect(await server.exited).toBe(0)
      expect((await deployment.store.journal.wallet('acme'))?.leasedNano).toBe(0n)
      await expectCleanAudit(deployment)
    } finally {
      await deployment.remove()
      await proxy.close()
    }
  }

  test.each(['cut', 'stall'] as const)(
    '%s: leases serve, then 503, then all is caught up',
    async (how) => {
      const config = { models: perRequest }
      await scene({ credit: '100', config }, async (deployment, proxy, url) => {
        // By now the lease is a fifth of the balance, which two answers of the ledger have reported.
        for (let n = 0; n < 3; n += 1) expect((await chat(url, 'acme', hello)).status).toBe(200)
        proxy[how]()
        const { answered, refused } = await askUntilRefused(url, 100)
        expect(answered).toBeGreaterThan(5)
        expect([refused.status, codeOf(refused)]).toEqual([503, 'service_unavailable'])
        if (isLong) expect(refused.elapsedMs).toBeLessThan(1_000)
        await anyInstant(1_000)
        proxy.restore()
        const againMs = await servedAgain(url)
        await settled(deployment, 3 + answered + 1)
        await expectBalances(deployment, { acme: 100n * unitNano })
        console.log(
          `database ${how}: ${answered} requests served from the lease, then 503 after ${Math.round(refused.elapsedMs)} ms; ` +
            `served again ${Math.round(againMs)} ms after it was back`,
        )
      })
    },
    60_000,
  )

  test('first calls after a rest are served from what nodes keep of accounts used lately', async () => {
    const accounts = ['ann', 'bob', 'cid']
    const proxy = await startProxy(databaseUrl ?? '')
    const deployment = await deploy({
      databaseUrl,
      through: proxy.through,
      credits: Object.fromEntries(accounts.map((account) => [account, '100'])),
      config: { models: perRequest },
    })
    try {
      const servers = await Promise.all([0, 1].map((node) => deployment.start({ node })))
      const callEach = () =>
        Promise.all(
          servers.flatMap(({ url }) => accounts.map((account) => chat(url, account, hello))),
        )
      for (const { status } of await callEach()) expect(status).toBe(200)
      // Both nodes have the amount that ten more requests of each account may hold.
      await eventually(async () => {
        const wallets = await Promise.all(
          accounts.map((account) => deployment.store.journal.wallet(account)),
        )
        const kept = wallets.map((wallet) => wallet?.leasedNano ?? 0n)
        return kept.every((nano) => nano >= 20n * unitNano) ? true : undefined
      }, 15_000)
      proxy.cut()
      const statuses = (await callEach()).map(({ status }) => status)
      expect(statuses).toEqual(statuses.map(() => 200))
      proxy.restore()
      await settled(deployment, 12)
      await expectBalances(
        deployment,
        Object.fromEntries(accounts.map((account) => [account, 100n * unitNano])),
      )
      for (const server of servers) server.signal('SIGTERM')
      for (const server of servers) expect(await server.exited).toBe(0)
      for (const account of accounts)
        expect((await deployment.store.journal.wallet(account))?.leasedNano).toBe(0n)
      await expectCleanAudit(deployment)
    } finally {
      await deployment.remove()
      await proxy.close()
    }
  }, 60_000)

  test('connections that break again and again under load: every reply is charged once', async () => {
    const credits = { credit: '1000' }
    await scene(credits, async (deployment, proxy, url) => {
      const admin = new pg.Client({ connectionString: databaseUrl ?? '' })
      await admin.connect()
      const load = startLoad([url], ['acme'], 18)
      const breaks = repetitions(6, 40)
      for (let n = 0; n < breaks; n += 1) {
        await anyInstant(100)
        if (n % 2 === 0) proxy.breakAll()
        else {
          await admin.query(cutOf(deployment.databaseUrl ?? ''))
        }
      }
      const answers = () => load.seen.filter(({ status, whole }) => status === 200 && whole)
      await eventually(() => answers().length > breaks || undefined, 30_000)
      await load.stop()
      await admin.end()
      await servedAgain(url)
      const answered = answers()
      const refused = load.seen.filter(({ status }) => status !== 200 && status !== 0)
      expect(refused.filter(({ status }) => status !== 503)).toEqual([])
      await eventually(async () => {
        const found = await deployment.store.usage.list({ limit: 1_000_000 })
        const known = new Set(found.map(({ requestId }) => requestId))
        const due = load.seen.filter(({ requestId, status }) => status === 200 && requestId !== '')
        return due.every(({ requestId }) => known.has(requestId)) ? true : undefined
      })
      const rows = await expectBalances(deployment, { acme: 1_000n * unitNano })
      expectCharged(load.seen, rows)
      console.log(
        `${breaks} times all connections broken: ${answered.length} replies, each charged once`,
      )
    })
  }, 60_000)
})

/** As many replies as there are clients. */
async function someMore(load: Load): Promise<void> {
  const before = load.seen.length
  await eventually(() => load.seen.length >= before + 18 || undefined, 30_000)
}

const valkeyUrl = Bun.env['TEST_VALKEY_URL']
const valkeyCases = valkeyUrl === undefined ? [] : [{ url: valkeyUrl }]

describe.each(valkeyCases)('P7: the server of the limits goes away', ({ url: valkey }) => {
  test('no request fails, and each is charged once', async () => {
    const proxy = await startProxy(valkey)
    const groups = { default: { models: ['*'], limits: { requestsPerMinute: 1_000_000 } } }
    const deployment = await deploy({
      databaseUrl: null,
      credits: { acme: '1000' },
      config: { groups },
    })
    try {
      const server = await deployment.start({ env: { VALKEY_URL: proxy.through(valkey) } })
      const load = startLoad([server.url], ['acme'], 18)
      for (const take of [proxy.cut, proxy.stall, proxy.breakAll]) {
        await someMore(load)
        take()
        await someMore(load)
        proxy.restore()
      }
      await load.stop()
      server.signal('SIGTERM')
      expect(await server.exited).toBe(0)
      const due = load.seen.filter(({ dueNano }) => dueNano !== null)
      expect(due.filter(({ whole, status }) => !whole || status !== 200)).toEqual([])
      const rows = await expectBalances(deployment, { acme: 1_000n * unitNano })
      expect(expectCharged(load.seen, rows)).toBe(due.length)
      await expectCleanAudit(deployment)
    } finally {
      await deployment.remove()
      await proxy.close()
    }
  }, 60_000)
})
