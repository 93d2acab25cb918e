// The prices of this process: stored from its configuration, followed in the store, and checked for conflicts.

import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { type AliasPrices, aliasPrices } from '../catalog/alias-prices.ts'
import { shippedPrices } from '../catalog/shipped-prices.ts'
import type { Config } from '../config/types.ts'
import { keptText } from '../identity/kept-text.ts'
import { ensurePrices } from '../meter/ensure-prices.ts'
import { type PriceConflict, priceConflicts } from '../meter/file-prices.ts'
import type { PriceBook } from '../meter/meter.ts'
import { createPriceBook } from '../meter/price-book.ts'
import type { PriceRow } from '../store/ledger.ts'
import type { Store } from '../store/store.ts'
import type { Log } from '../telemetry/log.ts'

/** In the data directory: identifies this node's configuration file among those of other nodes. */
const nodeFile = 'price-node'

const fix =
  "put the price in force into the file; or raise the file's priceRevision, or run tollgate price apply --config FILE"

export class Prices {
  book: PriceBook = createPriceBook([])
  rows: readonly PriceRow[] = []
  /** Models and aliases whose price by this node's configuration differs from the one in force. */
  conflicts: readonly PriceConflict[] = []
  readonly #store: Store
  readonly #log: Log
  #config: Config
  #aliases: readonly AliasPrices[] = []

  private constructor(store: Store, config: Config, log: Log) {
    this.#store = store
    this.#config = config
    this.#log = log
  }

  static async open(store: Store, config: Config, log: Log): Promise<Prices> {
    const prices = new Prices(store, config, log)
    await prices.load(config)
    return prices
  }

  /** Stores prices of the configuration and the catalogue that are new, and reads every card. */
  async load(config: Config): Promise<void> {
    const shipped = shippedPrices(config.currency)
    const aliases = aliasPrices(config.channels, shipped)
    const cards = [...shipped, ...aliases]
    const file = { node: this.#node(config), revision: config.priceRevision }
    const nowMs = Date.now()
    const rows = await ensurePrices(this.#store.prices, config.models, cards, nowMs, file)
    this.#config = config
    this.#aliases = aliases
    for (const row of rows) {
      const { model, version, prices, effectiveFrom, createdAt, origin } = row
      // Cards that are in force from the beginning replace none.
      if (origin === 'file' && createdAt === nowMs && effectiveFrom > 0)
        this.#log.warn({ model, version, prices }, 'the file changed a price, for every node')
    }
    this.take(rows)
  }

  /** Replaces the prices by these rows, which are all versions. */
  take(rows: readonly PriceRow[]): void {
    this.book = createPriceBook(rows)
    this.rows = rows
    const conflicts = priceConflicts(rows, this.#config.models, this.#aliases)
    const isReported = JSON.stringify(conflicts) === JSON.stringify(this.conflicts)
    this.conflicts = conflicts
    if (isReported) return
    if (conflicts.length === 0)
      this.#log.info({}, "the prices of this node's configuration file are in force")
    else
      this.#log.error(
        { conflicts, fix },
        "prices of this node's configuration file differ from later ones, which are in force",
      )
  }

  /** Texts for people; empty where the file and the store agree. */
  warnings(): readonly string[] {
    if (this.conflicts.length === 0) return []
    const names = this.conflicts.map(({ model }) => model).join(', ')
    return [
      `prices of the configuration file are not in force, because later ones are: ${names}; tollgate config check shows them`,
    ]
  }

  /** A data directory with its own database is the same node for ever. */
  #node({ dataDir }: Config): string {
    if (this.#store.engine === 'sqlite') return 'local'
    return keptText(join(dataDir, nodeFile), randomUUID)
  }
}
