// Statement of one wallet for a period: opening and closing balance, entries and charges, from one snapshot.

import type { Nano } from '../money.ts'
import type { Engine, Session } from './engine.ts'
import { type Statement, type StatementFilter, type StatementReader, walletOf } from './ledger.ts'
import { rare } from './ledger-entries.ts'
import { cleanText } from './text.ts'
import { readWallets } from './wallets.ts'

const ownSeries = 'series IN (SELECT id FROM usage_series WHERE account = ?)'

export function statementReader(engine: Engine): StatementReader {
  return { read: (filter) => readStatement(engine, filter) }
}

async function readStatement(
  engine: Engine,
  { since, until, limit, ...filter }: StatementFilter,
): Promise<Statement | null> {
  const account = cleanText(filter.account)
  return engine.snapshot(async (session) => {
    const [wallet] = await readWallets(session, account)
    if (wallet === undefined) return null
    const [opening, closing] = [
      wallet.postedNano - (await effectFrom(session, account, since)),
      wallet.postedNano - (await effectFrom(session, account, until)),
    ]
    return {
      openingNano: opening,
      closingNano: closing,
      entries: await entriesIn(session, account, { since, until, limit }),
      charges: await chargesIn(session, account, since, until),
    }
  })
}

/** Sum of all changes of the wallet from a moment on. */
async function effectFrom(session: Session, account: string, since: number): Promise<Nano> {
  const wallet = walletOf(account)
  const sums = await session.query<{ readonly sum: string }>(
    `SELECT CAST(coalesce(sum(amount_nano), 0) AS TEXT) AS sum FROM transfer
        WHERE ${rare} AND credit = ? AND at >= ?
      UNION ALL SELECT CAST(coalesce(-sum(amount_nano), 0) AS TEXT) FROM transfer
        WHERE ${rare} AND debit = ? AND at >= ?
      UNION ALL SELECT CAST(coalesce(-sum(charge_nano), 0) AS TEXT) FROM usage_quarter
        WHERE ${ownSeries} AND quarter >= ?`,
    [wallet, since, wallet, since, account, since],
  )
  return sums.reduce((total, { sum }) => total + BigInt(sum), 0n)
}

type KeptEntry = Omit<Statement['entries'][number], 'effectNano'> & { readonly effectNano: string }

async function entriesIn(
  session: Session,
  account: string,
  { since, until, limit }: Pick<StatementFilter, 'since' | 'until' | 'limit'>,
): Promise<Statement['entries']> {
  const wallet = walletOf(account)
  const side = (name: string, sign: string) =>
    `SELECT id, code, at, reason, CAST(${sign}amount_nano AS TEXT) AS "effectNano" FROM transfer
      WHERE ${rare} AND ${name} = ? AND at >= ? AND at < ?`
  const kept = await session.query<KeptEntry>(
    `${side('credit', '')} UNION ALL ${side('debit', '-')} ORDER BY at, id LIMIT ?`,
    [wallet, since, until, wallet, since, until, limit],
  )
  return kept.map((entry) => ({ ...entry, effectNano: BigInt(entry.effectNano) }))
}

type KeptCharge = Omit<Statement['charges'][number], 'chargeNano'> & { readonly chargeNano: string }

async function chargesIn(
  session: Session,
  account: string,
  since: number,
  until: number,
): Promise<Statement['charges']> {
  const kept = await session.query<KeptCharge>(
    `SELECT key_id AS key, model, CAST(sum(requests) AS BIGINT) AS requests,
        CAST(sum(charge_nano) AS TEXT) AS "chargeNano"
      FROM usage_quarter JOIN usage_series ON usage_series.id = series
      WHERE account = ? AND quarter >= ? AND quarter < ?
      GROUP BY key_id, model HAVING sum(charge_nano) > 0 ORDER BY key_id, model`,
    [account, since, until],
  )
  return kept.map((charge) => ({ ...charge, chargeNano: BigInt(charge.chargeNano) }))
}
