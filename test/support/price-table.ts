// A price table in memory, for tests of code that uses one.

import type { PriceFileNote, PriceRow, PriceTable } from '../../src/store/ledger.ts'

export interface MemoryPrices extends PriceTable {
  /** While set, every call rejects with it. */
  broken: Error | null
}

export function memoryPrices(): MemoryPrices {
  const kept: PriceRow[] = []
  const notes = new Map<string, PriceFileNote>()
  const table: MemoryPrices = {
    broken: null,
    async append(rows) {
      if (table.broken !== null) throw table.broken
      return rows.map((row) => kept.push({ ...row, version: kept.length + 1 }))
    },
    async appendAfter(newest, rows, note) {
      if (newest !== kept.length) return null
      if (note !== undefined) notes.set(note.node, note)
      return table.append(rows)
    },
    async files() {
      return [...notes.values()]
    },
    async all() {
      if (table.broken !== null) throw table.broken
      return [...kept]
    },
    async newest() {
      if (table.broken !== null) throw table.broken
      return kept.length
    },
  }
  return table
}

/** A row in which the fields that a test does not set have defaults. */
export function priceRow(given: Partial<PriceRow> & Pick<PriceRow, 'version' | 'model'>): PriceRow {
  return {
    effectiveFrom: 0,
    prices: { input: String(given.version), output: String(given.version) },
    origin: 'set',
    source: 'test',
    sourceDate: null,
    actor: null,
    createdAt: 0,
    ...given,
  }
}
