// Puts the prices of a configuration file in force from now on, whatever other nodes' files contain.

import type { Config } from '../config/types.ts'
import { commandNode, declaredPrices, newestOfFile, samePrices } from '../meter/file-prices.ts'
import type { PriceFileNote, PriceRow } from '../store/ledger.ts'
import { compareCards, type Difference, newRow, type Prices } from './price-card.ts'
import type { Input } from './schema.ts'
import type { AdminContext } from './use-case.ts'

export interface FilePriceChange {
  readonly model: string
  readonly before: Prices | null
  /** Empty: the file's card is withdrawn, and the next origin's card is in force. */
  readonly prices: Prices
  readonly differences: readonly Difference[]
  /** null: not applied. */
  readonly version: number | null
}

interface FilePrices {
  readonly changes: readonly FilePriceChange[]
  /** Models whose change is too large to apply without `allowLarge`; where there are any, nothing was applied. */
  readonly refused: readonly string[]
}

/** Starts again where a node stored prices meanwhile. */
export async function applyFilePrices(
  context: AdminContext,
  config: Pick<Config, 'models' | 'priceRevision'>,
  { allowLarge }: Input<'applyFilePrices'>,
): Promise<FilePrices> {
  const table = context.store.prices
  for (;;) {
    const rows = await table.all()
    const notes = await table.files()
    const changes = changesOf(rows, config.models)
    const large = changes.filter(({ differences }) => differences.some((each) => each.large))
    if (large.length > 0 && !allowLarge) {
      return { changes, refused: large.map(({ model }) => model) }
    }
    const added = changes.map(({ model, prices }) =>
      newRow(context, 'file', { model, prices, source: 'configuration' }),
    )
    const note = noteOf(notes, config.priceRevision)
    const versions = await table.appendAfter(rows.at(-1)?.version ?? 0, added, note)
    if (versions === null) continue
    const applied = changes.map((change, at) => ({ ...change, version: versions[at] ?? 0 }))
    return { changes: applied, refused: [] }
  }
}

function changesOf(rows: readonly PriceRow[], models: Config['models']): FilePriceChange[] {
  const stored = newestOfFile(rows)
  const declared = declaredPrices(models)
  return [...new Set([...declared.keys(), ...stored.keys()])].flatMap((model) => {
    const before = stored.get(model)?.prices ?? null
    const prices = declared.get(model) ?? {}
    if (samePrices(before ?? {}, prices)) return []
    return [{ model, before, prices, differences: differencesOf(before, prices), version: null }]
  })
}

/** None where the card is withdrawn. */
function differencesOf(before: Prices | null, prices: Prices): Difference[] {
  if (Object.keys(prices).length === 0) return []
  const known = before !== null && Object.keys(before).length > 0 ? before : null
  return compareCards(known, prices)
}

/** The revision never decreases; files with a lower revision are ignored. */
function noteOf(notes: readonly PriceFileNote[], revision: number): PriceFileNote {
  const highest = notes.reduce((most, note) => Math.max(most, note.revision), revision)
  return { node: commandNode, revision: highest, cards: {} }
}
