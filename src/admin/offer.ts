// The models and prices offered at present, and the groups that a viewer may see.

import type { Config } from '../config/types.ts'
import type { PriceBook } from '../meter/meter.ts'
import { createPriceBook } from '../meter/price-book.ts'
import type { ModelAccess } from '../operations/model-access.ts'
import { buildModelAccess } from '../operations/offering.ts'
import type { PriceRow } from '../store/ledger.ts'
import type { Live } from './model-live.ts'
import { type AdminContext, AdminError } from './use-case.ts'

export interface Offer {
  readonly config: Config
  readonly modelAccess: ModelAccess
  /** Built from `rows`. */
  readonly book: PriceBook
  readonly rows: readonly PriceRow[]
  /** Recent performance of models, by name. */
  readonly live: ReadonlyMap<string, Live>
}

/** The viewer of prices. */
export interface Viewer {
  /** The groups that the viewer may ask for; the first is the default. */
  readonly groups: readonly string[]
  /** The groups of the viewer's own keys. */
  readonly keyGroups: readonly string[]
}

/** Uses the store's prices. `config` includes the channels in use. */
export function offerOf(
  config: Config,
  rows: readonly PriceRow[],
  live: Offer['live'] = new Map(),
): Offer {
  const book = createPriceBook(rows)
  const modelAccess = buildModelAccess(config, config.channels, () => book)
  return { config, modelAccess, book, rows, live }
}

/** What anyone may see: the groups that the file makes public. */
export function publicViewer({ publicGroups }: Config): Viewer {
  return { groups: publicGroups, keyGroups: [] }
}

/** Every group, `first` before the others. */
export function adminViewer({ groups }: Pick<Config, 'groups'>, first: string): Viewer {
  return { groups: firstOf(first, Object.keys(groups)), keyGroups: [] }
}

/** The groups that the account may make keys for, `first` before the others, and those it has keys of. */
export async function accountViewer(
  { store }: Pick<AdminContext, 'store'>,
  config: Config,
  account: string,
  first: string,
): Promise<Viewer> {
  const person = await store.people.find(account)
  const keys = [...(await store.keys.all(account)), ...config.keys]
  const own = keys.flatMap((key) => (key.account === account ? [key.group] : []))
  const keyGroups = [...new Set(own)].filter((id) => Object.hasOwn(config.groups, id)).sort()
  const allowed = new Set([...(person?.groups ?? Object.keys(config.groups)), ...keyGroups])
  const groups = Object.keys(config.groups).filter((id) => allowed.has(id))
  return { groups: firstOf(first, groups), keyGroups }
}

function firstOf(first: string, groups: readonly string[]): readonly string[] {
  return groups.toSorted((one, other) => Number(other === first) - Number(one === first))
}

/**
 * The group asked for, or the viewer's first. Throws AdminError `not_found`, also for a group the viewer may not see.
 */
export function groupFor({ groups }: Viewer, asked: string | undefined): string {
  const group = asked ?? groups[0]
  if (group !== undefined && groups.includes(group)) return group
  throw new AdminError(
    'not_found',
    'group',
    asked === undefined ? 'no group is shown to you' : `there is no group ${JSON.stringify(asked)}`,
  )
}
