// Tests when a vendor that does not know a job ends it: not at once, and not while it also reports on the job.

import { afterEach, expect, jest, test } from 'bun:test'
import { emptyRow } from '../../history/row.ts'
import { createPriceBook } from '../../meter/price-book.ts'
import type { UsageRow } from '../../store/usage-row.ts'
import type { VideoChange, VideoRow, VideoTable } from '../../store/video-table.ts'
import { MediaFault } from '../../vendors/media.ts'
import type { VideoNews } from '../../vendors/video.ts'
import { VideoJobs } from './jobs.ts'
import { encodeAuthorization } from './work.ts'

afterEach(() => {
  jest.useRealTimers()
})

const unused = (): never => {
  throw new Error('not asked here')
}
const lost = (retryAfterMs?: number) =>
  new MediaFault({
    ...{ kind: 'rejected', message: 'no such job', status: 404 },
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  })
const away = new MediaFault({ kind: 'reset', message: 'gone' })
const running: VideoNews = { state: 'running' }
const completed: VideoNews = { state: 'completed' }

/** Gives the answers to the polls of a job that is ten minutes old; the last one is repeated. */
async function endOf(answers: readonly (VideoNews | MediaFault)[]) {
  jest.useFakeTimers()
  const createdAt = Date.now() - 600_000
  const work = { channel: 'films', model: 'film', handle: 'job_1', kept: {}, seconds: 8, size: '' }
  const names = { account: 'ann', id: 'video_1', requestId: 'req_1' }
  const asked = { ...emptyRow, ...names, at: createdAt } as unknown as UsageRow
  let row: VideoRow = {
    ...names,
    ...{ state: 'running', polls: 0, pollAt: Date.now(), polledAt: null, createdAt },
    ...{ heldNano: 0n, expiresAt: createdAt + 1e9 },
    video: JSON.stringify({ id: 'video_1', status: 'queued', progress: 0 }),
    work: JSON.stringify({ ...work, misses: 0, hinted: false }),
    bill: encodeAuthorization({ row: asked, capNano: null }),
  }
  let polls = 0
  let endedAt = 0
  const startedAt = Date.now()
  const poll = async () => {
    const answer = answers[Math.min(polls, answers.length - 1)]
    polls += 1
    if (answer === undefined || answer instanceof MediaFault) throw answer
    return answer
  }
  const table: VideoTable = {
    ...{ apply: unused, find: unused, list: unused, clean: unused },
    nextPollAt: async () => (row.state === 'running' ? row.pollAt : null),
    isAnyRunning: async () => row.state === 'running',
  }
  const change = async (given: VideoChange) => {
    if (given.kind === 'note') row = { ...row, ...given, polls: row.polls + 1 }
    if (given.kind === 'end') {
      row = { ...row, state: given.state === 'completed' ? 'completed' : 'failed' }
      endedAt = Date.now()
    }
    const settled = { settled: 0, chargedNano: 0n, writtenOffNano: 0n }
    return { state: 'changed' as const, rows: given.kind === 'claim' ? [row] : [], settled }
  }
  const videos = { load: async () => ({ poll, content: unused }) }
  const channel = { baseUrl: 'https://vendor.example', timeouts: {}, vendor: { videos } }
  const log = { info: () => undefined, warn: () => undefined, error: unused }
  const jobs = new VideoJobs({
    relay: () => ({ channels: new Map([['films', channel]]), timeouts: {}, dialects: {} }),
    ...{
      openSpool: () => ({ close: () => undefined }),
      table,
      change,
      prices: () => createPriceBook([]),
      longestMs: () => 1e9,
      log,
    },
  } as unknown as ConstructorParameters<typeof VideoJobs>[0])
  jobs.start()
  for (let passed = 0; passed < 120_000 && row.state === 'running'; passed += 100) {
    jest.advanceTimersByTime(100)
    for (let turn = 0; turn < 30; turn += 1) await Promise.resolve()
  }
  return { state: row.state, afterMs: endedAt - startedAt }
}

test('a job that its vendor does not know for a moment is completed', async () => {
  expect(await endOf([running, lost(), completed])).toMatchObject({ state: 'completed' })
  expect(await endOf([lost(), lost(), lost(), completed])).toMatchObject({ state: 'completed' })
  expect(await endOf([lost(), away, away, away, lost(), completed])).toMatchObject({
    state: 'completed',
  })
  const refusedAndKnown = [lost(), lost(), running, lost(), lost(), completed]
  expect(await endOf(refusedAndKnown)).toMatchObject({ state: 'completed' })
})

test('a job that its vendor does not know any more has failed after some seconds', async () => {
  for (const answer of [lost(), lost(1)]) {
    const { state, afterMs } = await endOf([running, answer])
    expect(state).toBe('failed')
    expect(afterMs).toBeGreaterThan(10_000)
    expect(afterMs).toBeLessThan(40_000)
  }
})
