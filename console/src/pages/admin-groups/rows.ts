// Groups from the file and the store, with what uses each.

import type { Shape } from '../../api/client.ts'

export type Item = Shape<'ConfigurationItem'>
export type Use = Shape<'GroupUse'>

export interface GroupRow {
  readonly item: Item
  readonly settings: GroupSettings
  /** Not known yet if it was made this moment. */
  readonly use: Use | undefined
  readonly currency: string
}

export interface GroupSettings {
  /** A decimal: `1.25`. */
  readonly multiplier: string
  /** Replaces it for some models, by name or by a prefix followed by one *. */
  readonly modelMultipliers: Readonly<Record<string, string>>
  /** Names, or prefixes followed by one *. */
  readonly models: readonly string[]
  readonly limits: Readonly<Record<LimitName, number | null>>
}

export const limitNames = ['requestsPerMinute', 'tokensPerMinute', 'concurrentRequests'] as const
export type LimitName = (typeof limitNames)[number]

/** A document was checked by the server's schema; fields that it leaves out have their defaults. */
export function settingsOf({ document }: Pick<Item, 'document'>): GroupSettings {
  const { multiplier, modelMultipliers, models, limits } = document as Partial<GroupSettings>
  return {
    multiplier: multiplier ?? '1',
    modelMultipliers: modelMultipliers ?? {},
    models: models ?? ['*'],
    limits: {
      requestsPerMinute: limits?.requestsPerMinute ?? null,
      tokensPerMinute: limits?.tokensPerMinute ?? null,
      concurrentRequests: limits?.concurrentRequests ?? null,
    },
  }
}

export function rowsOf(
  items: readonly Item[],
  uses: { readonly items: readonly Use[]; readonly currency: string } | undefined,
): readonly GroupRow[] {
  return items.map((item) => ({
    item,
    settings: settingsOf(item),
    use: uses?.items.find(({ id }) => id === item.id),
    currency: uses?.currency ?? '',
  }))
}
