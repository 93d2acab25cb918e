// Tests a gateway that is stopped under load, one that is suspended past its lease, and what a server refuses.

import { describe, expect, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { eventually, pace } from '../support/clients.ts'
import {
  chat,
  type Deployment,
  deploy,
  engineCases,
  expectBalances,
  expectCleanAudit,
  type Outcome,
  postgresCases,
} from '../support/deployment.ts'
import { isLong, repetitions } from '../support/long.ts'
import { expectCharged, startLoad, startLongStream } from './gateway-load.ts'

const unitNano = 1_000_000_000n
/** Limit for events that happen eventually: a busy host is slow. */
const patienceMs = 30_000
/** The hold is exactly its maximum cost, so that a wallet can be spent to its last unit. */
const hello = { model: 'sandbox/chat+tokens=2', max_tokens: 2 }

async function expectNothingLeased({ store }: Deployment, account: string): Promise<void> {
  const wallet = await store.journal.wallet(account)
  expect(wallet).toMatchObject({ account, leasedNano: 0n, heldNano: 0n })
}

describe.each(engineCases)('P2: SIGTERM under load on $engine', ({ engine, databaseUrl }) => {
  test.each(isLong ? [1, 2] : [databaseUrl === null ? 1 : 2])(
    '%d processes: whole replies are whole, streams end or say why not, nothing stays leased',
    async (workers) => {
      const deployment = await deploy({
        databaseUrl,
        credits: { acme: '1000' },
        config: { server: { drainMs: 1_500 } },
      })
      try {
        const server = await deployment.start({ workers })
        const load = startLoad([server.url], ['acme'], 24)
        const long = await startLongStream(server.url, 'acme')
        await eventually(
          () => (load.seen.length > repetitions(60, 200) ? true : undefined),
          patienceMs,
        )
        server.signal('SIGTERM')
        const startedMs = performance.now()
        expect(await server.exited).toBe(0)
        const stopMs = performance.now() - startedMs
        await load.stop()
        const cut = await long.ended
        const rows = await expectBalances(deployment, { acme: 1_000n * unitNano })
        expectCharged(load.seen, rows)
        expectNoneFailed(load.seen, rows)
        expect({ status: cut.status, whole: cut.whole }).toEqual({ status: 200, whole: false })
        expect(cut.text).toContain('data: {"error":{"message":"The gateway is restarting."')
        expect(rows.find(({ requestId }) => requestId === cut.requestId)).toMatchObject({
          status: 200,
          errorCode: 'service_unavailable',
        })
        await expectNothingLeased(deployment, 'acme')
        await expectCleanAudit(deployment)
        const answered = load.seen.filter(({ status }) => status === 200).length
        const unanswered = load.seen.filter(
          ({ status, dueNano }) => status === 0 && dueNano !== null,
        )
        console.log(
          `${engine}, ${workers} processes: ${answered} requests answered, ${unanswered.length} found nobody, ` +
            `ended ${Math.round(stopMs)} ms after SIGTERM`,
        )
      } finally {
        await deployment.remove()
      }
    },
    120_000,
  )
})

type Rows = Awaited<ReturnType<typeof expectBalances>>

/** Every admitted request got its reply: whole, or as a stream to its end or to an error event. */
function expectNoneFailed(
  seen: readonly (Outcome & { readonly dueNano: bigint | null })[],
  rows: Rows,
): void {
  const answered = new Set(seen.filter(({ whole }) => whole).map(({ requestId }) => requestId))
  const wholeRows = rows.filter(({ stream, status }) => !stream && status === 200)
  expect(wholeRows.filter(({ requestId }) => !answered.has(requestId))).toEqual([])
  const refused = seen.filter(({ status }) => status !== 200 && status !== 0)
  expect(refused.filter(({ status }) => status !== 503)).toEqual([])
  const cut = seen.filter(
    ({ status, whole, dueNano }) => status === 200 && !whole && dueNano !== null,
  )
  expect(cut.filter(({ text }) => !text.includes('data: {"error":'))).toEqual([])
}

describe.each(postgresCases)('I21, P3 on $engine', ({ databaseUrl }) => {
  const ledger = { leaseMs: 3_000, renewMs: 300, fenceMs: 2_000 }
  const models = { '*': { prices: { input: '0', output: '1000', request: '1000000' } } }

  test('a node that stood still past its lease spends nothing that others have by then', async () => {
    const deployment = await deploy({
      databaseUrl,
      credits: { acme: '30' },
      config: { ledger, models },
    })
    try {
      const [still, other] = await Promise.all([
        deployment.start({ node: 0 }),
        deployment.start({ node: 1 }),
      ])
      // If the disk stalls for longer than the lease, a node refuses until it has renewed.
      for (let n = 0; n < 3; n += 1) await served(still.url)
      const long = { model: 'sandbox/chat+tokens=20000+gap=1', stream: true }
      const streams = [0, 1, 2].map(() => chat(still.url, 'acme', long))
      await eventually(async () => {
        const wallet = await deployment.store.journal.wallet('acme')
        return (wallet?.heldNano ?? 0n) > 3n * unitNano ? true : undefined
      }, patienceMs)
      still.signal('SIGSTOP')
      // It may have been stopped within a transaction, whose locks PostgreSQL ends after 5 s.
      await eventually(
        () => (other.stderr.includes('had not renewed in time') ? true : undefined),
        patienceMs,
      )
      // All is the other node's now; it spends what there is.
      const spent = await spendAll(other.url)
      const asked = Array.from({ length: 20 }, () => chat(still.url, 'acme', hello))
      await pace(200)
      still.signal('SIGCONT')
      const continuedMs = performance.now()
      const refused = await Promise.all(asked)
      expect(refused.filter(({ status }) => status !== 503 && status !== 429)).toEqual([])
      const ended = await Promise.all(streams)
      const endedMs = performance.now() - continuedMs
      for (const { text, whole } of ended) {
        expect(whole).toBeFalse()
        expect(text).toContain('data: {"error":')
      }
      // By themselves they would last more than 20 s.
      if (isLong) expect(endedMs).toBeLessThan(10_000)
      await eventually(async () => {
        const rows = await deployment.store.usage.list({ limit: 100_000 })
        const known = new Set(rows.map(({ requestId }) => requestId))
        return ended.every(({ requestId }) => known.has(requestId)) ? true : undefined
      }, patienceMs)
      const rows = await expectBalances(deployment, { acme: 30n * unitNano })
      const streamed = rows.filter(({ stream }) => stream)
      expect(streamed).toHaveLength(3)
      for (const { chargeNano, writeoffNano } of streamed) {
        expect(chargeNano + writeoffNano).toBeGreaterThan(unitNano)
        expect(writeoffNano).toBeGreaterThan(0n)
      }
      await expectCleanAudit(deployment)
      await deployment.command('account', 'credit', 'acme', '5', '--reason', 'test')
      await served(still.url)
      console.log(
        `stopped past its lease: the other node spent ${spent} requests, the streams ended ${Math.round(endedMs)} ms after it went on`,
      )
      for (const server of [still, other]) {
        server.signal('SIGTERM')
        expect(await server.exited).toBe(0)
      }
      await expectNothingLeased(deployment, 'acme')
      await expectCleanAudit(deployment)
    } finally {
      await deployment.remove()
    }
  }, 150_000)
})

async function served(url: string): Promise<void> {
  await eventually(
    async () => ((await chat(url, 'acme', hello)).status === 200 ? true : undefined),
    patienceMs,
  )
}

/**
 * Retries a request that is refused because running requests hold the money, since what a closed node held may be on
 * its way back. Also retries if told to come again: on a busy host a node may renew its lease too late, and then it
 * serves nobody until it has.
 */
async function spendAll(url: string): Promise<number> {
  const deadlineMs = performance.now() + patienceMs
  let answered = 0
  for (let refusals = 0; refusals < 10; ) {
    const { status, text } = await chat(url, 'acme', hello)
    if (status === 503 && performance.now() < deadlineMs) {
      await pace(50)
      continue
    }
    if (status === 429) {
      if (!text.includes('Requests under way hold')) return answered
      refusals += 1
      continue
    }
    expect(status).toBe(200)
    answered += 1
    refusals = 0
  }
  return answered
}

describe('refused', () => {
  test('P11: a file with a price that is none; the old prices stay', async () => {
    const deployment = await deploy({ databaseUrl: null, credits: { acme: '1' } })
    try {
      const server = await deployment.start()
      const config = readFileSync(deployment.configFile, 'utf8')
      writeFileSync(deployment.configFile, config.replace('"output":"2"', '"output":"two"'))
      server.signal('SIGHUP')
      await eventually(() =>
        server.stderr.includes('was refused; the old one stays') ? true : undefined,
      )
      await served(server.url)
      // The price of the old file: 6 tokens of prompt, 2 of reply.
      await eventually(async () => {
        const [row] = await deployment.store.usage.list({ limit: 1 })
        return row?.chargeNano === 10_000n ? true : undefined
      })
      await expectCleanAudit(deployment)
    } finally {
      await deployment.remove()
    }
  })

  test.each(engineCases)(
    'P12: a second server on the same data, on $engine; the first goes on',
    async ({ databaseUrl }) => {
      const deployment = await deploy({ databaseUrl, credits: { acme: '1' } })
      try {
        const server = await deployment.start()
        const second = await deployment.start().catch((error: Error) => error.message)
        expect(second).toContain(`(pid ${server.pid})`)
        await served(server.url)
        await expectCleanAudit(deployment)
      } finally {
        await deployment.remove()
      }
    },
  )
})
