// Cards of prices as they were written down: appended, never changed.

import type { Engine, Session } from './engine.ts'
import type { PriceRow, PriceTable } from './ledger.ts'
import { cleanText, cleanTextOrNull } from './text.ts'

const insertPrice = `INSERT INTO price (version, model, effective_from, prices, origin, source,
  source_date, actor, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`

const selectPrices = `SELECT version, model, effective_from AS "effectiveFrom", prices, origin, source,
  source_date AS "sourceDate", actor, created_at AS "createdAt" FROM price ORDER BY version`

type KeptPrice = Omit<PriceRow, 'prices'> & { readonly prices: string }

export function priceTable(engine: Engine): PriceTable {
  return {
    append(rows) {
      return engine.transaction(async (session) => {
        const [newest] = await session.query<{ readonly version: number }>(
          'UPDATE price_newest SET version = version + ? RETURNING version',
          [rows.length],
        )
        if (newest === undefined) throw new Error('The table price_newest has lost its row.')
        const first = newest.version - rows.length + 1
        for (const [index, row] of rows.entries()) {
          await session.run(insertPrice, [
            first + index,
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
        return rows.map((_, index) => first + index)
      })
    },
    all: () => readPrices(engine),
    async newest() {
      const sql = 'SELECT coalesce(max(version), 0) AS version FROM price'
      const [row] = await engine.query<{ readonly version: number }>(sql, [])
      return row?.version ?? 0
    },
  }
}

/** Every version, oldest first. */
export async function readPrices(session: Session): Promise<PriceRow[]> {
  const kept = await session.query<KeptPrice>(selectPrices, [])
  // A CHECK keeps the column a JSON object; only this room writes it.
  return kept.map((row) => ({ ...row, prices: JSON.parse(row.prices) as PriceRow['prices'] }))
}
