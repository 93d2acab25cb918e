// Writes expired usage rows to archive files, and removes them once a complete file has them.

import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { createGunzip, createGzip } from 'node:zlib'
import type { ArchiveFiles } from '../blobs/archive-files.ts'
import type { PriceBook } from '../meter/meter.ts'
import type { Store } from '../store/store.ts'
import type { ArchivedFile } from '../store/usage-archive.ts'
import type { UsagePlace } from '../store/usage-filter.ts'
import type { UsageRow } from '../store/usage-row.ts'
import { priceBookOf } from './price-books.ts'
import { usageView } from './usage-view.ts'
import { dayMs } from './zone.ts'

/**
 * Length of a turn: a process that dies loses its turn to others after this; a living one renews it, however long a
 * file takes.
 */
const usualTurnMs = 30_000
/** Most rows of a file: all of them are in memory at once, compressed. */
const fileRows = 20_000
const pageRows = 1_000
const removedAtOnce = 500

interface ArchiveParts {
  readonly store: Store
  readonly files: ArchiveFiles
  /** A name of this process that stays the same after a restart. */
  readonly holder: string
  /** 30 s unless a test sets it. */
  readonly turnMs?: number
  /** Unix milliseconds, the beginning of a UTC day: a day is archived when all of it has expired. */
  readonly before: number
  /** Called between two removals, so that settling can go on. */
  readonly pause: (tookMs: number) => Promise<void>
  readonly onFile: (file: Noted) => void
}

type Noted = Omit<ArchivedFile, 'writtenAt' | 'removedAt'>

/**
 * Archives until nothing expired is left, or another process has the turn. Rejects where a file cannot be written or
 * read back as written: then none of its rows is removed.
 */
export async function archiveUsage(parts: ArchiveParts): Promise<void> {
  const { store, holder, turnMs = usualTurnMs } = parts
  const turn = (forMs: number) => {
    const nowMs = Date.now()
    return store.archive.take({ holder, nowMs }, nowMs + forMs)
  }
  if (!(await turn(turnMs))) return
  let renewed: Promise<unknown> = Promise.resolve()
  const renewal = setInterval(() => {
    // Where renewing fails, the next step finds out whether the turn is lost.
    renewed = turn(turnMs).catch(() => undefined)
  }, turnMs / 6)
  renewal.unref()
  try {
    do {
      const open = await store.archive.open()
      const isDone = open === null ? await writeNext(parts) : await removeRows(parts, open)
      if (!isDone) return
    } while (await turn(turnMs))
  } finally {
    clearInterval(renewal)
    await renewed
    await turn(0)
  }
}

/** False where there is nothing to write, or the turn was lost. */
async function writeNext(parts: ArchiveParts): Promise<boolean> {
  const { store, files, holder, onFile } = parts
  const made = await fileOfOldest(parts)
  if (made === null) return false
  const { file, content } = made
  await files.put(file.name, content)
  if (!(await store.archive.add({ holder, nowMs: Date.now() }, file))) return false
  onFile(file)
  return true
}

/** A file has rows of one day at most. */
async function fileOfOldest({ store, before }: ArchiveParts) {
  const [first] = await store.retention.oldest(before, null, 1)
  if (first === undefined) return null
  const day = dayOf(first.at)
  const sums = {
    firstAt: first.at,
    lastAt: first.at,
    requests: 0,
    chargeNano: 0n,
    writeoffNano: 0n,
  }
  const book = await priceBookOf(store)
  async function* lines() {
    // Not from the start: a request of an earlier day may be settled meanwhile.
    let after: UsagePlace = { at: day, requestId: '' }
    while (sums.requests < fileRows) {
      const rows: UsageRow[] = await store.retention.oldest(day + dayMs, after, pageRows)
      for (const { at, chargeNano, writeoffNano } of rows) {
        sums.lastAt = at
        sums.requests += 1
        sums.chargeNano += chargeNano
        sums.writeoffNano += writeoffNano
      }
      yield linesOf(rows, book)
      after = rows.at(-1) ?? after
      if (rows.length < pageRows) return
    }
  }
  const content = await pipeline(lines, createGzip(), (packed) => buffer(packed))
  // A process that does not archive removed the rows meanwhile.
  if (sums.requests === 0) return null
  const sha256 = sha256Of(content)
  const date = new Date(day).toISOString().slice(0, 10)
  // Named by its hash: the same rows give the same file, and no file replaces another.
  const name = `${date.slice(0, 7)}/usage-${date}-${sha256.slice(0, 12)}.ndjson.gz`
  return { file: { name, ...sums, bytes: content.length, sha256 }, content }
}

function linesOf(rows: readonly UsageRow[], book: PriceBook): string {
  return rows.map((row) => `${JSON.stringify(usageView(row, book))}\n`).join('')
}

/**
 * Removes the ids that the stored file contains: requests settled since are in no file, and stay. False where some may
 * have to stay for a data warehouse, whose export was begun again: the file stays open until they may go.
 */
async function removeRows({ store, files, pause }: ArchiveParts, file: ArchivedFile) {
  const content = await readArchived(files, file)
  if (typeof content === 'string') throw new Error(`${file.name} ${content}: its rows stay`)
  const before = dayOf(file.lastAt) + dayMs
  const remove = async (ids: readonly string[]) => {
    const beganMs = performance.now()
    await store.retention.remove(before, ids)
    await pause(performance.now() - beganMs)
  }
  let ids: string[] = []
  for await (const { requestId } of requestsIn(content)) {
    ids.push(requestId)
    if (ids.length < removedAtOnce) continue
    await remove(ids)
    ids = []
  }
  await remove(ids)
  if (await store.retention.isHeld(before)) return false
  await store.archive.close(file.name, Date.now())
  return true
}

/** The file's content, or in words why it is not what was written. */
export async function readArchived(
  files: ArchiveFiles,
  { name, sha256 }: Pick<ArchivedFile, 'name' | 'sha256'>,
): Promise<Uint8Array | 'is not there' | 'was changed after it was written'> {
  const content = await files.get(name)
  if (content === null) return 'is not there'
  return sha256Of(content) === sha256 ? content : 'was changed after it was written'
}

export async function* requestsIn(
  content: Uint8Array,
): AsyncGenerator<ReturnType<typeof usageView>> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const piece of Readable.from([content]).pipe(createGunzip())) {
    const lines = (rest + decoder.decode(piece, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) yield JSON.parse(line)
  }
}

/** The beginning of the moment's UTC day. */
export function dayOf(at: number): number {
  return Math.floor(at / dayMs) * dayMs
}

function sha256Of(content: Uint8Array): string {
  return createHash('sha256').update(content).digest('hex')
}
