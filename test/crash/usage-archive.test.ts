// Tests kill -9 of the server while it archives old requests: in the end each request is in the files once, and none is
// lost.

import { describe, expect, test } from 'bun:test'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { startBucket } from '../support/bucket.ts'
import { anyInstant, eventually } from '../support/clients.ts'
import {
  type Deployment,
  deploy,
  engineCases,
  expectCleanAudit,
  postgresCases,
} from '../support/deployment.ts'
import { finished, lessee } from '../support/ledger-scene.ts'
import { repetitions } from '../support/long.ts'

const kills = repetitions(1, 6, 3)
const dayMs = 86_400_000
/** Over five days, so that there is more than one file. */
const requests = repetitions(10_000, 30_000, 10_000)
const waitMs = 60_000

async function fillWithOld({ store }: Deployment): Promise<Set<string>> {
  const ref = await lessee(store, 'gone', 'acme', 0n)
  const ids = Array.from(
    { length: requests },
    (_, index) => `req_${String(index).padStart(9, '0')}`,
  )
  const beginning = Date.now() - 10 * dayMs
  for (let from = 0; from < requests; from += 500) {
    const rows = ids.slice(from, from + 500).map((requestId, index) => {
      const at = beginning + ((from + index) * 5 * dayMs) / requests
      return finished(ref, { requestId, at, account: 'acme', chargeNano: 0n, priceVersion: null })
    })
    await store.settlements.settle(rows)
  }
  return new Set(ids)
}

function idsIn(content: Uint8Array): string[] {
  const lines = gunzipSync(content).toString('utf8').trimEnd().split('\n')
  return lines.map((line) => JSON.parse(line).requestId)
}

/** Ids in complete files, as often as each occurs. */
function archived(dataDir: string): string[] {
  const folder = join(dataDir, 'archive')
  if (!existsSync(folder)) return []
  const entries = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  const files = entries.filter((name) => name.endsWith('.ndjson.gz'))
  return files.flatMap((name) => idsIn(readFileSync(join(folder, name))))
}

/** Each id occurs exactly once. */
async function expectArchivedOnce(
  deployment: Deployment,
  found: readonly string[],
  ids: ReadonlySet<string>,
): Promise<void> {
  expect(found).toHaveLength(requests)
  expect(new Set(found)).toEqual(new Set(ids))
  await expectCleanAudit(deployment)
}

describe.each(engineCases)('kill -9 of a server that archives, on $engine', ({ databaseUrl }) => {
  test('no request is lost or written twice, and the audit finds nothing', async () => {
    const config = { usage: { keepDays: 1, archive: true } }
    const deployment = await deploy({ databaseUrl, credits: { acme: '10' }, config })
    try {
      const first = await deployment.start()
      const { store } = deployment
      const ids = await fillWithOld(deployment)
      await first.kill()
      const left = () => store.usage.list({ limit: requests, account: 'acme' })
      for (let kill = 0; kill < kills; kill += 1) {
        const before = (await left()).length
        const server = await deployment.start()
        await eventually(async () => (await left()).length < before || undefined, waitMs)
        await anyInstant(500)
        await server.kill()
        const kept = new Set((await left()).map(({ requestId }) => requestId))
        expect(ids.difference(kept.union(new Set(archived(deployment.dataDir())))).size).toBe(0)
        if (kept.size === 0) break
      }
      await deployment.start()
      await eventually(async () => (await left()).length === 0 || undefined, waitMs)
      await expectArchivedOnce(deployment, archived(deployment.dataDir()), ids)
    } finally {
      await deployment.remove()
    }
  }, 180_000)
})

describe.each(postgresCases)('two nodes and one bucket on $engine', ({ databaseUrl }) => {
  test('each request is in one file, also where a node is killed on the way', async () => {
    await using bucket = startBucket()
    const { url: endpoint, name, accessKeyId, secretAccessKey } = bucket
    const s3 = { endpoint, bucket: name, accessKeyId, secretAccessKey }
    const config = { usage: { keepDays: 1, archive: true }, media: { store: { s3 } } }
    const deployment = await deploy({ databaseUrl, credits: { acme: '10' }, config })
    try {
      const ids = await fillWithOld(deployment)
      const [first] = await Promise.all([0, 1].map((node) => deployment.start({ node })))
      await eventually(() => bucket.objects.size > 0 || undefined, waitMs)
      await anyInstant(300)
      await first?.kill()
      // The node that had the turn continues, or the other does once the turn is over.
      await deployment.start({ node: 0 })
      const left = () => deployment.store.usage.list({ limit: 1, account: 'acme' })
      await eventually(async () => (await left()).length === 0 || undefined, waitMs)
      const found = [...bucket.objects.values()].flatMap(({ bytes }) => idsIn(bytes))
      await expectArchivedOnce(deployment, found, ids)
    } finally {
      await deployment.remove()
    }
  }, 180_000)
})
