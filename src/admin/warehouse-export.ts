// Sends records of requests to a warehouse in the order of their settlement: each at least once, whatever ends in between.

import { createHash } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { type Batch, BatchTooLarge, type Warehouse } from '../blobs/warehouse.ts'
import type { Store } from '../store/store.ts'
import { beginning, type ExportPlace, type ExportState } from '../store/usage-export.ts'
import type { SettledPlace } from '../store/usage-filter.ts'
import type { UsageRow } from '../store/usage-row.ts'
import { lineOf } from '../store/warehouse-table.ts'

export interface WarehouseExport {
  readonly store: Pick<Store, 'usage' | 'usageExport' | 'failingWork'>
  readonly warehouse: Warehouse
  /** This process, by a name that it has after a restart too. */
  readonly holder: string
  readonly intervalMs: number
  /** How long what is not taken stays. */
  readonly holdMs: number
  /** What happens, once for as long as it lasts. */
  readonly tell: (event: WarehouseExportEvent) => void
  /** 15 s unless a test says otherwise: a process that dies leaves its turn to others after it. */
  readonly turnMs?: number
  /** 10,000 unless a test says otherwise. */
  readonly batchRows?: number
  /** After a first failure, and twice that after the next; 1 s unless a test says otherwise. */
  readonly firstWaitMs?: number
}

export type WarehouseExportEvent =
  | { readonly failure: string }
  | { readonly failure: null }
  /** What was forgotten meanwhile is sent again with all the rest. */
  | { readonly again: true }

const usualTurnMs = 15_000
const usualBatchRows = 10_000
const usualWaitMs = 1_000
const longestWaitMs = 60_000

/** Until the signal is given; leaves the turn then. A failure is told and tried again, later each time. */
export async function keepExporting(parts: WarehouseExport, signal: AbortSignal): Promise<void> {
  const { store, warehouse, holder, intervalMs, firstWaitMs = usualWaitMs, tell } = parts
  const note = (failure: string | null) =>
    store.failingWork.note({ work: 'export', subject: warehouse.name }, failure)
  let { batchRows = usualBatchRows } = parts
  let failures = 0
  /** null: what the last process that had the turn came to may still stand in the store. */
  let isWell: boolean | null = null
  while (!signal.aborted) {
    try {
      const isMine = await exportAll({ ...parts, batchRows }, signal)
      if (isMine && isWell !== true) {
        await note(null)
        if (isWell === false) tell({ failure: null })
        isWell = true
      }
      failures = 0
    } catch (error) {
      // Whoever refuses what is too large takes smaller ones, from now on.
      if (error instanceof BatchTooLarge) batchRows = Math.max(1, Math.floor(batchRows / 2))
      const failure = error instanceof Error ? error.message : String(error)
      if (isWell !== false) tell({ failure })
      isWell = false
      failures += 1
      // Where the store itself is away, what was told says so.
      await note(failure).catch(() => undefined)
    }
    const waitMs = Math.min(longestWaitMs, firstWaitMs * 2 ** (failures - 1))
    await waited(failures === 0 ? intervalMs : waitMs, signal)
  }
  await store.usageExport.leave({ destination: warehouse.name, holder })
}

async function waited(ms: number, signal: AbortSignal): Promise<void> {
  try {
    await delay(ms, undefined, { signal })
  } catch (error) {
    if (!signal.aborted) throw error
  }
}

/** Until nothing is left. False where the turn is another process's. */
async function exportAll(
  parts: WarehouseExport & { readonly batchRows: number },
  signal: AbortSignal,
): Promise<boolean> {
  const { store, warehouse, holder, holdMs, turnMs = usualTurnMs } = parts
  const { usageExport } = store
  const turn = { destination: warehouse.name, holder }
  let state = await usageExport.take(turn, turnMs, holdMs)
  // One that cannot be renewed is found out where the next step takes it.
  const renew = () => void usageExport.take(turn, turnMs, holdMs).catch(() => undefined)
  const renewal = setInterval(renew, turnMs / 3)
  renewal.unref()
  try {
    while (state !== null && !signal.aborted) {
      const next = await nextRows(parts, state)
      const { rows, end, through } = next
      if (rows.length > 0) {
        if (!(await usageExport.plan(turn, end))) return false
        await warehouse.put(await batchOf(next, state.beganAt))
      }
      // Also where nothing was left: what comes is held for as long from here on.
      if (!(await usageExport.move(turn, end, { rows: rows.length, through, holdMs }))) return false
      if (rows.length === 0 && end.scan === state.place.scan) return true
      state = { ...state, place: end, planned: null }
    }
    return state !== null
  } finally {
    clearInterval(renewal)
  }
}

interface NextRows {
  readonly rows: readonly UsageRow[]
  /** `12-15`: what it is of, as the batches of the log count. */
  readonly range: string
  readonly end: ExportPlace
  /** The last batch of the log of which nothing is left. */
  readonly through: number
}

type RowParts = Pick<WarehouseExport, 'store' | 'tell'> & { readonly batchRows: number }

function nextRows(parts: RowParts, state: ExportState): Promise<NextRows> {
  return state.place.scan === null ? settledRows(parts, state) : scannedRows(parts, state)
}

async function scannedRows(
  { store, batchRows }: RowParts,
  { place: { settled, scan }, planned }: ExportState,
): Promise<NextRows> {
  const until = planned?.scan ?? null
  const rows = await store.usageExport.scan(scan ?? beginning, until, batchRows)
  const [first, last] = [rows[0], rows.at(-1)]
  const through = settled.number
  if (first === undefined || last === undefined)
    return { rows, range: '', end: { settled, scan: until }, through }
  const end = { settled, scan: { at: last.at, requestId: last.requestId } }
  return { rows, range: `before-${first.at}-${last.at}`, end, through }
}

async function settledRows(
  { store, batchRows, tell }: RowParts,
  { place, planned }: ExportState,
): Promise<NextRows> {
  const found: { readonly place: SettledPlace; readonly row: UsageRow }[] = []
  const isPlanned = (at: SettledPlace) => planned === null || !isBehind(at, planned.settled)
  let read = place.settled
  for (;;) {
    const more = await store.usage.settledAfter(read, {})
    if (more.missed) return anew(store, tell)
    found.push(...more.rows)
    const isLast = !isBehind(more.place, read)
    read = more.place
    if (isLast || found.length > batchRows || !isPlanned(read)) break
  }
  const taken = found.slice(0, batchRows).filter((each) => isPlanned(each.place))
  const following = found[taken.length]
  const last = following === undefined ? read : (taken.at(-1)?.place ?? place.settled)
  const isWhole = following === undefined || following.place.number > last.number
  return {
    rows: taken.map(({ row }) => row),
    range: `${padded(taken[0]?.place.number)}-${padded(last.number)}`,
    end: { settled: last, scan: null },
    through: isWhole ? last.number : last.number - 1,
  }
}

/** Behind what the log has forgotten, every record that is left is sent. */
async function anew(
  { usage }: Pick<Store, 'usage'>,
  tell: WarehouseExport['tell'],
): Promise<NextRows> {
  tell({ again: true })
  const settled = await usage.newest()
  return { rows: [], range: '', end: { settled, scan: beginning }, through: settled.number }
}

function isBehind(one: SettledPlace, other: SettledPlace): boolean {
  return one.number > other.number || (one.number === other.number && one.index > other.index)
}

/** So that names sort as they were settled. */
function padded(number: number | undefined): string {
  return String(number ?? 0).padStart(12, '0')
}

const packed = promisify(gzip)

async function batchOf(
  { rows, range }: Pick<NextRows, 'rows' | 'range'>,
  beganAt: number,
): Promise<Batch> {
  const text = rows.map(lineOf).join('')
  const day = new Date(rows[0]?.at ?? 0).toISOString().slice(0, 10).replaceAll('-', '/')
  const hash = createHash('sha256').update(text).digest('hex').slice(0, 12)
  const name = `${day}/${range}-${hash}`
  return { name, token: `${name}-${beganAt}`, content: await packed(text) }
}
