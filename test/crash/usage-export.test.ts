// Tests kill -9 of servers that export requests to a warehouse, while others settle: each request arrives, none is
// missing.

import { describe, expect, test } from 'bun:test'
import { startBucket } from '../support/bucket.ts'
import { type ClickHouse, linesIn, startClickHouse } from '../support/clickhouse.ts'
import { anyInstant, eventually } from '../support/clients.ts'
import {
  chat,
  type Deployment,
  deploy,
  engineCases,
  expectCleanAudit,
  postgresCases,
} from '../support/deployment.ts'
import { finished, lessee } from '../support/ledger-scene.ts'
import { repetitions } from '../support/long.ts'
import type { ServerProcess } from '../support/server-process.ts'

const kills = repetitions(3, 20, 8)
const waitMs = 60_000
const hello = { model: 'sandbox/chat', messages: [{ role: 'user', content: 'Hello' }] }
/** Settled before the servers start. */
const there = 12_000

/** Settles until it is stopped, a few at a time, some with times days ago; returns the ids. */
async function settling(deployment: Deployment, node: string, signal: AbortSignal) {
  const { store } = deployment
  const ref = await lessee(store, node, 'acme', 0n)
  const ids: string[] = []
  const rowsOf = (count: number) =>
    Array.from({ length: count }, () => {
      const requestId = `req_${node}_${String(ids.length).padStart(7, '0')}`
      ids.push(requestId)
      const at = Date.now() - (ids.length % 7) * 3_600_000
      return finished(ref, { requestId, at, account: 'acme', chargeNano: 0n, priceVersion: null })
    })
  const fill = async (count: number) => {
    for (let from = 0; from < count; from += 500) await store.settlements.settle(rowsOf(500))
  }
  const run = async () => {
    while (!signal.aborted) {
      await store.settlements.settle(rowsOf(20))
      await anyInstant(10)
    }
    return ids
  }
  return { fill, run }
}

async function isCurrent({ store }: Deployment): Promise<true | undefined> {
  const all = await store.usageExport.list()
  const isWell = all.length > 0 && all.every((each) => each.place.scan === null)
  return (isWell && all.every(({ rowsBehind }) => rowsBehind === 0)) || undefined
}

function arrived({ inserts }: ClickHouse): Set<string> {
  return new Set(inserts.flatMap(({ rows }) => rows.map((each) => each.request_id)))
}

describe.each(engineCases)('kill -9 of a server that exports, on $engine', ({ databaseUrl }) => {
  test('each request comes to ClickHouse and to the bucket', async () => {
    await using clickhouse = startClickHouse()
    await using bucket = startBucket()
    const { url: endpoint, name, accessKeyId, secretAccessKey } = bucket
    const s3 = { endpoint, bucket: name, accessKeyId, secretAccessKey }
    const settings = { clickhouse: clickhouse.settings, s3, intervalMs: 100 }
    const config = { usage: { export: settings, keepDays: 1 } }
    const deployment = await deploy({ databaseUrl, credits: { acme: '10' }, config })
    const stop = new AbortController()
    try {
      const work = await settling(deployment, 'a', stop.signal)
      await work.fill(there)
      const running = work.run()
      for (let kill = 0; kill < kills; kill += 1) {
        const server = await deployment.start()
        const before = clickhouse.inserts.length
        await eventually(() => clickhouse.inserts.length > before || undefined, waitMs)
        await anyInstant(300)
        await server.kill()
      }
      stop.abort()
      const ids = new Set(await running)
      await deployment.start()
      await eventually(() => isCurrent(deployment), waitMs)
      expect(ids.difference(arrived(clickhouse)).size).toBe(0)
      const files = [...bucket.objects.values()].flatMap(({ bytes }) => linesIn(bytes))
      expect(ids.difference(new Set(files.map((each) => each.request_id))).size).toBe(0)
      expect([...bucket.objects.keys()].every((key) => key.startsWith('usage/20'))).toBe(true)
      await expectCleanAudit(deployment)
    } finally {
      stop.abort()
      await deployment.remove()
    }
  }, 180_000)
})

describe.each(engineCases)('a warehouse that refuses, on $engine', ({ databaseUrl }) => {
  test('is told of once, holds nobody up, and gets everything when it is back', async () => {
    await using clickhouse = startClickHouse()
    clickhouse.refusal = { status: 500, text: 'Code: 241. DB::Exception: memory limit' }
    const settings = { clickhouse: clickhouse.settings, intervalMs: 100 }
    const config = { usage: { export: settings } }
    const deployment = await deploy({ databaseUrl, credits: { acme: '10' }, config })
    try {
      const server = await deployment.start()
      for (let index = 0; index < 5; index += 1) await chat(server.url, 'acme', hello)
      await server.said('requests do not leave to a warehouse')
      await eventually(() => clickhouse.asked > 2 || undefined, waitMs)
      const metrics = async () => (await fetch(`${server.url}/metrics`)).text()
      const behind = 'tollgate_export_rows_behind{destination="clickhouse"} '
      await eventually(async () => (await metrics()).includes(behind) || undefined, waitMs)
      const [failing] = await deployment.store.failingWork.all()
      const failure = 'its server answered 500: Code: 241. DB::Exception: memory limit'
      expect(failing).toMatchObject({ work: 'export', subject: 'clickhouse', failure })
      expect(server.stderr.split('requests do not leave to a warehouse')).toHaveLength(2)
      expect(server.stderr).not.toContain(clickhouse.settings.password)
      clickhouse.refusal = null
      await eventually(() => isCurrent(deployment), waitMs)
      const rows = await deployment.store.usage.list({ limit: 9 })
      expect(rows).toHaveLength(5)
      expect(arrived(clickhouse)).toEqual(new Set(rows.map(({ requestId }) => requestId)))
      await eventually(
        async () => (await deployment.store.failingWork.all()).length === 0 || undefined,
      )
    } finally {
      await deployment.remove()
    }
  }, 120_000)
})

describe.each(postgresCases)('three nodes that export on $engine', ({ databaseUrl }) => {
  test('another goes on where one is killed, and none is missing', async () => {
    await using clickhouse = startClickHouse()
    const settings = { clickhouse: clickhouse.settings, intervalMs: 100 }
    const config = { usage: { export: settings } }
    const deployment = await deploy({ databaseUrl, credits: { acme: '10' }, config })
    const stop = new AbortController()
    try {
      const works = await Promise.all(
        ['a', 'b', 'c'].map((node) => settling(deployment, node, stop.signal)),
      )
      const running = works.map((work) => work.run())
      const nodes = [0, 1, 2]
      const servers = new Map<number, ServerProcess>()
      for (const node of nodes) servers.set(node, await deployment.start({ node }))
      await eventually(() => clickhouse.inserts.length > 0 || undefined, waitMs)
      const [status] = await deployment.store.usageExport.list()
      const holding = nodes.find((node) => status?.holder.endsWith(deployment.dataDir(node)))
      if (holding === undefined) throw new Error(`Nobody is ${status?.holder}.`)
      await servers.get(holding)?.kill()
      const before = clickhouse.inserts.length
      await eventually(() => clickhouse.inserts.length > before + 2 || undefined, waitMs)
      const [after] = await deployment.store.usageExport.list()
      expect(after?.holder).not.toBe(status?.holder)
      stop.abort()
      const ids = new Set((await Promise.all(running)).flat())
      await eventually(() => isCurrent(deployment), waitMs)
      expect(ids.difference(arrived(clickhouse)).size).toBe(0)
      expect(ids.size).toBeGreaterThan(100)
    } finally {
      stop.abort()
      await deployment.remove()
    }
  }, 180_000)
})
