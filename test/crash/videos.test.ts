// Tests kill -9 of a gateway at each state of its videos: each is charged once or not at all, and nothing stays held.

import { describe, expect, test } from 'bun:test'
import { anyInstant, authorized, eventually } from '../support/clients.ts'
import {
  type Deployment,
  deploy,
  engineCases,
  expectBalances,
  expectCleanAudit,
  keyOf,
  postgresCases,
} from '../support/deployment.ts'
import { briefly, repetitions } from '../support/long.ts'
import type { ServerProcess } from '../support/server-process.ts'
import { type JobStatus, startVideoVendor, type VideoVendor } from '../support/video-vendor.ts'
import { ready } from './gateway-load.ts'

/** A second of sora-2 costs 0.1, and 4 are made. */
const videoNano = 400_000_000n
const creditNano = 100_000_000_000n
const credits = { acme: '100' }
const rounds = repetitions(1, 4, 2)
/** The state that the vendor reports for a video as the gateway is killed. */
const states = repetitions<readonly JobStatus[]>(
  ['queued', 'completed'],
  ['queued', 'in_progress', 'completed', 'completed', 'completed'],
)

interface Scene {
  readonly vendor: VideoVendor
  readonly deployment: Deployment
}

async function scene(databaseUrl: string | null): Promise<Scene> {
  const vendor = startVideoVendor()
  const channel = {
    id: 'films',
    vendor: 'openai',
    baseUrl: vendor.url,
    key: 'sk-vendor-0123456789',
  }
  const config = {
    channels: [{ ...channel, models: { 'sora-2': 'sora-2' } }],
    models: { 'sora-2': { kind: 'video', prices: { second: '100000' } } },
    ledger: { leaseMs: 3_000, renewMs: 500, fenceMs: 1_500 },
  }
  return { vendor, deployment: await deploy({ databaseUrl, credits, config }) }
}

/** The status of the reply; 0 if the connection broke. */
async function begin(server: ServerProcess, key: string | null = null): Promise<number> {
  try {
    const reply = await fetch(`${server.url}/v1/videos`, {
      method: 'POST',
      headers: {
        ...authorized(keyOf('acme')),
        ...(key !== null && { 'idempotency-key': key }),
      },
      body: JSON.stringify({ model: 'sora-2', prompt: 'a cat', seconds: '4' }),
    })
    await reply.text()
    return reply.status
  } catch {
    return 0
  }
}

async function started({ deployment }: Scene, node = 0): Promise<ServerProcess> {
  const server = await deployment.start({ node })
  await ready(server)
  return server
}

const page = { limit: 100, order: 'asc', after: null } as const

/** All stored videos have ended. */
async function allEnded({ deployment }: Scene): Promise<void> {
  await eventually(async () => {
    const rows = await deployment.store.videos.list('acme', page)
    return rows.every(({ state }) => state !== 'running') ? true : undefined
  }, 30_000)
}

/** The books: this many videos charged, each once, and nothing held. */
async function expectBooks(scene: Scene, least: number, most: number): Promise<void> {
  const { deployment } = scene
  const rows = await expectBalances(deployment, { acme: creditNano })
  const charged = rows.filter(({ chargeNano }) => chargeNano > 0n)
  expect(
    charged.every(({ chargeNano, status }) => chargeNano === videoNano && status === 200),
  ).toBe(true)
  expect(charged.length).toBeGreaterThanOrEqual(least)
  expect(charged.length).toBeLessThanOrEqual(most)
  const done = await deployment.store.videos.list('acme', page)
  expect(done.filter(({ state }) => state === 'completed')).toHaveLength(charged.length)
  await expectCleanAudit(deployment)
}

async function closed(scene: Scene, server: ServerProcess): Promise<void> {
  server.signal('SIGTERM')
  expect(await server.exited).toBe(0)
  const wallet = await scene.deployment.store.journal.wallet('acme')
  expect(wallet).toMatchObject({ leasedNano: 0n, heldNano: 0n })
}

/** One video that is being made; the gateway is killed while the video has this state at its vendor. */
async function killedWhile(scene: Scene, status: JobStatus): Promise<void> {
  const { vendor } = scene
  const server = await started(scene)
  vendor.hooks = {}
  vendor.first = 'queued'
  expect(await begin(server)).toBe(200)
  const job = vendor.job(-1)
  const seen = Promise.withResolvers<void>()
  vendor.hooks = { polled: () => seen.resolve() }
  job.status = status
  await seen.promise
  await anyInstant(30)
  await server.kill()
  vendor.hooks = {}
}

describe.each(briefly(1, engineCases))(
  'I6, I7: videos of a gateway that is killed, on $engine',
  (engineCase) => {
    const { databaseUrl } = engineCase

    test('before its vendor has accepted it: not charged, and its key is free again', async () => {
      const place = await scene(databaseUrl)
      const { vendor, deployment } = place
      const { promise: gone, resolve: leave } = Promise.withResolvers<void>()
      try {
        const server = await started(place)
        const asked = Promise.withResolvers<void>()
        vendor.hooks = {
          create: async () => {
            asked.resolve()
            await gone
            return undefined
          },
        }
        const broken = begin(server, 'once')
        await asked.promise
        await server.kill()
        expect(await broken).toBe(0)
        vendor.hooks = {}
        vendor.first = 'completed'
        const again = await started(place)
        expect(await deployment.store.videos.list('acme', page)).toEqual([])
        expect(await begin(again, 'once')).toBe(200)
        expect(await begin(again, 'once')).toBe(200)
        await allEnded(place)
        await closed(place, again)
        await expectBooks(place, 1, 1)
        expect(vendor.jobs).toHaveLength(1)
      } finally {
        leave()
        await deployment.remove()
        await vendor.stop()
      }
    }, 120_000)

    test('as its vendor accepts it: kept and charged once, or unknown and free', async () => {
      const place = await scene(databaseUrl)
      const { vendor, deployment } = place
      try {
        let answered = 0
        for (let round = 0; round < rounds; round += 1) {
          const server = await started(place)
          vendor.first = 'completed'
          const accepted = Promise.withResolvers<void>()
          vendor.hooks = { created: () => accepted.resolve() }
          const broken = begin(server)
          await accepted.promise
          await anyInstant(4 * (round + 1))
          await server.kill()
          if ((await broken) === 200) answered += 1
          vendor.hooks = {}
        }
        const last = await started(place)
        await allEnded(place)
        await closed(place, last)
        await expectBooks(place, answered, rounds)
      } finally {
        await deployment.remove()
        await vendor.stop()
      }
    }, 120_000)

    test('queued, in progress, and as it completes, again and again: charged once', async () => {
      const place = await scene(databaseUrl)
      const { vendor, deployment } = place
      try {
        for (const status of states) await killedWhile(place, status)
        const last = await started(place)
        for (const job of vendor.jobs) job.status = 'completed'
        await allEnded(place)
        await closed(place, last)
        await expectBooks(place, states.length, states.length)
      } finally {
        await deployment.remove()
        await vendor.stop()
      }
    }, 120_000)

    test('right after it was charged: not charged again', async () => {
      const place = await scene(databaseUrl)
      const { vendor, deployment } = place
      try {
        for (let round = 1; round <= rounds; round += 1) {
          const server = await started(place)
          vendor.first = 'completed'
          expect(await begin(server)).toBe(200)
          await eventually(async () => {
            const rows = await deployment.store.usage.list({ limit: 100 })
            return rows.length === round ? true : undefined
          })
          await server.kill()
        }
        const last = await started(place)
        await allEnded(place)
        await closed(place, last)
        await expectBooks(place, rounds, rounds)
      } finally {
        await deployment.remove()
        await vendor.stop()
      }
    }, 120_000)

    test('stopped in good order, it is held for and goes on with the next start, also in two workers', async () => {
      const place = await scene(databaseUrl)
      const { vendor, deployment } = place
      try {
        const server = await started(place)
        expect(await begin(server)).toBe(200)
        server.signal('SIGTERM')
        expect(await server.exited).toBe(0)
        const wallet = await deployment.store.journal.wallet('acme')
        expect([wallet?.leasedNano, wallet?.heldNano]).toEqual([videoNano, videoNano])
        await expectCleanAudit(deployment)
        vendor.job(0).status = 'completed'
        const last = await deployment.start({ workers: 2 })
        await ready(last)
        await allEnded(place)
        await closed(place, last)
        await expectBooks(place, 1, 1)
      } finally {
        await deployment.remove()
        await vendor.stop()
      }
    }, 120_000)

    test('one that fails after a kill is free, and what was held for it is too', async () => {
      const place = await scene(databaseUrl)
      const { vendor, deployment } = place
      try {
        await killedWhile(place, 'in_progress')
        const held = await deployment.store.journal.wallet('acme')
        expect(held?.heldNano).toBeGreaterThanOrEqual(videoNano)
        vendor.job(0).status = 'failed'
        const last = await started(place)
        await allEnded(place)
        await closed(place, last)
        await expectBooks(place, 0, 0)
        const [row] = await deployment.store.usage.list({ limit: 10 })
        expect(row).toMatchObject({ status: 500, errorCode: 'server_error', chargeNano: 0n })
        expect(row?.failedAttempts).toMatchObject([
          { channel: 'films', costNano: String(videoNano) },
        ])
      } finally {
        await deployment.remove()
        await vendor.stop()
      }
    }, 120_000)
  },
)

describe.each(postgresCases)('videos of several nodes on $engine', ({ databaseUrl }) => {
  test('another node goes on with a killed one’s video, and two that ask charge once', async () => {
    const place = await scene(databaseUrl)
    const { vendor, deployment } = place
    try {
      const first = await started(place, 0)
      expect(await begin(first)).toBe(200)
      await first.kill()
      const others = [await started(place, 1), await started(place, 2)]
      vendor.job(0).status = 'completed'
      await allEnded(place)
      for (const server of others) await closed(place, server).catch(() => undefined)
      await expectBooks(place, 1, 1)
    } finally {
      await deployment.remove()
      await vendor.stop()
    }
  }, 120_000)
})
