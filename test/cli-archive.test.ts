// Tests the archive on the command line: which files there are, and that a wrong one is found.

import { expect, test } from 'bun:test'
import { readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { archiveUsage } from '../src/admin/usage-archive.ts'
import { archiveFiles } from '../src/blobs/archive-files.ts'
import { usageRow } from './contract/store.ts'
import { settlementOf, useCli } from './support/cli.ts'

const cli = useCli()
const dayMs = 86_400_000
const day = Date.parse('2026-08-01T00:00:00Z')

const fill = () =>
  cli.withStore(async (store) => {
    const refused = { channel: null, attempts: 0, status: 429 }
    await store.settlements.settle([
      settlementOf(usageRow({ requestId: 'a', at: day + 1, chargeNano: 30n })),
      settlementOf(usageRow({ requestId: 'b', at: day + 2, chargeNano: 12n })),
      settlementOf(usageRow({ requestId: 'c', at: day + 3, ...refused })),
      settlementOf(usageRow({ requestId: 'd', at: day + dayMs })),
    ])
    await store.retention.pruneRefusals(day + dayMs, 9)
    await archiveUsage({
      store,
      files: archiveFiles(cli.data, null),
      holder: 'one',
      before: day + 2 * dayMs,
      pause: async () => undefined,
      onFile: () => undefined,
    })
  })

const fileOf = (date: string): string => {
  const folder = join(cli.data, 'archive', '2026-08')
  return join(folder, readdirSync(folder).find((name) => name.includes(date)) ?? '')
}

async function verified() {
  const { code, out } = await cli.run(['archive', 'verify', '--data', cli.data, '--json'])
  const { ok, days } = JSON.parse(out)
  const problems = days.flatMap((each: { problems: string[] }) => each.problems)
  return { code, ok, problems }
}

test('every file is listed with its sums, and all of them are what the totals say', async () => {
  await fill()
  const listed = await cli.json('archive', 'list')
  // No wallet paid: the amount due is written off.
  expect(listed).toMatchObject([
    { firstAt: '2026-08-01T00:00:00.001Z', requests: 2, chargeNano: '0', writeoffNano: '42' },
    { firstAt: '2026-08-02T00:00:00.000Z', requests: 1, writeoffNano: '0' },
  ])
  expect(await cli.json('archive', 'verify')).toMatchObject({ ok: true, files: 2, requests: 3 })
  const table = await cli.run(['archive', 'verify', '--data', cli.data])
  expect(table.out).toStartWith('DAY         FILES  REQUESTS  COST')
  expect(table.err).toBe('2 files, 3 requests.\n')
})

test('a file that is gone, or changed, or not what the totals say, is found', async () => {
  await fill()
  rmSync(fileOf('2026-08-02'))
  expect((await verified()).problems).toEqual([expect.stringMatching(/2026-08-02.* is not there$/)])
  writeFileSync(fileOf('2026-08-01'), 'other bytes')
  const { code, ok, problems } = await verified()
  expect([code, ok, problems]).toEqual([
    1,
    false,
    [
      expect.stringMatching(/ was changed after it was written$/),
      expect.stringMatching(/ is not there$/),
    ],
  ])
})

test('a total that has more than the files is named', async () => {
  await fill()
  await cli.withStore(async (store) => {
    const row = usageRow({ requestId: 'e', at: day + 9, chargeNano: 5n })
    await store.settlements.settle([settlementOf(row)])
    // It is removed without being archived.
    await store.retention.prune(day + dayMs, 9)
  })
  expect(await verified()).toMatchObject({
    code: 1,
    problems: [
      'requests for which a vendor was asked: files 2, totals 3',
      'writeoffNano: files 42, totals 47',
    ],
  })
})
