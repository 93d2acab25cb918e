// What keys with a spend limit have spent, and the parts of their limits that nodes have leased.

import type { Nano } from '../money.ts'
import { among } from './among.ts'
import type { Engine, Session } from './engine.ts'
import { forShare, isOpen, nowMs } from './leases.ts'
import type { KeyClaim, KeyClaimed, KeyLeaseTable, NodeRef, SpentRange } from './ledger.ts'
import { readRollups } from './rollup-query.ts'
import { cleanText } from './text.ts'

const amongKeys = among('key_id')

/** A query looks up every account with every key, so many at once would take longer than one by one. */
const keysPerQuery = 32

export function keyLeaseTable(engine: Engine): KeyLeaseTable {
  return {
    spent: (ranges) => spentIn(engine, ranges),
    claim: (ref, claim) => engine.transaction((session) => lease(session, ref, claim)),
    async giveBack({ node, epoch }, keyIds) {
      // A later epoch of the node may have leased the same keys again.
      await engine.run(
        `DELETE FROM key_lease WHERE node = ? AND ${amongKeys[engine.kind]}
          AND EXISTS (SELECT 1 FROM node WHERE ${isOpen})`,
        [cleanText(node), JSON.stringify(keyIds.map(cleanText)), cleanText(node), epoch],
      )
    },
    async recalled({ node }) {
      const asked = 'key_lease WHERE node = ? AND recalled_at IS NOT NULL'
      // Called many times a second, usually without a recall, so it writes only if there is one.
      if ((await engine.query(`SELECT 1 FROM ${asked} LIMIT 1`, [cleanText(node)])).length === 0)
        return []
      const rows = await engine.query<{ readonly key: string }>(
        `UPDATE key_lease SET recalled_at = NULL WHERE node = ? AND recalled_at IS NOT NULL
          RETURNING key_id AS key`,
        [cleanText(node)],
      )
      return rows.map(({ key }) => key)
    },
  }
}

/** Ends what nodes have leased of keys' limits; called when they are closed or opened again. */
export async function releaseKeyLeases(session: Session, nodes: readonly string[]): Promise<void> {
  for (const node of nodes) await session.run('DELETE FROM key_lease WHERE node = ?', [node])
}

async function spentIn(session: Session, ranges: readonly SpentRange[]): Promise<Nano[]> {
  const spent = new Map<SpentRange, Nano>()
  for (const alike of alikeIn(ranges)) {
    for (let at = 0; at < alike.length; at += keysPerQuery)
      await readSpent(session, alike.slice(at, at + keysPerQuery), spent)
  }
  return ranges.map((range) => spent.get(range) ?? 0n)
}

/** The ranges by their times. */
function alikeIn(ranges: readonly SpentRange[]): SpentRange[][] {
  const alike = new Map<string, SpentRange[]>()
  for (const range of ranges) {
    const times = `${range.sinceMs} ${range.untilMs}`
    const found = alike.get(times)
    if (found === undefined) alike.set(times, [range])
    else found.push(range)
  }
  return [...alike.values()]
}

/** Reads what keys spent in the same time, and adds it to `spent`. */
async function readSpent(
  session: Session,
  ranges: readonly SpentRange[],
  spent: Map<SpentRange, Nano>,
): Promise<void> {
  const [first] = ranges
  if (first === undefined) return
  const account = [...new Set(ranges.map((range) => range.account))]
  const key = [...new Set(ranges.map(({ keyId }) => keyId))]
  const rows = await readRollups(session, {
    cuts: [first.sinceMs],
    until: first.untilMs ?? Number.MAX_SAFE_INTEGER,
    filter: { account, key },
    by: ['account', 'key'],
    sums: ['chargeNano'],
    limit: account.length * key.length,
  })
  const found = new Map(rows.map(({ by, sums }) => [by.join('\0'), sums[0] ?? 0n]))
  for (const range of ranges) {
    const whose = [range.account, range.keyId].map(cleanText).join('\0')
    spent.set(range, found.get(whose) ?? 0n)
  }
}

async function lease(
  session: Session,
  { node, epoch }: NodeRef,
  claim: KeyClaim,
): Promise<KeyClaimed | null> {
  const [key, own] = [cleanText(claim.keyId), cleanText(node)]
  const open = `SELECT 1 FROM node WHERE ${isOpen}${forShare[session.kind]}`
  if ((await session.query(open, [own, epoch])).length === 0) return null
  // A key of the configuration file has no row that could be locked. SQLite's transactions have locked everything.
  if (session.kind === 'postgres')
    await session.query('SELECT pg_advisory_xact_lock(hashtextextended(?, 0))', [key])
  // The leases are read before the spending: what is settled in between counts twice, and is never left out.
  const { leasedNano, elsewhereNano } = await leasesOf(session, key, own)
  const nano = await spentIn(session, claim.ranges)
  const spentNano = nano.reduce((sum, each) => sum + each, claim.spentBeforeNano)
  const freeNano = claim.limitNano - spentNano - elsewhereNano - claim.keptNano
  const others = `SELECT 1 FROM node WHERE state = 'open' AND id <> ? LIMIT 1`
  const isAlone = (await session.query(others, [own])).length === 0
  const roomNano = roomOf(claim, freeNano, isAlone)
  if (roomNano < claim.needNano && elsewhereNano > 0n) await recall(session, key, own)
  const amountNano = claim.keptNano + roomNano
  // A node that is alone may keep a larger lease than it needs, which spares it a write each time it spends.
  if (!isAlone || amountNano > leasedNano || amountNano <= 0n)
    await write(session, key, own, amountNano)
  return { nano, roomNano }
}

async function leasesOf(session: Session, key: string, own: string) {
  const rows = await session.query<{ readonly node: string; readonly amount: string }>(
    'SELECT node, CAST(amount_nano AS TEXT) AS amount FROM key_lease WHERE key_id = ?',
    [key],
  )
  let [leasedNano, elsewhereNano] = [0n, 0n]
  for (const { node, amount } of rows) {
    if (node === own) leasedNano = BigInt(amount)
    else elsewhereNano += BigInt(amount)
  }
  return { leasedNano, elsewhereNano }
}

/** Beside other nodes, half of what is left stays free, so that the next of them finds some without a recall. */
function roomOf({ roomNano, needNano }: KeyClaim, freeNano: Nano, isAlone: boolean): Nano {
  if (needNano === 0n) return 0n
  if (freeNano < needNano) return roomNano
  const spareNano = freeNano - needNano
  const wholeNano = needNano + (isAlone ? spareNano : spareNano / 2n)
  return wholeNano > roomNano ? wholeNano : roomNano
}

async function recall(session: Session, key: string, own: string): Promise<void> {
  await session.run(
    `UPDATE key_lease SET recalled_at = ${nowMs[session.kind]}
      WHERE key_id = ? AND node <> ? AND recalled_at IS NULL`,
    [key, own],
  )
}

async function write(session: Session, key: string, node: string, amountNano: Nano) {
  if (amountNano <= 0n) {
    await session.run('DELETE FROM key_lease WHERE key_id = ? AND node = ?', [key, node])
    return
  }
  await session.run(
    `INSERT INTO key_lease (key_id, node, amount_nano) VALUES (?, ?, ?)
      ON CONFLICT (key_id, node) DO UPDATE SET amount_nano = excluded.amount_nano`,
    [key, node, amountNano],
  )
}
