// The rows of leases, which nodes have on wallets; read and written while their wallets are locked.

import type { Nano } from '../money.ts'
import { among } from './among.ts'
import type { Bulk, Session, Value } from './engine.ts'
import type { NodeRef } from './ledger.ts'

export interface Lease extends NodeRef {
  readonly account: string
  readonly amountNano: Nano
}

/** Condition on the table `node`, whose id and epoch are bound. */
export const isOpen = `id = ? AND epoch = ? AND state = 'open'`

/** Appended to a SELECT of rows that are changed afterwards. SQLite's transactions have locked everything already. */
export const forUpdate = { sqlite: '', postgres: ' FOR UPDATE' }
export const forShare = { sqlite: '', postgres: ' FOR SHARE' }

export const nowMs = {
  sqlite: `CAST(unixepoch('subsec') * 1000 AS INTEGER)`,
  postgres: `CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT)`,
}

/** The database's clock, Unix milliseconds. */
export async function databaseMs(session: Session): Promise<number> {
  const sql = `SELECT ${nowMs[session.kind]} AS now`
  const [row] = await session.query<{ readonly now: number }>(sql, [])
  if (row === undefined) throw new Error('The database does not say the time.')
  return row.now
}

/**
 * A time that is this much further away than any that is set was set while a clock was ahead, and counts as over: else
 * what waits for it would wait as long as that clock was ahead. More than the clocks of two machines differ.
 */
export const aheadMs = 60_000

const amongAccounts = among('account')

/** What this node leases of these accounts; no row for an account it does not lease. */
export async function lockLeases(
  session: Session,
  { node, epoch }: NodeRef,
  accounts: Iterable<string>,
): Promise<Lease[]> {
  const rows = await session.query<{ account: string; amount: string }>(
    `SELECT account, CAST(amount_nano AS TEXT) AS amount FROM lease
      WHERE node = ? AND epoch = ? AND ${amongAccounts[session.kind]}
      ORDER BY account${forUpdate[session.kind]}`,
    [node, epoch, JSON.stringify([...new Set(accounts)])],
  )
  return rows.map(({ account, amount }) => ({ node, epoch, account, amountNano: BigInt(amount) }))
}

/** What other nodes, or other epochs of this one, lease of these accounts; no entry where that is nothing. */
export async function leasedElsewhere(
  session: Session,
  { node, epoch }: NodeRef,
  accounts: readonly string[],
): Promise<ReadonlyMap<string, Nano>> {
  const rows = await session.query<Record<'account' | 'amount', string>>(
    `SELECT account, CAST(sum(amount_nano) AS TEXT) AS amount FROM lease
      WHERE ${amongAccounts[session.kind]} AND NOT (node = ? AND epoch = ?) GROUP BY account`,
    [JSON.stringify(accounts), node, epoch],
  )
  return new Map(rows.map(({ account, amount }) => [account, BigInt(amount)]))
}

const add: Bulk = {
  sqlite: `INSERT INTO lease (node, epoch, account, amount_nano) VALUES (?, ?, ?, ?)
    ON CONFLICT (node, epoch, account)
    DO UPDATE SET amount_nano = lease.amount_nano + excluded.amount_nano`,
  postgres: `INSERT INTO lease (node, epoch, account, amount_nano)
    SELECT * FROM unnest($1::text[], $2::bigint[], $3::text[], $4::bigint[])
    ON CONFLICT (node, epoch, account)
    DO UPDATE SET amount_nano = lease.amount_nano + excluded.amount_nano`,
}

/** Adds amounts to a node's leases of different accounts. */
export async function addToLeases(
  session: Session,
  { node, epoch }: NodeRef,
  amounts: readonly (readonly [account: string, amountNano: Nano])[],
): Promise<void> {
  await session.bulk(
    add,
    amounts.map(([account, amountNano]) => [node, epoch, account, amountNano]),
  )
}

const setAmount: Bulk = {
  sqlite: `UPDATE lease SET amount_nano = ?1, held_nano = min(held_nano, ?1)
    WHERE node = ?2 AND epoch = ?3 AND account = ?4`,
  postgres: `UPDATE lease SET amount_nano = changed.amount,
    held_nano = least(held_nano, changed.amount)
    FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::text[])
      AS changed (amount, node, epoch, account)
    WHERE lease.node = changed.node AND lease.epoch = changed.epoch
      AND lease.account = changed.account`,
}

const drop: Bulk = {
  sqlite: 'DELETE FROM lease WHERE node = ? AND epoch = ? AND account = ?',
  postgres: `DELETE FROM lease USING unnest($1::text[], $2::bigint[], $3::text[])
      AS dropped (node, epoch, account)
    WHERE lease.node = dropped.node AND lease.epoch = dropped.epoch
      AND lease.account = dropped.account`,
}

/** Writes the present amounts of leases and deletes empty ones. `held_nano` is reduced to the leased amount. */
export async function writeLeases(session: Session, leases: readonly Lease[]): Promise<void> {
  const some = leases.filter(({ amountNano }) => amountNano > 0n)
  const none = leases.filter(({ amountNano }) => amountNano === 0n)
  const key = ({ node, epoch, account }: Lease): Value[] => [node, epoch, account]
  if (some.length > 0) {
    await session.bulk(
      setAmount,
      some.map((lease) => [lease.amountNano, ...key(lease)]),
    )
  }
  if (none.length > 0) await session.bulk(drop, none.map(key))
}

const setHeld: Bulk = {
  sqlite: 'UPDATE lease SET held_nano = ? WHERE node = ? AND epoch = ? AND account = ?',
  postgres: `UPDATE lease SET held_nano = noted.held
    FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::text[])
      AS noted (held, node, epoch, account)
    WHERE lease.node = noted.node AND lease.epoch = noted.epoch AND lease.account = noted.account`,
}

/** See `LeaseTable.noteHeld`; held amounts are limited to what is leased. */
export async function noteHeld(
  session: Session,
  { node, epoch }: NodeRef,
  held: ReadonlyMap<string, Nano>,
): Promise<void> {
  const rows = await session.query<Record<'account' | 'amount' | 'held', string>>(
    `SELECT account, CAST(amount_nano AS TEXT) AS amount, CAST(held_nano AS TEXT) AS held FROM lease
      WHERE node = ? AND epoch = ? AND (held_nano > 0 OR ${amongAccounts[session.kind]})
      ORDER BY account${forUpdate[session.kind]}`,
    [node, epoch, JSON.stringify([...held.keys()])],
  )
  const changes: Value[][] = []
  for (const { account, amount, held: before } of rows) {
    const now = atMost(held.get(account) ?? 0n, BigInt(amount))
    if (now !== BigInt(before)) changes.push([now, node, epoch, account])
  }
  if (changes.length > 0) await session.bulk(setHeld, changes)
}

export function atMost(amountNano: Nano, limitNano: Nano): Nano {
  return amountNano < limitNano ? amountNano : limitNano
}
