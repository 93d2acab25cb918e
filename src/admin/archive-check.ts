// Lists the files of the usage archive, and checks them against what was written and the totals of their days.

import type { ArchiveFiles } from '../blobs/archive-files.ts'
import type { Store } from '../store/store.ts'
import type { ArchivedFile } from '../store/usage-archive.ts'
import { timeText } from './time.ts'
import { dayOf, readArchived, requestsIn } from './usage-archive.ts'
import { dayMs } from './zone.ts'

const pageFiles = 500
/** Most total rows of one day, by channel and class of status. */
const mostTotals = 100_000

interface ArchiveLine {
  readonly name: string
  readonly firstAt: string
  readonly lastAt: string
  readonly requests: number
  readonly chargeNano: string
  readonly writeoffNano: string
  readonly bytes: number
  readonly sha256: string
  readonly writtenAt: string
  /** null: the archived rows are still being removed from the store. */
  readonly removedAt: string | null
}

/** Ordered by the time of the archived requests. */
export async function listArchive(store: Store): Promise<readonly ArchiveLine[]> {
  const lines: ArchiveLine[] = []
  for await (const { firstAt, lastAt, writtenAt, removedAt, ...file } of filesOf(store)) {
    lines.push({
      ...file,
      firstAt: timeText(firstAt),
      lastAt: timeText(lastAt),
      chargeNano: String(file.chargeNano),
      writeoffNano: String(file.writeoffNano),
      writtenAt: timeText(writtenAt),
      removedAt: removedAt === null ? null : timeText(removedAt),
    })
  }
  return lines
}

interface CheckedDay {
  /** A UTC date: `2027-01-31`. */
  readonly day: string
  readonly files: number
  /** A request that is in two files counts once. */
  readonly requests: number
  readonly chargeNano: string
  readonly writeoffNano: string
  /** The faults found, in words. */
  readonly problems: readonly string[]
}

interface CheckedArchive {
  readonly ok: boolean
  readonly files: number
  readonly requests: number
  readonly days: readonly CheckedDay[]
}

/** Reads every file of the archive. */
export async function checkArchive(store: Store, files: ArchiveFiles): Promise<CheckedArchive> {
  const days: CheckedDay[] = []
  let ofDay: ArchivedFile[] = []
  const endDay = async () => {
    const [first] = ofDay
    if (first !== undefined) days.push(await checkDay(store, files, dayOf(first.firstAt), ofDay))
    ofDay = []
  }
  for await (const file of filesOf(store)) {
    const [first] = ofDay
    if (first !== undefined && dayOf(first.firstAt) !== dayOf(file.firstAt)) await endDay()
    ofDay.push(file)
  }
  await endDay()
  return {
    ok: days.every(({ problems }) => problems.length === 0),
    files: days.reduce((sum, each) => sum + each.files, 0),
    requests: days.reduce((sum, each) => sum + each.requests, 0),
    days,
  }
}

async function checkDay(
  store: Store,
  files: ArchiveFiles,
  day: number,
  ofDay: readonly ArchivedFile[],
): Promise<CheckedDay> {
  const found = new Counted()
  const problems: string[] = []
  for (const file of ofDay) {
    const own = new Counted()
    const content = await readArchived(files, file)
    if (typeof content === 'string') problems.push(`${file.name} ${content}`)
    else {
      for await (const request of requestsIn(content)) {
        own.add(request)
        found.add(request)
      }
      const isNoted =
        own.requests === file.requests &&
        own.chargeNano === file.chargeNano &&
        own.writeoffNano === file.writeoffNano
      if (!isNoted) problems.push(`${file.name} does not contain the rows recorded for it`)
    }
  }
  if (problems.length === 0) problems.push(...(await differences(store, day, found)))
  return {
    day: timeText(day).slice(0, 10),
    files: ofDay.length,
    requests: found.requests,
    chargeNano: String(found.chargeNano),
    writeoffNano: String(found.writeoffNano),
    problems,
  }
}

type Archived = Parameters<Counted['add']>[0]

class Counted {
  readonly #ids = new Set<string>()
  requests = 0
  /**
   * Requests that succeeded or for which a vendor was asked. Others may have been deleted before they were archived.
   */
  asked = 0
  chargeNano = 0n
  writeoffNano = 0n

  add(request: {
    readonly requestId: string
    readonly channel: string | null
    readonly status: number
    readonly chargeNano: string
    readonly writeoffNano: string
  }): void {
    if (this.#ids.has(request.requestId)) return
    this.#ids.add(request.requestId)
    this.requests += 1
    if (wasAsked(request)) this.asked += 1
    this.chargeNano += BigInt(request.chargeNano)
    this.writeoffNano += BigInt(request.writeoffNano)
  }
}

function wasAsked({ channel, status }: Pick<Archived, 'channel' | 'status'>): boolean {
  return channel !== null || status < 400
}

/** The differences between the day's files and its totals; none where rows of the day are still in the store. */
async function differences(store: Store, day: number, found: Counted): Promise<string[]> {
  const until = day + dayMs
  if (await store.retention.isAny(day, until)) return []
  const totals = await store.rollups.read({
    cuts: [day],
    until,
    filter: {},
    by: ['channel', 'statusClass'],
    sums: ['requests', 'chargeNano', 'writeoffNano'],
    limit: mostTotals,
  })
  const said = { asked: 0n, chargeNano: 0n, writeoffNano: 0n }
  for (const { by, sums } of totals) {
    const [channel = '', statusClass = ''] = by
    const [requests = 0n, chargeNano = 0n, writeoffNano = 0n] = sums
    if (channel !== '' || statusClass < '4xx') said.asked += requests
    said.chargeNano += chargeNano
    said.writeoffNano += writeoffNano
  }
  const compared = [
    ['requests for which a vendor was asked', BigInt(found.asked), said.asked],
    ['chargeNano', found.chargeNano, said.chargeNano],
    ['writeoffNano', found.writeoffNano, said.writeoffNano],
  ] as const
  return compared
    .filter(([, inFiles, inTotals]) => inFiles !== inTotals)
    .map(([name, inFiles, inTotals]) => `${name}: files ${inFiles}, totals ${inTotals}`)
}

async function* filesOf(store: Store): AsyncGenerator<ArchivedFile> {
  let after: ArchivedFile | null = null
  for (;;) {
    const page: ArchivedFile[] = await store.archive.list(after, pageFiles)
    yield* page
    after = page.at(-1) ?? null
    if (page.length < pageFiles) return
  }
}
