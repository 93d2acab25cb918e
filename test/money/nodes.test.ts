// Tests several nodes with few accounts at full load: no deadlock, no stale balance, no error, and correct books.

import { describe, expect, test } from 'bun:test'
import { expectCharged, startLoad } from '../crash/gateway-load.ts'
import { eventually } from '../support/clients.ts'
import {
  chat,
  deploy,
  expectBalances,
  expectCleanAudit,
  postgresCases,
} from '../support/deployment.ts'
import { repetitions } from '../support/long.ts'

/** The total of all load. */
const requests = repetitions(600, 20_000)
const nodes = [0, 1, 2]
const clients = 54
const hello = { model: 'sandbox/chat+tokens=2' }
/** The last one is asked for more than it has, so that its money moves between the nodes. */
const credits = { acme: '100000', bell: '100000', cyan: '100000', dent: '1' }
const creditsNano = {
  acme: 100_000_000_000_000n,
  bell: 100_000_000_000_000n,
  cyan: 100_000_000_000_000n,
  dent: 1_000_000_000n,
}

describe.each(postgresCases)('B7, B9: three nodes on $engine', ({ databaseUrl }) => {
  test('all that is answered is charged once, and nothing fails', async () => {
    const deployment = await deploy({ databaseUrl, credits })
    try {
      const servers = await Promise.all(nodes.map((node) => deployment.start({ node })))
      // Twice: an account's first lease is what its first request needs, and only the next has room for more.
      for (const { url } of [...servers, ...servers])
        for (const account of Object.keys(credits)) await chat(url, account, hello)
      const load = startLoad(
        servers.map(({ url }) => url),
        Object.keys(credits),
        clients,
      )
      const startedMs = performance.now()
      await eventually(() => load.seen.length >= requests || undefined, 120_000)
      await load.stop()
      const elapsedMs = performance.now() - startedMs
      await eventually(async () => {
        const known = new Set(
          (await deployment.store.usage.list({ limit: 1_000_000 })).map(
            ({ requestId }) => requestId,
          ),
        )
        return load.seen.every(({ requestId, status }) => status !== 200 || known.has(requestId))
          ? true
          : undefined
      })
      const settledMs = performance.now() - startedMs - elapsedMs
      const rows = await expectBalances(deployment, creditsNano)
      const answered = expectCharged(load.seen, rows)
      const failed = load.seen.filter(
        ({ status, account, dueNano }) =>
          status !== 200 && dueNano !== null && !(status === 429 && account === 'dent'),
      )
      expect(failed).toEqual([])
      await expectCleanAudit(deployment)
      for (const server of servers) {
        expect(server.stderr).toBe('')
        server.signal('SIGTERM')
        expect(await server.exited).toBe(0)
      }
      for (const account of Object.keys(credits)) {
        const wallet = await deployment.store.journal.wallet(account)
        expect(wallet).toMatchObject({ leasedNano: 0n, heldNano: 0n })
      }
      await expectCleanAudit(deployment)
      console.log(
        `${nodes.length} nodes for ${Math.round(elapsedMs / 1_000)} s: ${load.seen.length} requests, ` +
          `${Math.round((load.seen.length * 1_000) / elapsedMs)} a second, ${answered} answered whole, ` +
          `${rows.length} in usage, the last ${Math.round(settledMs)} ms after the load`,
      )
    } finally {
      await deployment.remove()
    }
  }, 300_000)
})
