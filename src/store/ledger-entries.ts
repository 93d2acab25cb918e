// Reads the entries of one wallet, page by page, with the balance after each.

import type { Nano } from '../money.ts'
import type { Engine, Session, Value } from './engine.ts'
import { type EntryFilter, type EntryPlace, house, type LedgerEntry, walletOf } from './ledger.ts'
import { keptOf } from './retention.ts'
import { quarterMs, quarterOf } from './rollup-table.ts'
import { cleanText } from './text.ts'
import { readWallets } from './wallets.ts'

/**
 * The balance after an entry is the wallet's balance less all newer entries, read in one snapshot: requests settled
 * between two pages, even late ones with an earlier time, change no balance that was shown before.
 */
export async function readEntries(
  engine: Engine,
  filter: EntryFilter,
): Promise<readonly LedgerEntry[]> {
  return engine.snapshot(async (session) => {
    const account = cleanText(filter.account)
    const [wallet] = await readWallets(session, account)
    if (wallet === undefined) return []
    const entries = await newestEntries(session, { ...filter, account })
    const [first] = entries
    if (first === undefined) return []
    const { since } = await keptOf(session)
    let balanceNano = wallet.postedNano - (await newerNano(session, account, first))
    const shown: LedgerEntry[] = []
    for (const [index, entry] of entries.entries()) {
      shown.push({ ...entry, balanceNano })
      balanceNano -= entry.effectNano
      const older = entries[index + 1]
      if (older !== undefined)
        balanceNano += await removedNano(session, account, entry, older, since)
    }
    return shown
  })
}

type Entry = Omit<LedgerEntry, 'balanceNano'>
type KeptEntry = Omit<Entry, 'effectNano'> & { readonly effectNano: string }

const columns = `transfer.id, transfer.code, transfer.debit, transfer.credit, transfer.actor,
  transfer.reason, transfer.at`
const gained = 'CAST(transfer.amount_nano AS TEXT) AS "effectNano"'
const spent = 'CAST(-transfer.amount_nano AS TEXT) AS "effectNano"'
/** Columns that present usage rows as entries, because several requests may share one entry in the journal. */
export const chargeColumns = `'usage:' || request_id AS id, 'usage' AS code, '${walletOf('')}' || account AS debit,
  '${house.revenue}' AS credit, NULL AS actor, NULL AS reason, at`
const order = 'ORDER BY at DESC, id DESC LIMIT ?'
/** The condition of the journal's partial indexes, which exclude entries of usage. */
export const rare = `code NOT IN ('usage', 'writeoff')`

async function newestEntries(session: Session, filter: EntryFilter): Promise<Entry[]> {
  const { account, since = 0, limit } = filter
  const { at, id } = filter.before ?? end
  const wallet = walletOf(account)
  const side = (effect: string, name: string) => `SELECT ${columns}, ${effect} FROM transfer
    WHERE ${rare} AND ${name} = ? AND at >= ? AND at <= ? AND (at, id) < (?, ?)`
  const bounds: Value[] = [wallet, since, at, at, cleanText(id)]
  const others = await session.query<KeptEntry>(
    `${side(spent, 'debit')} UNION ALL ${side(gained, 'credit')} ${order}`,
    [...bounds, ...bounds, limit],
  )
  const used = await session.query<KeptEntry>(
    `SELECT ${chargeColumns}, CAST(-charge_nano AS TEXT) AS "effectNano" FROM usage
      WHERE account = ? AND charge_nano > 0 AND at >= ? AND at <= ? AND (at, request_id) < (?, ?)
      ORDER BY at DESC, request_id DESC LIMIT ?`,
    [account, since, at, at, requestBelow(id), limit],
  )
  return [...others, ...used]
    .map((entry) => ({ ...entry, effectNano: BigInt(entry.effectNano) }))
    .sort(newestFirst)
    .slice(0, limit)
}

/** A place after every possible entry. */
const end: EntryPlace = { at: Number.MAX_SAFE_INTEGER, id: '' }
const usagePrefix = 'usage:'

/** The request id below which, at the same time, requests' entries sort before `id`. */
function requestBelow(id: string): string {
  if (id.startsWith(usagePrefix)) return id.slice(usagePrefix.length)
  return id < usagePrefix ? '' : '\u{10FFFF}'
}

/** Sum of what entries newer than this one did to the wallet. */
async function newerNano(session: Session, account: string, entry: EntryPlace): Promise<Nano> {
  const { at, id } = entry
  const wallet = walletOf(account)
  const nextQuarter = quarterOf(at) + quarterMs
  const newer = 'AND at >= ? AND (at, id) > (?, ?)'
  const sums = await session.query<{ readonly sum: string }>(
    `SELECT CAST(coalesce(sum(amount_nano), 0) AS TEXT) AS sum FROM transfer
        WHERE ${rare} AND credit = ? ${newer}
      UNION ALL SELECT CAST(coalesce(-sum(amount_nano), 0) AS TEXT) FROM transfer
        WHERE ${rare} AND debit = ? ${newer}
      UNION ALL SELECT CAST(coalesce(-sum(charge_nano), 0) AS TEXT) FROM usage_quarter
        WHERE series IN (SELECT id FROM usage_series WHERE account = ?) AND quarter >= ?
      UNION ALL SELECT CAST(coalesce(-sum(charge_nano), 0) AS TEXT) FROM usage
        WHERE account = ? AND at >= ? AND at < ? AND (at > ? OR request_id > ?)`,
    [
      ...[wallet, at, at, id],
      ...[wallet, at, at, id],
      ...[account, nextQuarter],
      ...[account, at, nextQuarter, at, requestBelow(id)],
    ],
  )
  return sums.reduce((total, { sum }) => total + BigInt(sum), 0n)
}

/**
 * What requests cost between two entries whose usage rows have been removed: their totals less the rows that are left.
 * Nothing tells when in its quarter-hour such a request began, so it counts as older than the entries of that quarter.
 */
async function removedNano(
  session: Session,
  account: string,
  newer: EntryPlace,
  older: EntryPlace,
  keptSince: number,
): Promise<Nano> {
  const from = quarterOf(older.at) + quarterMs
  const to = Math.min(quarterOf(newer.at) + quarterMs, keptSince)
  if (from >= to) return 0n
  const sums = await session.query<{ readonly sum: string }>(
    `SELECT CAST(coalesce(sum(charge_nano), 0) AS TEXT) AS sum FROM usage_quarter
        WHERE series IN (SELECT id FROM usage_series WHERE account = ?) AND quarter >= ? AND quarter < ?
      UNION ALL SELECT CAST(coalesce(-sum(charge_nano), 0) AS TEXT) FROM usage
        WHERE account = ? AND at >= ? AND at < ?`,
    [account, from, to, account, from, to],
  )
  return sums.reduce((total, { sum }) => total + BigInt(sum), 0n)
}

/** Compares ids by their bytes, as the engines do. */
export function newestFirst(one: EntryPlace, other: EntryPlace): number {
  if (one.at !== other.at) return other.at - one.at
  return Buffer.compare(Buffer.from(other.id), Buffer.from(one.id))
}
