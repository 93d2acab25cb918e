// The journal: posts transfers, all or none, and reads those of one wallet.

import type { Nano } from '../money.ts'
import type { Bulk, Engine, Session, Value } from './engine.ts'
import { house, type JournalTable, type Transfer, walletOf } from './ledger.ts'
import { chargeColumns, newestFirst, rare, readEntries } from './ledger-entries.ts'
import { RowRefused } from './store.ts'
import { cleanText, cleanTextOrNull } from './text.ts'
import { lockWallets, moveHouse, moveWallets, readWallets } from './wallets.ts'

const columns = 'id, code, debit, credit, amount_nano, actor, reason, at'

/** Ignores transfers whose id is already there. */
export const insertTransfers: Bulk = {
  sqlite: `INSERT INTO transfer (${columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
  postgres: `INSERT INTO transfer (${columns})
    SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[],
      $6::text[], $7::text[], $8::bigint[])
    ON CONFLICT DO NOTHING`,
}

const select = `SELECT transfer.id, transfer.code, transfer.debit, transfer.credit,
  CAST(transfer.amount_nano AS TEXT) AS "amountNano", transfer.actor, transfer.reason,
  transfer.at FROM`

const selectRare = `${select} transfer WHERE ${rare} AND debit = ?
  UNION ALL ${select} transfer WHERE ${rare} AND credit = ?
  ORDER BY at DESC, id DESC LIMIT ?`

const selectUsed = `SELECT ${chargeColumns}, CAST(charge_nano AS TEXT) AS "amountNano" FROM usage
  WHERE account = ? AND charge_nano > 0 ORDER BY at DESC, request_id DESC LIMIT ?`

export function journalTable(engine: Engine): JournalTable {
  return {
    post: (transfers) => post(engine, transfers),
    async wallet(account) {
      const [wallet] = await readWallets(engine, cleanText(account))
      return wallet ?? null
    },
    wallets: () => readWallets(engine),
    entries: (filter) => readEntries(engine, filter),
    async credited(since) {
      const sources = Object.values(house)
      const [sum] = await engine.query<{ readonly nano: string }>(
        `SELECT CAST(coalesce(sum(amount_nano), 0) AS TEXT) AS nano FROM transfer
          WHERE ${rare} AND debit IN (${sources.map(() => '?').join(', ')}) AND at >= ?
            AND credit LIKE 'wallet:%' AND code NOT IN ('refund_undone', 'clawback_undone')`,
        [...sources, since],
      )
      return BigInt(sum?.nano ?? 0)
    },
    async transfers({ account, usage, limit }) {
      const name = cleanText(account)
      const read = async (sql: string, values: readonly Value[]) => {
        const kept = await engine.query<Omit<Transfer, 'amountNano'> & { amountNano: string }>(
          sql,
          values,
        )
        return kept.map((row) => ({ ...row, amountNano: BigInt(row.amountNano) }))
      }
      const wallet = walletOf(name)
      const found = await read(selectRare, [wallet, wallet, limit])
      if (!usage) return found
      const used = await read(selectUsed, [name, limit])
      return [...found, ...used].sort(newestFirst).slice(0, limit)
    },
  }
}

type Posted = Awaited<ReturnType<JournalTable['post']>>

/** Thrown to roll back a posting for which a wallet lacks money. */
class Insufficient extends Error {}

async function post(engine: Engine, transfers: readonly Transfer[]): Promise<Posted> {
  const cleaned = transfers.map(cleanTransfer)
  try {
    return await engine.transaction((session) => postAll(session, cleaned))
  } catch (error) {
    if (error instanceof Insufficient) return 'insufficient'
    throw error
  }
}

/**
 * A bonus that is spent last has lost what the wallet lacks of it. That must be noted before money comes in: afterwards
 * it could not be told from the rest of the bonus, and would expire with it.
 */
const noteSpentBonus = `UPDATE payment_bonus SET spent_nano = amount_nano - taken_nano - ?
  WHERE account = ? AND expired_at IS NULL AND amount_nano - taken_nano - spent_nano > ?`

/** Posts in the caller's transaction. Throws `Insufficient` if a wallet lacks money, and RowRefused. */
export async function postAll(session: Session, transfers: readonly Transfer[]): Promise<Posted> {
  const moves = movesOf(transfers)
  const wallets = await lockWallets(session, moves.wallets.keys())
  // Inserted before the wallets are checked: a repeated posting is `known`, whatever the wallet has now.
  const [first, ...others] = transfers.map(transferValues)
  if (first === undefined) return 'posted'
  if ((await session.bulk(insertTransfers, [first])) === 0) return 'known'
  if (others.length > 0 && (await session.bulk(insertTransfers, others)) < others.length) {
    throw new RowRefused(`One of these transfers is in the journal already, ${first[0]} is not`)
  }
  // Reports errors that can never succeed before a lack of money.
  const unknown = [...moves.wallets.keys()].find((account) => !wallets.has(account))
  if (unknown !== undefined) throw new RowRefused(`There is no account ${unknown}`)
  for (const [account, { postedNano, leasedNano }] of wallets) {
    const { creditNano = 0n, debitNano = 0n } = moves.wallets.get(account) ?? {}
    const lessNano = debitNano - creditNano
    if (lessNano > 0n && lessNano > postedNano - leasedNano) throw new Insufficient()
    if (creditNano > 0n) await session.run(noteSpentBonus, [postedNano, account, postedNano])
  }
  await moveWallets(
    session,
    [...moves.wallets].map(([account, move]) => ({ account, ...move, pendingNano: 0n })),
  )
  await moveHouse(
    session,
    [...moves.house].map(([id, move]) => ({ id, ...move, pendingNano: 0n })),
  )
  return 'posted'
}

interface Sums {
  debitNano: Nano
  creditNano: Nano
}

/** Sums of the transfers for each wallet, by account, and for each of the operator's accounts. */
function movesOf(transfers: readonly Transfer[]) {
  const wallets = new Map<string, Sums>()
  const house = new Map<string, Sums>()
  const sums = (id: string): Sums => {
    const [side, name] = id.startsWith(walletPrefix)
      ? [wallets, id.slice(walletPrefix.length)]
      : [house, id]
    const found = side.get(name) ?? { debitNano: 0n, creditNano: 0n }
    side.set(name, found)
    return found
  }
  for (const { debit, credit, amountNano } of transfers) {
    sums(debit).debitNano += amountNano
    sums(credit).creditNano += amountNano
  }
  return { wallets, house }
}

const walletPrefix = walletOf('')

function cleanTransfer(transfer: Transfer): Transfer {
  const { id, code } = transfer
  if (cleanText(id) !== id) throw new RowRefused('The id of a transfer is too long or not text')
  // A usage row and its entries are made together, by settling only.
  if (code === 'usage' || code === 'writeoff') throw new RowRefused(`${code} is posted by settling`)
  return {
    ...transfer,
    debit: cleanText(transfer.debit),
    credit: cleanText(transfer.credit),
    actor: cleanTextOrNull(transfer.actor),
    reason: cleanTextOrNull(transfer.reason),
  }
}

function transferValues(transfer: Transfer): Value[] {
  const { id, code, debit, credit, amountNano, actor, reason, at } = transfer
  return [id, code, debit, credit, amountNano, actor, reason, at]
}
