// kill -9 of the server while it archives what is past its time: each request is in the files once in the end, none is lost.

import { describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { anyInstant, eventually } from '../support/clients.ts'
import { type Deployment, deploy, engineCases, expectCleanAudit } from '../support/deployment.ts'
import { finished, lessee } from '../support/ledger-scene.ts'
import { repetitions } from '../support/long.ts'

const kills = repetitions(1, 6)
const dayMs = 86_400_000
/** Over five days, so that there is more than one file. */
const requests = 30_000
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

/** Ids in files that are whole, however many times each is in one. */
function archived(dataDir: string): string[] {
  const folder = join(dataDir, 'archive')
  try {
    const entries = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    const files = entries.filter((name) => name.endsWith('.ndjson.gz'))
    return files.flatMap((name) => {
      const text = gunzipSync(readFileSync(join(folder, name))).toString('utf8')
      return text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line).requestId)
    })
  } catch {
    return []
  }
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
        const before = archived(deployment.dataDir()).length
        const server = await deployment.start()
        await eventually(() => archived(deployment.dataDir()).length > before || undefined, waitMs)
        await anyInstant(500)
        await server.kill()
        const kept = new Set((await left()).map(({ requestId }) => requestId))
        expect(ids.difference(kept.union(new Set(archived(deployment.dataDir())))).size).toBe(0)
        if (kept.size === 0) break
      }
      await deployment.start()
      await eventually(async () => (await left()).length === 0 || undefined, waitMs)
      const found = archived(deployment.dataDir())
      expect(found).toHaveLength(requests)
      expect(new Set(found)).toEqual(ids)
      await expectCleanAudit(deployment)
    } finally {
      await deployment.remove()
    }
  }, 180_000)
})
