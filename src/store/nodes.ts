// Nodes and their leases: opening, renewing, closing and sweeping nodes; granting, giving back and recalling leases.

import type { Nano } from '../money.ts'
import type { Engine, Session } from './engine.ts'
import { releaseKeyLeases } from './key-leases.ts'
import {
  addToLeases,
  aheadMs,
  atMost,
  forShare,
  forUpdate,
  isOpen,
  type Lease,
  leasedElsewhere,
  lockLeases,
  noteHeld,
  nowMs,
  writeLeases,
} from './leases.ts'
import type { AccountGrant, Grant, GrantSize, LeaseTable, NodeRef, NodeTable } from './ledger.ts'
import { RowRefused } from './store.ts'
import { cleanText } from './text.ts'
import { lockWallets, moveWallets } from './wallets.ts'

export function nodeTable(engine: Engine): NodeTable {
  const now = nowMs[engine.kind]
  return {
    open(node, lifetimeMs) {
      return engine.transaction(async (session) => {
        const [opened] = await session.query<{ readonly epoch: number }>(
          `INSERT INTO node (id, epoch, state, expires_at, lifetime_ms)
            VALUES (?, 1, 'open', ${now} + ?, ?)
            ON CONFLICT (id) DO UPDATE SET epoch = node.epoch + 1, state = 'open',
              expires_at = excluded.expires_at, lifetime_ms = excluded.lifetime_ms
            RETURNING epoch`,
          [cleanText(node), lifetimeMs, lifetimeMs],
        )
        if (opened === undefined) throw new Error(`The node ${node} could not be opened.`)
        await releaseLeases(session, [cleanText(node)])
        return { node, epoch: opened.epoch }
      })
    },
    async renew({ node, epoch }, lifetimeMs) {
      const sql = `UPDATE node SET expires_at = ${now} + ?, lifetime_ms = ? WHERE ${isOpen}`
      return (await engine.run(sql, [lifetimeMs, lifetimeMs, cleanText(node), epoch])) > 0
    },
    async close({ node, epoch }) {
      await engine.transaction(async (session) => {
        const sql = `UPDATE node SET state = 'closed' WHERE ${isOpen}`
        if ((await session.run(sql, [cleanText(node), epoch])) > 0) {
          await releaseLeases(session, [cleanText(node)])
        }
      })
    },
    async sweep() {
      await shortenAhead(engine)
      const lapsed = `SELECT id AS node, epoch FROM node WHERE state = 'open' AND expires_at <= ${now}`
      // Usually no node has lapsed, and then nothing is written or locked.
      if ((await engine.query(lapsed, [])).length === 0) return []
      return engine.transaction(async (session) => {
        const refs = await session.query<NodeRef>(
          `${lapsed} ORDER BY id${forUpdate[session.kind]}`,
          [],
        )
        for (const { node, epoch } of refs) {
          await session.run(`UPDATE node SET state = 'closed' WHERE ${isOpen}`, [node, epoch])
        }
        await releaseLeases(
          session,
          refs.map(({ node }) => node),
        )
        return refs
      })
    },
  }
}

/**
 * A node that was renewed while the database's clock was ahead gets one more lifetime: enough to be renewed again if it
 * lives. A dead one would otherwise keep its leases for as long as the clock was ahead.
 */
async function shortenAhead(engine: Engine): Promise<void> {
  const now = nowMs[engine.kind]
  const ahead = `state = 'open' AND expires_at > ${now} + lifetime_ms + ${aheadMs}`
  if ((await engine.query(`SELECT 1 FROM node WHERE ${ahead} LIMIT 1`, [])).length === 0) return
  await engine.run(`UPDATE node SET expires_at = ${now} + lifetime_ms WHERE ${ahead}`, [])
}

/** Releases all leases of these nodes, of any epoch; their rows are locked, so that no lease is added meanwhile. */
async function releaseLeases(session: Session, nodes: readonly string[]): Promise<void> {
  await lockWallets(
    session,
    (await leasesOf(session, nodes)).map(({ account }) => account),
  )
  // Read again, because a settlement may have taken money from them before the wallets were locked.
  const released = new Map<string, Nano>()
  for (const { account, amountNano } of await leasesOf(session, nodes)) {
    released.set(account, (released.get(account) ?? 0n) + amountNano)
  }
  await movePending(
    session,
    [...released].map(([account, amountNano]) => [account, -amountNano]),
  )
  for (const node of nodes) await session.run('DELETE FROM lease WHERE node = ?', [node])
  await releaseKeyLeases(session, nodes)
}

async function leasesOf(session: Session, nodes: readonly string[]): Promise<Lease[]> {
  const leases: Lease[] = []
  for (const node of nodes) {
    const rows = await session.query<{ account: string; epoch: number; amount: string }>(
      'SELECT account, epoch, CAST(amount_nano AS TEXT) AS amount FROM lease WHERE node = ?',
      [node],
    )
    for (const { account, epoch, amount } of rows) {
      leases.push({ node, epoch, account, amountNano: BigInt(amount) })
    }
  }
  return leases
}

/** `changes`: by account, how much the leased amount grows. */
async function movePending(session: Session, changes: readonly (readonly [string, Nano])[]) {
  await moveWallets(
    session,
    changes.map(([account, pendingNano]) => ({
      account,
      debitNano: 0n,
      creditNano: 0n,
      pendingNano,
    })),
  )
}

export function leaseTable(engine: Engine): LeaseTable {
  return {
    async grantAll(ref, requests) {
      const cleaned = requests.map((each) => ({ ...each, account: cleanText(each.account) }))
      return engine.transaction((session) => grantAll(session, cleanRef(ref), cleaned))
    },
    async giveBack(ref, account, amountNano) {
      await engine.transaction((session) =>
        giveBack(session, cleanRef(ref), cleanText(account), amountNano),
      )
    },
    async returnExcess(ref, keptNano) {
      const cleaned = new Map([...keptNano].map(([account, nano]) => [cleanText(account), nano]))
      await engine.transaction((session) => returnExcess(session, cleanRef(ref), cleaned))
    },
    async recall(account, { node, epoch }) {
      await engine.transaction(async (session) => {
        await lockWallets(session, [cleanText(account)])
        await session.run(
          `UPDATE lease SET recalled_at = ${nowMs[session.kind]}
            WHERE account = ? AND NOT (node = ? AND epoch = ?)`,
          [cleanText(account), cleanText(node), epoch],
        )
      })
    },
    async recalled({ node, epoch }) {
      const values = [cleanText(node), epoch]
      const asked = 'FROM lease WHERE node = ? AND epoch = ? AND recalled_at IS NOT NULL'
      // Called many times a second, usually without a recall, so it writes only if there is one.
      if ((await engine.query(`SELECT 1 ${asked} LIMIT 1`, values)).length === 0) return []
      return engine.transaction(async (session) => {
        const rows = await session.query<{ readonly account: string }>(
          `SELECT account ${asked} ORDER BY account${forUpdate[session.kind]}`,
          values,
        )
        await session.run(
          `UPDATE lease SET recalled_at = NULL
            WHERE node = ? AND epoch = ? AND recalled_at IS NOT NULL`,
          values,
        )
        return rows.map(({ account }) => account)
      })
    },
    async noteHeld(ref, held) {
      const cleaned = new Map([...held].map(([account, nano]) => [cleanText(account), nano]))
      await engine.transaction((session) => noteHeld(session, cleanRef(ref), cleaned))
    },
  }
}

function cleanRef({ node, epoch }: NodeRef): NodeRef {
  return { node: cleanText(node), epoch }
}

async function grantAll(
  session: Session,
  { node, epoch }: NodeRef,
  requests: readonly AccountGrant[],
): Promise<Grant[]> {
  if (
    requests.some(
      ({ needNano, wantNano, spareNano = 0n }) => needNano < 0n || wantNano < 0n || spareNano < 0n,
    )
  )
    throw new RowRefused('A grant of less than nothing')
  const open = await session.query(`SELECT 1 FROM node WHERE ${isOpen}${forShare[session.kind]}`, [
    node,
    epoch,
  ])
  const fenced = open.length === 0
  const accounts = requests.map(({ account }) => account)
  const wallets = await lockWallets(session, accounts)
  const elsewhere = await leasedElsewhere(session, { node, epoch }, accounts)
  const grants = requests.map((request): Grant => {
    const { postedNano = 0n, leasedNano = 0n } = wallets.get(request.account) ?? {}
    const freeNano = postedNano - leasedNano
    const leasedElsewhereNano = elsewhere.get(request.account) ?? 0n
    const grantedNano =
      fenced || freeNano < request.needNano
        ? 0n
        : grantOf(request, freeNano, leasedElsewhereNano > 0n)
    return { grantedNano, fenced, leasedElsewhereNano, postedNano }
  })
  const moves = grants.flatMap(({ grantedNano }, at): [string, Nano][] =>
    grantedNano > 0n ? [[accounts[at] ?? '', grantedNano]] : [],
  )
  if (moves.length > 0) {
    await movePending(session, moves)
    await addToLeases(session, { node, epoch }, moves)
  }
  return grants
}

/** A grant for the future takes at most half of a shared wallet, so that the next node finds money without a recall. */
function grantOf(
  { needNano, wantNano, spareNano = 0n }: GrantSize,
  freeNano: Nano,
  isShared: boolean,
) {
  const sizes = [needNano, atMost(wantNano, freeNano)]
  const spare = atMost(spareNano, isShared ? freeNano / 2n : freeNano)
  return sizes.reduce((most, each) => (each > most ? each : most), spare)
}

async function giveBack(
  session: Session,
  ref: NodeRef,
  account: string,
  amountNano: Nano,
): Promise<void> {
  if (amountNano < 0n) throw new RowRefused('Less than nothing was given back')
  await lockWallets(session, [account])
  const [lease] = await lockLeases(session, ref, [account])
  if (lease === undefined || amountNano === 0n) return
  const backNano = atMost(amountNano, lease.amountNano)
  await movePending(session, [[account, -backNano]])
  await writeLeases(session, [{ ...lease, amountNano: lease.amountNano - backNano }])
}

async function returnExcess(
  session: Session,
  ref: NodeRef,
  keptNano: ReadonlyMap<string, Nano>,
): Promise<void> {
  if ([...keptNano.values()].some((nano) => nano < 0n))
    throw new RowRefused('Less than nothing was to be kept')
  await lockWallets(session, keptNano.keys())
  const over = (await lockLeases(session, ref, keptNano.keys())).flatMap((lease) => {
    const kept = keptNano.get(lease.account) ?? lease.amountNano
    return lease.amountNano > kept ? [{ lease, kept }] : []
  })
  await movePending(
    session,
    over.map(({ lease, kept }) => [lease.account, kept - lease.amountNano]),
  )
  await writeLeases(
    session,
    over.map(({ lease, kept }) => ({ ...lease, amountNano: kept })),
  )
}
