// Versions of rate cards: appended, never changed.

import type { Engine, Session } from './engine.ts'
import type { PriceFileNote, PriceRow, PriceTable } from './ledger.ts'
import { cleanText, cleanTextOrNull } from './text.ts'

const insertPrice = `INSERT INTO price (version, model, effective_from, prices, origin, source,
  source_date, actor, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`

const selectPrices = `SELECT version, model, effective_from AS "effectiveFrom", prices, origin, source,
  source_date AS "sourceDate", actor, created_at AS "createdAt" FROM price ORDER BY version`

const keepNote = `INSERT INTO price_file (node, revision, cards) VALUES (?, ?, ?)
  ON CONFLICT (node) DO UPDATE SET revision = excluded.revision, cards = excluded.cards`

type KeptPrice = Omit<PriceRow, 'prices'> & { readonly prices: string }
type KeptNote = Omit<PriceFileNote, 'cards'> & { readonly cards: string }

export function priceTable(engine: Engine): PriceTable {
  return {
    append(rows) {
      return engine.transaction(async (session) => {
        const newest = await take(session, rows.length)
        if (newest === null) throw new Error('The table price_newest has lost its row.')
        return insert(session, newest, rows)
      })
    },
    appendAfter(known, rows, note) {
      return engine.transaction(async (session) => {
        const newest = await take(session, rows.length, known)
        if (newest === null) return null
        if (note !== undefined) {
          const { node, revision, cards } = note
          await session.run(keepNote, [cleanText(node), revision, JSON.stringify(cards)])
        }
        return insert(session, newest, rows)
      })
    },
    all: () => readPrices(engine),
    async files() {
      const sql = 'SELECT node, revision, cards FROM price_file ORDER BY node'
      const kept = await engine.query<KeptNote>(sql, [])
      return kept.map((note) => ({ ...note, cards: JSON.parse(note.cards) }))
    },
    async newest() {
      const sql = 'SELECT coalesce(max(version), 0) AS version FROM price'
      const [row] = await engine.query<{ readonly version: number }>(sql, [])
      return row?.version ?? 0
    },
  }
}

/** Reserves so many versions and returns the newest before them; null if that is not `known` any more. */
async function take(session: Session, count: number, known?: number): Promise<number | null> {
  const unchanged = known === undefined ? '' : 'WHERE version = ?'
  const [taken] = await session.query<{ readonly version: number }>(
    `UPDATE price_newest SET version = version + ? ${unchanged} RETURNING version`,
    known === undefined ? [count] : [count, known],
  )
  return taken === undefined ? null : taken.version - count
}

async function insert(
  session: Session,
  newest: number,
  rows: readonly Omit<PriceRow, 'version'>[],
): Promise<readonly number[]> {
  for (const [index, row] of rows.entries()) {
    await session.run(insertPrice, [
      newest + 1 + index,
      cleanText(row.model),
      row.effectiveFrom,
      JSON.stringify(row.prices),
      row.origin,
      cleanText(row.source),
      cleanTextOrNull(row.sourceDate),
      cleanTextOrNull(row.actor),
      row.createdAt,
    ])
  }
  return rows.map((_, index) => newest + 1 + index)
}

/** Every version, oldest first. */
export async function readPrices(session: Session): Promise<PriceRow[]> {
  const kept = await session.query<KeptPrice>(selectPrices, [])
  // A CHECK constraint ensures that the column is a JSON object, written only by this module.
  return kept.map((row) => ({ ...row, prices: JSON.parse(row.prices) as PriceRow['prices'] }))
}
