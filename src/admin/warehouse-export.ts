// Sends usage records to a warehouse in the order of settlement, each at least once even when a process dies.

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
  /** A name of this process that stays the same after a restart. */
  readonly holder: string
  readonly intervalMs: number
  /** How long records that the warehouse has not accepted are kept. */
  readonly holdMs: number
  /** Called with each change of state, once for as long as it lasts. */
  readonly tell: (event: WarehouseExportEvent) => void
  /** 15 s unless a test sets it: a process that dies loses its turn to others after this. */
  readonly turnMs?: number
  /** 10,000 unless a test sets it. */
  readonly batchRows?: number
  /** Wait after a first failure, doubled with each further one; 1 s unless a test sets it. */
  readonly firstWaitMs?: number
}

export type WarehouseExportEvent =
  | { readonly failure: string }
  | { readonly failure: null }
  /** Records that the log has dropped are sent again, together with all others. */
  | { readonly again: true }

const usualTurnMs = 15_000
const usualBatchRows = 10_000
const usualWaitMs = 1_000
const longestWaitMs = 60_000

/** Runs until the signal, then gives up its turn. A failure is reported and tried again, each time later. */
export async function keepExporting(parts: WarehouseExport, signal: AbortSignal): Promise<void> {
  const { store, warehouse, holder, intervalMs, firstWaitMs = usualWaitMs, tell } = parts
  const note = (failure: string | null) =>
    store.failingWork.note({ work: 'export', subject: warehouse.name }, failure)
  let { batchRows = usualBatchRows } = parts
  let failures = 0
  /** null: not known yet, since the store may still have the state that another process noted. */
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
      // A warehouse that refuses a batch as too large gets smaller ones from now on.
      if (error instanceof BatchTooLarge) batchRows = Math.max(1, Math.floor(batchRows / 2))
      const failure = error instanceof Error ? error.message : String(error)
      if (isWell !== false) tell({ failure })
      isWell = false
      failures += 1
      // Where the store itself is unavailable, the call of `tell` above is the only report.
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

/** Sends until nothing is left. False where another process has the turn. */
async function exportAll(
  parts: WarehouseExport & { readonly batchRows: number },
  signal: AbortSignal,
): Promise<boolean> {
  const { store, warehouse, holder, holdMs, turnMs = usualTurnMs } = parts
  const { usageExport } = store
  const turn = { destination: warehouse.name, holder }
  let state = await usageExport.take(turn, turnMs, holdMs)
  // Where renewing fails, the next step finds out whether the turn is lost.
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
      // Also with nothing to send: it extends how long the log is kept.
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
  /** `12-15`: the log's batches that the rows are from. */
  readonly range: string
  readonly end: ExportPlace
  /** The last batch of the log that has been sent completely. */
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

/** Where the log has dropped records, starts again and sends every record that is left. */
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

/** Padded so that names sort in the order of settlement. */
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
