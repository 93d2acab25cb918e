// Tests videos whose vendors misbehave: none is held for ever, and none is charged for work that was not done.

import { afterEach, expect, test } from 'bun:test'
import { createSpools } from '../../src/blobs/spool.ts'
import { fileSchema } from '../../src/config/schema.ts'
import { createPriceBook } from '../../src/meter/price-book.ts'
import { VideoJobs } from '../../src/operations/videos/jobs.ts'
import {
  encodeAuthorization,
  type VideoObject,
  type VideoWork,
  videoOf,
} from '../../src/operations/videos/work.ts'
import type { Channel } from '../../src/relay/channel.ts'
import type { RelayRooms } from '../../src/relay/request.ts'
import type { NodeRef, PriceRow } from '../../src/store/ledger.ts'
import { openStore } from '../../src/store/open.ts'
import type { Store } from '../../src/store/store.ts'
import type { UsageRow } from '../../src/store/usage-row.ts'
import { MediaFault } from '../../src/vendors/media.ts'
import type { VideoAdapter, VideoNews } from '../../src/vendors/video.ts'
import { makeDirectory } from '../contract/databases.ts'
import { usageRow } from '../contract/store.ts'
import { eventually } from '../support/clients.ts'
import { fund, hourMs, lessee } from '../support/ledger-scene.ts'

const secondNano = 100_000_000n
const askedNano = 8n * secondNano
const fundNano = 10n * askedNano

const ends: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

interface Stage {
  readonly store: Store
  readonly jobs: VideoJobs
  readonly cancelled: string[]
  readonly logged: string[]
  begin(ageMs?: number, channel?: string): Promise<void>
  ended(): Promise<{ video: VideoObject; row: UsageRow }>
}

interface StageOptions {
  poll(times: number): VideoNews | Promise<VideoNews>
  readonly longestMs?: number
  /** Called at each change of a video; the change fails if it throws. */
  readonly change?: (kind: string) => void
}

async function stage({ poll, longestMs = 24 * hourMs, change }: StageOptions): Promise<Stage> {
  const folder = makeDirectory()
  const store = await openStore({ dataDir: folder.path, databaseUrl: null })
  await fund(store, 'ann', fundNano)
  const ref = await lessee(store, 'n1', 'ann', askedNano)
  const version = await priced(store)
  const cancelled: string[] = []
  const logged: string[] = []
  let polls = 0
  const adapter: VideoAdapter = {
    poll: async () => poll(++polls),
    content: () => Promise.reject(new Error('not asked for')),
    cancel: async ({ handle }) => void cancelled.push(handle),
  }
  const channel = {
    baseUrl: 'https://vendor.example/v1',
    timeouts: {},
    vendor: { videos: { variants: ['video'], load: async () => adapter } },
  }
  const relay = {
    channels: new Map([['films', channel as unknown as Channel]]),
    timeouts: fileSchema.parse({}).timeouts,
    dialects: {},
    scrub: (text: string) => text,
  } as unknown as RelayRooms
  const note = (_: unknown, message: string) => void logged.push(message)
  const log = { info: note, warn: note, error: note } as never
  const spools = createSpools(folder.path)
  const rows = await store.prices.all()
  const jobs = new VideoJobs({
    relay: () => relay,
    openSpool: () => spools.open(1_000_000),
    table: store.videos,
    async change(asked) {
      change?.(asked.kind)
      return store.videos.apply(asked, ref)
    },
    prices: () => createPriceBook(rows),
    longestMs: () => longestMs,
    log,
  })
  ends.push(async () => {
    await jobs.stop()
    await store.close()
    folder.remove()
  })
  return {
    store,
    jobs,
    cancelled,
    logged,
    begin: (ageMs = 0, where = 'films') => begin(store, ref, version, ageMs, where),
    async ended() {
      jobs.start()
      const row = await eventually(async () => {
        const found = await store.videos.find('ann', 'video_1')
        return found !== null && found.state !== 'running' ? found : undefined
      }, 20_000)
      const usage = await store.usage.find('ann', 'req_1')
      if (usage === null) throw new Error('not in usage')
      return { video: videoOf(row), row: usage }
    },
  }
}

async function priced(store: Store): Promise<number> {
  const card: Omit<PriceRow, 'version'> = {
    model: 'film',
    effectiveFrom: 1,
    prices: { second: '100000' },
    origin: 'set',
    source: 'test',
    sourceDate: null,
    actor: null,
    createdAt: 1,
  }
  const [version = 0] = await store.prices.append([card])
  return version
}

async function begin(
  store: Store,
  from: NodeRef,
  version: number,
  ageMs: number,
  channel: string,
): Promise<void> {
  const createdAt = Date.now() - ageMs
  const work: VideoWork = {
    channel,
    model: 'film',
    handle: 'job_1',
    kept: {},
    seconds: 8,
    size: '720x1280',
    misses: 0,
    hinted: false,
  }
  const row = usageRow({
    requestId: 'req_1',
    at: createdAt,
    operation: 'video',
    channel: 'films',
    input: 0,
    cachedInput: 0,
    output: 0,
    reasoning: 0,
    units: { 'second/720x1280': 8 },
    priceVersion: version,
    chargeNano: askedNano,
    vendorCostNano: askedNano,
  })
  const video = { id: 'video_1', object: 'video', status: 'queued', progress: 0 }
  const done = await store.videos.apply(
    {
      kind: 'begin',
      from,
      idempotency: null,
      row: {
        account: 'ann',
        id: 'video_1',
        requestId: 'req_1',
        video: JSON.stringify(video),
        work: JSON.stringify(work),
        bill: encodeAuthorization({ row, capNano: null }),
        heldNano: askedNano,
        pollAt: Date.now(),
        createdAt,
        expiresAt: createdAt + 1_000 * hourMs,
      },
    },
    null,
  )
  expect(done.state).toBe('changed')
}

async function expectPaid(store: Store, chargeNano: bigint): Promise<void> {
  expect(await store.journal.wallet('ann')).toMatchObject({
    postedNano: fundNano - chargeNano,
    leasedNano: 0n,
    heldNano: 0n,
  })
  expect((await store.audit.run(() => () => chargeNano)).findings).toEqual([])
}

test('a job that never ends has failed when its time is over: its money is free, its vendor told', async () => {
  const { store, begin, ended, cancelled } = await stage({
    poll: () => ({ state: 'running', progress: 12, pollAfterMs: 5 }),
    longestMs: 200,
  })
  await begin()
  const { video, row } = await ended()
  expect(video).toMatchObject({ status: 'failed', error: { code: 'timeout' } })
  expect(row).toMatchObject({ status: 500, chargeNano: 0n, vendorCostNano: askedNano })
  expect(row.failedAttempts).toEqual([
    { channel: 'films', kind: 'timeout', costNano: String(askedNano) },
  ])
  expect(cancelled).toEqual(['job_1'])
  await expectPaid(store, 0n)
})

test('so has one whose vendor is never heard, and one whose channel is gone', async () => {
  for (const channel of ['films', 'other']) {
    const { store, begin, ended } = await stage({
      poll: () => Promise.reject(new MediaFault({ kind: 'reset', message: 'gone' })),
      longestMs: 1_000,
    })
    await begin(2_000, channel)
    const { video } = await ended()
    expect(video.error?.code).toBe('timeout')
    await expectPaid(store, 0n)
  }
})

test('a job that its vendor does not know is looked for for a minute, and has failed then', async () => {
  const unknown = () =>
    Promise.reject(new MediaFault({ kind: 'rejected', message: 'what job?', status: 404 }))
  const early = await stage({
    poll: (times) => (times === 1 ? unknown() : { state: 'completed' }),
  })
  await early.begin(1_000)
  expect((await early.ended()).video.status).toBe('completed')
  await expectPaid(early.store, askedNano)
  const late = await stage({ poll: unknown })
  await late.begin(61_000)
  expect((await late.ended()).video.error?.code).toBe('job_lost')
  await expectPaid(late.store, 0n)
})

test('a job of which its vendor refuses to tell again and again is lost', async () => {
  const { store, begin, ended, logged } = await stage({
    poll: () =>
      Promise.reject(
        new MediaFault({ kind: 'rejected', message: 'no', status: 400, retryAfterMs: 1 }),
      ),
  })
  await begin(61_000)
  expect((await ended()).video.error?.code).toBe('job_lost')
  expect(logged).toContain('a vendor could not be asked for the state of a video')
  await expectPaid(store, 0n)
})

test('fewer seconds than were asked cost less, more cost no more', async () => {
  for (const [seconds, paidSeconds] of [
    [5, 5n],
    [8, 8n],
    [12, 8n],
    [0, 8n],
  ] as const) {
    const { store, begin, ended } = await stage({ poll: () => ({ state: 'completed', seconds }) })
    await begin()
    const { row } = await ended()
    expect([seconds, row.chargeNano]).toEqual([seconds, paidSeconds * secondNano])
    expect(row.units).toEqual({ 'second/720x1280': Number(paidSeconds) })
    await expectPaid(store, paidSeconds * secondNano)
  }
})

test('a mistake in the reader of a reply is told, and the vendor asked again', async () => {
  const { begin, ended, logged } = await stage({
    poll(times) {
      if (times === 1) throw new TypeError('a mistake')
      return { state: 'completed' }
    },
  })
  await begin()
  expect((await ended()).video.status).toBe('completed')
  expect(logged).toContain('the request for a video could not be sent to its vendor')
})

test('what was learned is kept when the store can be reached again', async () => {
  let failures = 0
  const { store, begin, ended } = await stage({
    poll: () => ({ state: 'completed' }),
    change(kind) {
      if (kind !== 'end' || failures >= 2) return
      failures += 1
      throw new Error('the store is away')
    },
  })
  await begin()
  expect((await ended()).video.status).toBe('completed')
  expect(failures).toBe(2)
  await expectPaid(store, askedNano)
})

test('asked for by its account it is asked for at once, but not twice in a moment', async () => {
  const polls: number[] = []
  const { store, jobs, begin } = await stage({
    poll(times) {
      polls.push(times)
      return { state: 'running', progress: 5 }
    },
  })
  await begin(10_000)
  jobs.start()
  await eventually(() => (polls.length > 0 ? true : undefined))
  const found = () => store.videos.find('ann', 'video_1')
  const seen = await eventually(async () => {
    const row = await found()
    return row !== null && videoOf(row).progress === 5 ? row : undefined
  })
  await jobs.hasten(seen)
  expect(polls).toEqual([1])
  await jobs.hasten({ ...seen, polledAt: seen.createdAt })
  expect(polls).toEqual([1])
})
