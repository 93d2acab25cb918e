// The accounts of the ledger: locks them in a fixed order and changes their counters.

import type { Nano } from '../money.ts'
import { among } from './among.ts'
import type { Bulk, Session, Value } from './engine.ts'
import { type Wallet, walletOf } from './ledger.ts'
import { RowRefused } from './store.ts'

/** A wallet's money while a transaction has it locked. */
export interface LockedWallet {
  readonly postedNano: Nano
  readonly leasedNano: Nano
}

/** What one transaction adds to an account's counters; `pendingNano` may be negative. */
interface Change {
  readonly debitNano: Nano
  readonly creditNano: Nano
  readonly pendingNano: Nano
}

export interface WalletMove extends Change {
  readonly account: string
}

interface HouseMove extends Change {
  readonly id: string
}

const amongWallets = among('id')
const lock = {
  sqlite: `${amongWallets.sqlite} ORDER BY id`,
  postgres: `${amongWallets.postgres} ORDER BY id FOR UPDATE`,
}

/**
 * Locks the wallets of these accounts, by account, without accounts that have none. Every transaction that changes
 * wallets, or leases of their accounts, calls this first and only once, so that deadlocks cannot occur.
 */
export async function lockWallets(
  session: Session,
  accounts: Iterable<string>,
): Promise<Map<string, LockedWallet>> {
  const rows = await session.query<{ account: string; posted: string; leased: string }>(
    `SELECT substr(id, 8) AS account, CAST(credits_posted - debits_posted AS TEXT) AS posted,
      CAST(debits_pending AS TEXT) AS leased FROM ledger_account WHERE ${lock[session.kind]}`,
    [JSON.stringify([...new Set(accounts)].map(walletOf))],
  )
  return new Map(
    rows.map(({ account, posted, leased }) => [
      account,
      { postedNano: BigInt(posted), leasedNano: BigInt(leased) },
    ]),
  )
}

const moveCounters: Bulk = {
  sqlite: `UPDATE ledger_account SET debits_posted = debits_posted + ?,
    credits_posted = credits_posted + ?, debits_pending = debits_pending + ? WHERE id = ?`,
  postgres: `UPDATE ledger_account SET debits_posted = debits_posted + move.debit,
    credits_posted = credits_posted + move.credit, debits_pending = debits_pending + move.pending
    FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::text[])
      AS move (debit, credit, pending, id)
    WHERE ledger_account.id = move.id`,
}

/**
 * Changes locked wallets, by account. Throws `RowRefused` if one is missing, would have negative free money, or has
 * more than the database can represent.
 */
export async function moveWallets(session: Session, moves: readonly WalletMove[]): Promise<void> {
  await moveAll(
    session,
    moves.map(({ account, ...amounts }) => ({ id: walletOf(account), ...amounts })),
  )
}

/** Changes the operator's accounts, always last: while one is locked, every other settlement waits. */
export async function moveHouse(session: Session, moves: readonly HouseMove[]): Promise<void> {
  const ordered = moves.toSorted((one, other) => (one.id < other.id ? -1 : 1))
  for (const move of ordered) await moveAll(session, [move])
}

async function moveAll(session: Session, moves: readonly HouseMove[]): Promise<void> {
  if (moves.length === 0) return
  const rows = moves.map(({ id, debitNano, creditNano, pendingNano }): Value[] => [
    debitNano,
    creditNano,
    pendingNano,
    id,
  ])
  if ((await session.bulk(moveCounters, rows)) === moves.length) return
  throw new RowRefused(`The ledger lacks one of ${moves.map(({ id }) => id).join(', ')}`)
}

/** Set-aside records that no operator has dealt with; only these hold money. */
export const openSetAsides = `set_aside WHERE NOT EXISTS
  (SELECT 1 FROM set_aside_resolution AS resolved WHERE resolved.request_id = set_aside.request_id)`

const selectWallets = `SELECT substr(id, 8) AS account,
  CAST(credits_posted - debits_posted AS TEXT) AS posted, CAST(debits_pending AS TEXT) AS leased,
  CAST((SELECT coalesce(sum(held_nano), 0) FROM lease WHERE account = substr(id, 8))
    + (SELECT coalesce(sum(held_nano), 0) FROM ${openSetAsides}
      AND account = substr(ledger_account.id, 8))
    + (SELECT coalesce(sum(held_nano), 0) FROM video
      WHERE video.account = substr(ledger_account.id, 8) AND state = 'running') AS TEXT) AS held
  FROM ledger_account WHERE`

/** Sorted by account; all wallets if none is named. */
export async function readWallets(session: Session, account?: string): Promise<Wallet[]> {
  const [where, values] =
    account === undefined ? [`kind = 'wallet' ORDER BY id`, []] : ['id = ?', [walletOf(account)]]
  const rows = await session.query<Record<'account' | 'posted' | 'leased' | 'held', string>>(
    `${selectWallets} ${where}`,
    values,
  )
  return rows.map(({ account, posted, leased, held }) => ({
    account,
    postedNano: BigInt(posted),
    leasedNano: BigInt(leased),
    heldNano: BigInt(held),
  }))
}
