// Redemption codes: made in batches, stored as hashes, each credited once in the transaction of its journal entry.

import type { Engine, Session, Value } from './engine.ts'
import { postAll } from './journal.ts'
import { house, walletOf } from './ledger.ts'
import type { NewBatch, Redeemed, RedemptionBatch, RedemptionTable } from './redemption-tables.ts'
import { cleanText } from './text.ts'

const rowsAtOnce = 100

const select = `SELECT id, note, CAST(amount_nano AS TEXT) AS "amountNano", codes, actor, created_at AS "createdAt",
    expires_at AS "expiresAt", revoked_at AS "revokedAt",
    (SELECT count(*) FROM redemption_code WHERE batch_id = batch.id AND account IS NOT NULL) AS redeemed
  FROM redemption_batch AS batch`

export function redemptionTable(engine: Engine): RedemptionTable {
  return {
    create: (batch, hashes) => engine.transaction((session) => create(session, batch, hashes)),
    async list({ before, limit }) {
      const where = before === undefined ? '' : 'WHERE (created_at, id) < (?, ?)'
      const bounds: Value[] = before === undefined ? [] : [before.at, cleanText(before.id)]
      type Kept = Omit<RedemptionBatch, 'amountNano' | 'redeemed'> & {
        readonly amountNano: string
        readonly redeemed: number | string
      }
      const rows = await engine.query<Kept>(
        `${select} ${where} ORDER BY created_at DESC, id DESC LIMIT ?`,
        [...bounds, limit],
      )
      return rows.map(({ amountNano, redeemed, ...row }) => ({
        ...row,
        amountNano: BigInt(amountNano),
        redeemed: Number(redeemed),
      }))
    },
    async revoke(id, at) {
      const changed = await engine.query(
        'UPDATE redemption_batch SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL RETURNING id',
        [at, cleanText(id)],
      )
      return changed.length > 0
    },
    redeem: (hash, account, at) =>
      engine.transaction((session) => redeem(session, { hash, account: cleanText(account), at })),
  }
}

async function create(session: Session, batch: NewBatch, hashes: readonly string[]): Promise<void> {
  const { id, note, amountNano, actor, createdAt, expiresAt } = batch
  await session.run(
    `INSERT INTO redemption_batch (id, note, amount_nano, codes, actor, created_at, expires_at)
      VALUES (?, ?, ?, ?, ?, ?, ?)`,
    [id, cleanText(note), amountNano, hashes.length, cleanText(actor), createdAt, expiresAt],
  )
  for (let at = 0; at < hashes.length; at += rowsAtOnce) {
    const some = hashes.slice(at, at + rowsAtOnce)
    await session.run(
      `INSERT INTO redemption_code (hash, batch_id) VALUES ${some.map(() => '(?, ?)').join(', ')}`,
      some.flatMap((hash) => [hash, id]),
    )
  }
}

interface Redeeming {
  readonly hash: string
  readonly account: string
  readonly at: number
}

async function redeem(session: Session, { hash, account, at }: Redeeming): Promise<Redeemed> {
  interface Kept {
    readonly batchId: string
    readonly amountNano: string
    readonly expiresAt: number | null
    readonly revokedAt: number | null
  }
  const [code] = await session.query<Kept>(
    `SELECT batch_id AS "batchId", CAST(amount_nano AS TEXT) AS "amountNano", expires_at AS "expiresAt",
        revoked_at AS "revokedAt"
      FROM redemption_code JOIN redemption_batch AS batch ON batch.id = batch_id WHERE hash = ?`,
    [hash],
  )
  if (code === undefined) return { outcome: 'unknown' }
  // Of two concurrent redemptions, the later one finds the code used.
  const taken = await session.query(
    `UPDATE redemption_code SET account = ?, redeemed_at = ?
      WHERE hash = ? AND account IS NULL AND EXISTS (SELECT 1 FROM redemption_batch
        WHERE id = batch_id AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ?))
      RETURNING hash`,
    [account, at, hash, at],
  )
  if (taken.length === 0) {
    const isOver = code.expiresAt !== null && code.expiresAt <= at
    return { outcome: code.revokedAt !== null ? 'revoked' : isOver ? 'expired' : 'used' }
  }
  const amountNano = BigInt(code.amountNano)
  const posted = await postAll(session, [
    {
      id: `redeem:${hash}`,
      code: 'redeem',
      debit: house.promo,
      credit: walletOf(account),
      amountNano,
      actor: `account ${account}`,
      reason: `code of batch ${code.batchId}`,
      at,
    },
  ])
  if (posted !== 'posted') throw new Error('A code is in the journal that nobody has redeemed.')
  return { outcome: 'redeemed', amountNano }
}
