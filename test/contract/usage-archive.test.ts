// Tests archiving usage rows to files: nothing is lost or written twice, whatever ends in between, and the files match
// the totals.

import { afterEach, expect, test } from 'bun:test'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { checkArchive } from '../../src/admin/archive-check.ts'
import { archiveUsage } from '../../src/admin/usage-archive.ts'
import type { usageView } from '../../src/admin/usage-view.ts'
import { type ArchiveFiles, archiveFiles } from '../../src/blobs/archive-files.ts'
import type { Store } from '../../src/store/store.ts'
import { startBucket } from '../support/bucket.ts'
import { eventually } from '../support/clients.ts'
import { finished, fund, lessee } from '../support/ledger-scene.ts'
import { keptTotals } from '../support/rollups.ts'
import { type Bench, onEachEngine } from './engines.ts'

const dayMs = 86_400_000
const pricing = () => () => 10n
const first = Date.parse('2026-08-01T00:00:00Z')

const folders: string[] = []
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true })
})

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), 'tollgate-archive-'))
  folders.push(made)
  return made
}

/** Four requests on each of three days; one could not be paid. */
async function fill({ store }: Pick<Bench, 'store'>) {
  await fund(store, 'ann', 1_000n)
  const ref = await lessee(store, 'n1', 'ann', 500n)
  const rows = Array.from({ length: 12 }, (_, index) =>
    finished(
      ref,
      {
        requestId: `req_${String(index).padStart(2, '0')}`,
        at: first + index * 6 * 3_600_000 + 5,
        account: index === 3 ? 'nobody' : 'ann',
        chargeNano: 10n,
        priceVersion: 1,
      },
      { fromLeaseNano: 10n },
    ),
  )
  await store.settlements.settle(rows)
  return ref
}

interface Run {
  readonly before?: number
  readonly holder?: string
  readonly pause?: () => Promise<void>
  readonly turnMs?: number
}

function archive(store: Store, files: ArchiveFiles, run: Run = {}): Promise<void> {
  return archiveUsage({
    store,
    files,
    holder: 'one',
    before: first + 3 * dayMs,
    pause: async () => undefined,
    onFile: () => undefined,
    ...run,
  })
}

type Request = ReturnType<typeof usageView>

function read(dataDir: string): { readonly name: string; readonly requests: Request[] }[] {
  const root = join(dataDir, 'archive')
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => ({ name, content: join(parentPath, name) }))
    .sort((one, other) => (one.name < other.name ? -1 : 1))
    .map(({ name, content }) => ({ name, requests: requestsIn(content) }))
}

function requestsIn(path: string): Request[] {
  const text = gunzipSync(readFileSync(path)).toString('utf8')
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
}

async function left(store: Store): Promise<string[]> {
  return (await store.usage.list({ limit: 99 })).map(({ requestId }) => requestId).sort()
}

const all = Array.from({ length: 12 }, (_, index) => `req_${String(index).padStart(2, '0')}`)

onEachEngine('the archive of usage rows', (start) => {
  test('a file for each day has what the totals of its quarters say, and only then rows go', async () => {
    const { store } = await start()
    await fill({ store })
    const totals = await keptTotals(store)
    const dataDir = folder()
    await archive(store, archiveFiles(dataDir, null), { before: first + 2 * dayMs })
    expect(await left(store)).toEqual(all.slice(8))
    const files = read(dataDir)
    expect(files.map(({ name }) => name.slice(0, 16))).toEqual([
      'usage-2026-08-01',
      'usage-2026-08-02',
    ])
    expect(files.flatMap(({ requests }) => requests.map(({ requestId }) => requestId))).toEqual(
      all.slice(0, 8),
    )
    for (const [index, { requests }] of files.entries()) {
      const since = first + index * dayMs
      const [said] = await store.rollups.read({
        cuts: [since],
        until: since + dayMs,
        filter: {},
        by: [],
        sums: ['requests', 'chargeNano', 'writeoffNano', 'input'],
        limit: 1,
      })
      const sum = (of: (request: Request) => string | number) =>
        requests.reduce((sum, request) => sum + BigInt(of(request)), 0n)
      expect(said?.sums).toEqual([
        BigInt(requests.length),
        sum(({ chargeNano }) => chargeNano),
        sum(({ writeoffNano }) => writeoffNano),
        sum(({ tokens }) => tokens.input),
      ])
    }
    const noted = await store.archive.list(null, 99)
    expect(
      noted.map(({ requests, chargeNano, writeoffNano }) => [requests, chargeNano, writeoffNano]),
    ).toEqual([
      [4, 30n, 10n],
      [4, 40n, 0n],
    ])
    expect(await keptTotals(store)).toEqual(totals)
    expect((await store.audit.run(pricing)).findings).toEqual([])
  })
})

onEachEngine('archiving', (start) => {
  test('what is written is for its owner alone, and a part of a file is none', async () => {
    const { store } = await start()
    await fill({ store })
    const dataDir = folder()
    await archive(store, archiveFiles(dataDir, null))
    const root = join(dataDir, 'archive')
    expect(statSync(root).mode & 0o777).toBe(0o700)
    const [name = ''] = readdirSync(join(root, '2026-08'))
    expect(statSync(join(root, '2026-08', name)).mode & 0o777).toBe(0o600)
    expect(readdirSync(join(root, '2026-08')).filter((each) => each.endsWith('.part'))).toEqual([])
  })

  test('whatever call it ends at, the next run loses no row and writes none twice', async () => {
    const { store } = await start()
    await fund(store, 'ann', 1_000n)
    const ref = await lessee(store, 'n1', 'ann', 500n)
    const dataDir = folder()
    const kept = archiveFiles(dataDir, null)
    const known: string[] = []
    let isCut = true
    // One more day each time, whose run ends one call later.
    for (let at = 1; isCut; at += 1) {
      const rows = Array.from({ length: 4 }, (_, index) => ({
        requestId: `req_${String(at).padStart(2, '0')}_${index}`,
        at: first + at * dayMs + index * 6 * 3_600_000,
        chargeNano: 10n,
        priceVersion: 1,
      }))
      known.push(...rows.map(({ requestId }) => requestId))
      const settlements = rows.map((row) => finished(ref, row, { fromLeaseNano: 10n }))
      await store.settlements.settle(settlements)
      const cut = cutAt(store, kept, at)
      const run = { before: first + (at + 1) * dayMs }
      isCut = await archive(cut.store, cut.files, run).then(
        () => false,
        (error) => String(error).includes('it ends here'),
      )
      const archived = readOrNone(dataDir)
      expect([...new Set([...archived, ...(await left(store))])].sort()).toEqual(known)
      await archive(store, kept, run)
      expect(readOrNone(dataDir)).toEqual(known)
      expect(await left(store)).toEqual([])
    }
    const noted = await store.archive.list(null, 99)
    expect(noted.length).toBeGreaterThan(10)
    expect(noted.every(({ requests, removedAt }) => requests === 4 && removedAt !== null)).toBe(
      true,
    )
    expect((await store.audit.run(pricing)).findings).toEqual([])
  })
})

onEachEngine('requests that are settled late', (start) => {
  test('one of a day that is archived, goes to a file of its own', async () => {
    const { store } = await start()
    const ref = await fill({ store })
    const dataDir = folder()
    const kept = archiveFiles(dataDir, null)
    await archive(store, kept)
    await store.settlements.settle([
      finished(ref, { requestId: 'late', at: first + 7, chargeNano: 10n, priceVersion: 1 }),
    ])
    await archive(store, kept)
    expect(readOrNone(dataDir)).toEqual(['late', ...all])
    expect((await store.archive.list(null, 99)).map(({ requests }) => requests)).toEqual([
      4, 1, 4, 4,
    ])
    expect((await store.audit.run(pricing)).findings).toEqual([])
  })

  test('a request that is settled while rows of its day are removed stays until it is written', async () => {
    const { store } = await start()
    const ref = await fill({ store })
    const dataDir = folder()
    const late = { requestId: 'late', at: first + 7, chargeNano: 10n, priceVersion: 1 }
    const kept = archiveFiles(dataDir, null)
    const files: ArchiveFiles = {
      ...kept,
      async put(name, bytes) {
        await store.settlements.settle([finished(ref, late)])
        await kept.put(name, bytes)
      },
    }
    await archive(store, files, { before: first + dayMs })
    expect(
      read(dataDir)
        .map(({ requests }) => requests.length)
        .sort(),
    ).toEqual([1, 4])
    expect(readOrNone(dataDir)).toEqual(['late', ...all.slice(0, 4)])
    expect((await store.audit.run(pricing)).findings).toEqual([])
  })
})

onEachEngine('an export that is begun while rows are removed', (start) => {
  test('keeps the rest of them until they are exported; the archive is sound before and after', async () => {
    const bench = await start()
    const { store } = bench
    const ref = await fill({ store })
    const dataDir = folder()
    const kept = archiveFiles(dataDir, null)
    const turn = { destination: 'clickhouse', holder: 'one', nowMs: Date.now() }
    const files: ArchiveFiles = {
      ...kept,
      // The second file has been written, and is read for the removal of its rows.
      async get(name) {
        if (name.includes('08-02')) await store.usageExport.take(turn, 600, dayMs)
        return kept.get(name)
      },
    }
    await archive(store, files)
    expect(await left(store)).toEqual(all.slice(4))
    await archive(store, kept)
    expect(await left(store)).toEqual(all.slice(4))
    await store.settlements.settle([
      finished(ref, { requestId: 'late', at: first + 9, chargeNano: 10n, priceVersion: 1 }),
    ])
    expect((await checkArchive(store, kept)).ok).toBe(true)

    await bench.engine.run('UPDATE usage_export SET held_until = 0', [])
    await archive(store, kept)
    expect(await left(store)).toEqual([])
    expect(readOrNone(dataDir)).toEqual(['late', ...all])
    expect((await checkArchive(store, kept)).ok).toBe(true)
  })
})

onEachEngine('an archive that fails', (start) => {
  test('no row goes whose file is not there, or not as it was written', async () => {
    const { store } = await start()
    await fill({ store })
    const dataDir = folder()
    const kept = archiveFiles(dataDir, null)
    const lost = { ...kept, get: async () => null }
    await expect(archive(store, lost)).rejects.toThrow('is not there: its rows stay')
    expect(await left(store)).toEqual(all)
    const [file] = await store.archive.list(null, 1)
    writeFileSync(join(dataDir, 'archive', file?.name ?? ''), 'other bytes')
    await expect(archive(store, kept)).rejects.toThrow(
      'was changed after it was written: its rows stay',
    )
    expect(await left(store)).toEqual(all)
  })

  test('rows that another process removes meanwhile make no empty file', async () => {
    const { store } = await start()
    await fill({ store })
    const dataDir = folder()
    const { retention } = store
    const pruned = async () => {
      await retention.prune(first + 3 * dayMs, 99)
      return []
    }
    const oldest: typeof retention.oldest = (before, after, limit) =>
      limit === 1 ? retention.oldest(before, after, limit) : pruned()
    const meanwhile = { ...store, retention: { ...retention, oldest } }
    await archive(meanwhile, archiveFiles(dataDir, null))
    expect(await store.archive.list(null, 9)).toEqual([])
    expect(readOrNone(dataDir)).toEqual([])
    expect(await left(store)).toEqual([])
  })

  test('a disk that cannot be written to keeps every row', async () => {
    const { store } = await start()
    await fill({ store })
    const dataDir = folder()
    writeFileSync(join(dataDir, 'archive'), 'a file where the folder should be')
    await expect(archive(store, archiveFiles(dataDir, null))).rejects.toThrow('ENOTDIR')
    expect(await left(store)).toEqual(all)
    expect(await store.archive.list(null, 9)).toEqual([])
  })
})

onEachEngine('two processes and one archive', (start) => {
  test('one writes while the other has nothing to do, and whoever comes later takes over', async () => {
    const bench = await start()
    const { store } = bench
    await fill({ store })
    const other = await bench.open()
    const dataDir = folder()
    const files = archiveFiles(dataDir, null)
    const turn = { holder: 'two', nowMs: Date.now() }
    expect(await other.archive.take(turn, turn.nowMs + 60_000)).toBe(true)
    await archive(store, files)
    expect(await left(store)).toEqual(all)
    expect(await store.archive.isDue({ holder: 'one', nowMs: turn.nowMs }, first + dayMs)).toBe(
      false,
    )
    const after = { holder: 'one', nowMs: turn.nowMs + 60_000 }
    expect(await store.archive.isDue(after, first)).toBe(false)
    expect(await store.archive.isDue(after, first + dayMs)).toBe(true)
    await other.archive.take(turn, 0)
    await Promise.all([
      archive(store, files, { holder: 'one' }),
      archive(other, files, { holder: 'two' }),
    ])
    expect(readOrNone(dataDir)).toEqual(all)
    expect(await left(store)).toEqual([])
  })
})

onEachEngine('a file that takes longer than a turn', (start) => {
  test('its process keeps the turn by renewing it, and leaves it at the end', async () => {
    const bench = await start()
    const { store } = bench
    await fill({ store })
    const other = await bench.open()
    const [began, written] = [Promise.withResolvers<number>(), Promise.withResolvers<void>()]
    const onDisk = archiveFiles(folder(), null)
    const put: typeof onDisk.put = async (...file) => {
      began.resolve(Date.now())
      await written.promise
      await onDisk.put(...file)
    }
    // Long enough that the turn is not renewed before it is looked at for the first time.
    const turnMs = 3_000
    const archived = archive(store, { ...onDisk, put }, { turnMs })
    const over = (await began.promise) + turnMs
    const isFree = (nowMs: number) => other.archive.isDue({ holder: 'two', nowMs }, first + dayMs)
    expect(await isFree(over)).toBe(true)
    await eventually(async () => !(await isFree(over)) || undefined)
    written.resolve()
    await archived
    expect(await other.archive.take({ holder: 'two', nowMs: Date.now() }, 0)).toBe(true)
    expect(await left(store)).toEqual([])
  })
})

onEachEngine('an archive in a bucket', (start) => {
  test('files lie below the prefix, and a store that refuses keeps every row', async () => {
    await using bucket = startBucket()
    const { store } = await start()
    await fill({ store })
    const { url: endpoint, name, accessKeyId, secretAccessKey } = bucket
    const access = { bucket: name, accessKeyId, secretAccessKey }
    const files = archiveFiles('', { endpoint, region: null, prefix: 'tollgate/', ...access })
    bucket.failing = 403
    const refused = archive(store, files)
    await expect(refused).rejects.toThrow('the store of the archive failed with')
    await expect(refused).rejects.not.toThrow(secretAccessKey)
    expect(await left(store)).toEqual(all)
    bucket.failing = null
    await archive(store, files)
    expect([...bucket.objects.keys()].map((key) => key.slice(0, 42))).toEqual(
      ['01', '02', '03'].map((day) =>
        `tollgate/archive/2026-08/usage-2026-08-${day}-`.slice(0, 42),
      ),
    )
    const ids = [...bucket.objects.values()].flatMap(({ bytes }) =>
      gunzipSync(bytes)
        .toString('utf8')
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line).requestId),
    )
    expect(ids.sort()).toEqual(all)
    expect(await left(store)).toEqual([])
    expect(await files.get('2026-08/none')).toBeNull()
  })
})

function readOrNone(dataDir: string): string[] {
  try {
    return read(dataDir)
      .flatMap(({ requests }) => requests.map(({ requestId }) => requestId))
      .sort()
  } catch {
    return []
  }
}

/** All calls after this one fail, and its own answer is lost: as if the process ended there. */
function cutAt(store: Store, files: ArchiveFiles, at: number) {
  let calls = 0
  const cut = <Args extends unknown[], Result>(work: (...args: Args) => Promise<Result>) => {
    return async (...args: Args): Promise<Result> => {
      calls += 1
      if (calls > at) throw new Error('it ends here')
      const result = await work(...args)
      if (calls === at) throw new Error('it ends here')
      return result
    }
  }
  const { archive, retention } = store
  return {
    store: {
      ...store,
      archive: {
        ...archive,
        take: cut(archive.take),
        add: cut(archive.add),
        open: cut(archive.open),
        close: cut(archive.close),
      },
      retention: { ...retention, remove: cut(retention.remove), oldest: cut(retention.oldest) },
    },
    files: { put: cut(files.put), get: cut(files.get) },
  }
}
