// Derives from payments, refunds and bonuses which part of a wallet was paid for and which was given; stores nothing.

import { randomUUID } from 'node:crypto'
import type { Nano } from '../money.ts'
import type { Session, Value } from './engine.ts'
import { postAll } from './journal.ts'
import { house, walletOf } from './ledger.ts'
import type { BonusSpending, PaymentMode, Standing } from './payment-tables.ts'
import { lockWallets } from './wallets.ts'

interface Bonus {
  readonly orderId: string
  readonly amountNano: Nano
  readonly takenNano: Nano
  readonly spentNano: Nano
  readonly debitsNano: Nano
  readonly expiresAt: number | null
  readonly expiredAt: number | null
}

export async function bonusesOf(
  session: Session,
  where: string,
  values: readonly Value[],
): Promise<Bonus[]> {
  type Kept = Pick<Bonus, 'orderId' | 'expiresAt' | 'expiredAt'> &
    Record<'amountNano' | 'takenNano' | 'spentNano' | 'debitsNano', string>
  const rows = await session.query<Kept>(
    `SELECT order_id AS "orderId", CAST(amount_nano AS TEXT) AS "amountNano",
        CAST(taken_nano AS TEXT) AS "takenNano", CAST(spent_nano AS TEXT) AS "spentNano",
        CAST(debits_nano AS TEXT) AS "debitsNano", expires_at AS "expiresAt", expired_at AS "expiredAt"
      FROM payment_bonus WHERE ${where}`,
    values,
  )
  return rows.map(({ amountNano, takenNano, spentNano, debitsNano, ...bonus }) => ({
    ...bonus,
    amountNano: BigInt(amountNano),
    takenNano: BigInt(takenNano),
    spentNano: BigInt(spentNano),
    debitsNano: BigInt(debitsNano),
  }))
}

interface Counters {
  readonly postedNano: Nano
  readonly debitsNano: Nano
}

/** Spent first: debits since the bonus count against it. Spent last: it remains while the wallet never has less. */
export function bonusLeft(
  { amountNano, takenNano, spentNano: noted, debitsNano }: Bonus,
  wallet: Counters,
  spending: BonusSpending,
): Nano {
  const spentNano = spending === 'first' ? wallet.debitsNano - debitsNano : noted
  const leftNano = amountNano - takenNano - spentNano
  return leftNano < 0n ? 0n : leftNano < wallet.postedNano ? leftNano : wallet.postedNano
}

export async function readCounters(session: Session, account: string): Promise<Counters | null> {
  const [row] = await session.query<{ readonly posted: string; readonly debits: string }>(
    `SELECT CAST(credits_posted - debits_posted AS TEXT) AS posted, CAST(debits_posted AS TEXT) AS debits
      FROM ledger_account WHERE id = ?`,
    [walletOf(account)],
  )
  if (row === undefined) return null
  return { postedNano: BigInt(row.posted), debitsNano: BigInt(row.debits) }
}

const paidSums = `SELECT mode, CAST(sum(nano) AS TEXT) AS nano FROM (
    SELECT mode, credit_nano AS nano FROM payment_transaction WHERE account = ?) AS paid GROUP BY mode`
const refundedSums = `SELECT mode, CAST(sum(amount_nano) AS TEXT) AS nano FROM payment_refund
  JOIN payment_order ON payment_order.id = payment_refund.order_id
  WHERE payment_refund.account = ? AND payment_refund.state <> 'failed' GROUP BY mode`

export async function readStanding(
  session: Session,
  account: string,
  { mode, spending }: { readonly mode: PaymentMode; readonly spending: BonusSpending },
): Promise<Standing | null> {
  const wallet = await readCounters(session, account)
  if (wallet === null) return null
  const sums = async (sql: string) => {
    type Sum = { readonly mode: PaymentMode; readonly nano: string }
    const rows = await session.query<Sum>(sql, [account])
    return (of: PaymentMode) => BigInt(rows.find((row) => row.mode === of)?.nano ?? 0)
  }
  const paid = await sums(paidSums)
  const refunded = await sums(refundedSums)
  const bonuses = await bonusesOf(session, 'account = ? ORDER BY order_id', [account])
  const bonusNano = bonuses.reduce((sum, each) => sum + bonusLeft(each, wallet, spending), 0n)
  // Play money is never refunded as real money.
  const other = mode === 'live' ? 'play' : 'live'
  const ownNano = wallet.postedNano - bonusNano - (paid(other) - refunded(other))
  const openNano = paid(mode) - refunded(mode)
  const least = ownNano < openNano ? ownNano : openNano
  const expiries = bonuses.flatMap(({ expiresAt, expiredAt }) =>
    expiresAt === null || expiredAt !== null ? [] : [expiresAt],
  )
  const claims = `SELECT 1 FROM payment_bonus_claim WHERE mode = ? AND kind = 'account' AND subject = ?`
  return {
    paidNano: paid(mode),
    bonusNano,
    bonusExpiresAt: bonusNano > 0n && expiries.length > 0 ? Math.min(...expiries) : null,
    refundableNano: least < 0n ? 0n : least,
    isFirst: paid(mode) === 0n && (await session.query(claims, [mode, account])).length === 0,
  }
}

interface Expiring {
  readonly at: number
  readonly spending: BonusSpending
  readonly inPart: boolean
}

const take = `UPDATE payment_bonus SET taken_nano = taken_nano + ?, expired_at = ? WHERE order_id = ?`

/** False while nodes lease some of the rest of the bonus: then none of it is taken or, with `inPart`, what is free. */
export async function expireBonus(
  session: Session,
  { orderId, account }: { readonly orderId: string; readonly account: string },
  { at, spending, inPart }: Expiring,
): Promise<boolean> {
  const wallet = (await lockWallets(session, [account])).get(account)
  const counters = await readCounters(session, account)
  const [bonus] = await bonusesOf(session, 'order_id = ? AND expired_at IS NULL', [orderId])
  // Another process has expired it.
  if (wallet === undefined || counters === null || bonus === undefined) return true
  const restNano = bonusLeft(bonus, counters, spending)
  const freeNano = wallet.postedNano - wallet.leasedNano
  const isWhole = restNano <= freeNano
  const amountNano = isWhole ? restNano : inPart ? freeNano : 0n
  if (!isWhole && amountNano === 0n) return false
  await session.run(take, [amountNano, isWhole ? at : null, orderId])
  if (amountNano === 0n) return true
  await moveBonusBase(session, account, amountNano)
  const debit = walletOf(account)
  const entry = { debit, credit: house.promo, actor: null, reason: `order ${orderId}`, at }
  // Several for one bonus: of parts, and of what a failed refund has restored.
  const id = `expiry:${orderId}:${randomUUID()}`
  await postAll(session, [{ ...entry, id, code: 'expiry', amountNano }])
  return isWhole
}

/** Excludes money that left the wallet unspent (negative: returned) from what bonuses count as spent. */
export async function moveBonusBase(
  session: Session,
  account: string,
  amountNano: Nano,
): Promise<void> {
  const sql = 'UPDATE payment_bonus SET debits_nano = debits_nano + ? WHERE account = ?'
  await session.run(sql, [amountNano, account])
}
