// Recomputes a period in three ways by day and account, from usage rows, journal and totals; and each row's charge from
// its tokens and prices.

import type { Nano } from '../money.ts'
import type { ReconcilePiece } from '../store/reconcile-table.ts'
import { quarterMs } from '../store/rollup-table.ts'
import { cursorAfter, placeIn } from './page.ts'
import { priceBookOf } from './price-books.ts'
import type { Input } from './schema.ts'
import { timeText } from './time.ts'
import { type AdminContext, AdminError } from './use-case.ts'
import { dayMs } from './zone.ts'

/** Amounts in nano-units. */
interface Sum {
  readonly requests: number
  readonly chargeNano: string
  readonly writeoffNano: string
}

interface ReconciledDay {
  /** A UTC date: `2027-01-31`. */
  readonly day: string
  readonly account: string
  /** `pruned`: the day's rows are no longer kept, so there is nothing to compare. */
  readonly state: 'equal' | 'different' | 'pruned'
  /** null where the rows are pruned. */
  readonly rows: Sum | null
  readonly entries: Omit<Sum, 'requests'> | null
  readonly totals: Sum
}

interface DifferingRow {
  readonly requestId: string
  readonly account: string
  readonly at: string
  /**
   * `entry`: the journal has another amount. `price`: the row's prices give another amount. `row`: the entry has no
   * row.
   */
  readonly kind: 'entry' | 'price' | 'row'
  readonly message: string
}

interface Reconciled {
  readonly currency: string
  /** The period that this answer covers, in whole quarters of an hour. */
  readonly since: string
  readonly until: string
  /** Whether nothing differs. */
  readonly ok: boolean
  readonly items: readonly ReconciledDay[]
  readonly differences: readonly DifferingRow[]
  /** The number of differences not listed. */
  readonly moreDifferences: number
  /** Cursor for the rest of the period; null: this is the last answer. */
  readonly next: string | null
}

const mostShown = 100
const mostDays = 3_700

/** Covers as much as bounded time allows: a day may be split over two answers, whose sums add up. Throws AdminError. */
export async function reconcile(
  { store, nowMs, currency }: AdminContext,
  { account, since, until = nowMs, cursor }: Input<'reconcile'>,
): Promise<Reconciled> {
  const from = cursor === undefined ? Math.floor(since / quarterMs) * quarterMs : placeOf(cursor)
  const to = Math.ceil(until / quarterMs) * quarterMs
  if (to <= from) throw new AdminError('invalid', 'until', 'expected a time after since')
  if (to - from > mostDays * dayMs) {
    const message = `expected at most ${mostDays} days before until`
    throw new AdminError('invalid', 'since', message, 'range_too_long')
  }
  const piece = await store.reconcile.read({ account, since: from, until: to })
  const book = await priceBookOf(store)
  const differences = [
    ...piece.rows.flatMap(({ row, problems }) => [
      ...problems.map((message) => ({ row, kind: 'entry' as const, message })),
      ...priceProblems(row, book),
    ]),
    ...piece.orphans.map(({ id, ...entry }) => ({
      row: { ...entry, requestId: id.slice(id.indexOf(':') + 1) },
      kind: 'row' as const,
      message: `the journal has ${entry.amountNano} nano for it, and there is no such request`,
    })),
  ]
  const items = daysOf(piece)
  return {
    currency: await currency(),
    since: timeText(from),
    until: timeText(piece.until),
    ok: differences.length === 0 && items.every(({ state }) => state !== 'different'),
    items,
    differences: differences.slice(0, mostShown).map(({ row, kind, message }) => ({
      requestId: row.requestId,
      account: row.account,
      at: timeText(row.at),
      kind,
      message,
    })),
    moreDifferences: Math.max(0, differences.length - mostShown),
    next: piece.until < to ? cursorAfter(String(piece.until)) : null,
  }
}

function placeOf(cursor: string): number {
  const place = placeIn(cursor)
  if (/^\d{1,15}$/.test(place) && Number(place) % quarterMs === 0) return Number(place)
  throw new AdminError('invalid', 'cursor', 'is not the `next` of an answer of this operation')
}

function priceProblems(
  row: ReconcilePiece['rows'][number]['row'],
  book: Awaited<ReturnType<typeof priceBookOf>>,
) {
  const { priceVersion, multiplierPpm, chargeNano, writeoffNano, units } = row
  const made = chargeNano + writeoffNano
  const rate = priceVersion === null ? null : book.version(priceVersion, multiplierPpm)
  const expected = priceVersion === null ? 0n : rate?.charge(row, units)
  if (expected === made) return []
  const message =
    expected === undefined
      ? `version ${priceVersion} of its prices is not known`
      : `its prices give ${expected} nano, charged and written off were ${made}`
  return [{ row, kind: 'price' as const, message }]
}

interface Adding {
  requests: number
  chargeNano: Nano
  writeoffNano: Nano
}

const nothing = (): Adding => ({ requests: 0, chargeNano: 0n, writeoffNano: 0n })

class Day {
  readonly rows = nothing()
  readonly entries = nothing()
  readonly totals = nothing()
}

function daysOf(piece: ReconcilePiece): ReconciledDay[] {
  const days = new Map<string, Day>()
  const dayOf = (at: number, account: string): Day => {
    const name = `${timeText(at).slice(0, 10)} ${account}`
    const found = days.get(name) ?? new Day()
    days.set(name, found)
    return found
  }
  for (const { row, chargeNano, writeoffNano } of piece.rows) {
    const day = dayOf(row.at, row.account)
    add(day.rows, row)
    add(day.entries, { chargeNano, writeoffNano })
  }
  for (const { at, account, amountNano } of piece.orphans)
    add(dayOf(at, account).entries, { chargeNano: amountNano, writeoffNano: 0n })
  for (const { day, account, requests, ...sums } of piece.totals) {
    const { totals } = dayOf(day, account)
    add(totals, sums)
    totals.requests = requests
  }
  return [...days]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, day]) => viewOf(name, day, piece.pruned))
}

function add(sum: Adding, one: Pick<Adding, 'chargeNano' | 'writeoffNano'>): void {
  sum.requests += 1
  sum.chargeNano += one.chargeNano
  sum.writeoffNano += one.writeoffNano
}

function viewOf(name: string, { rows, entries, totals }: Day, pruned: boolean): ReconciledDay {
  const at = { day: name.slice(0, 10), account: name.slice(11) }
  if (pruned) return { ...at, state: 'pruned', rows: null, entries: null, totals: sumView(totals) }
  const isEqual =
    rows.requests === totals.requests &&
    [entries, totals].every(
      (each) => each.chargeNano === rows.chargeNano && each.writeoffNano === rows.writeoffNano,
    )
  const { requests, ...amounts } = sumView(entries)
  return {
    ...at,
    state: isEqual ? 'equal' : 'different',
    rows: sumView(rows),
    entries: amounts,
    totals: sumView(totals),
  }
}

function sumView({ requests, chargeNano, writeoffNano }: Adding): Sum {
  return { requests, chargeNano: String(chargeNano), writeoffNano: String(writeoffNano) }
}
