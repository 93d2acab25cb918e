// Groups as the file and the store say them, with what uses each.

import type { Shape } from '../../api/client.ts'

export type Item = Shape<'ConfigurationItem'>
export type Use = Shape<'GroupUse'>

export interface GroupRow {
  readonly item: Item
  readonly settings: GroupSettings
  /** Not known yet where it was made this moment. */
  readonly use: Use | undefined
  readonly currency: string
}

export interface GroupSettings {
  /** A decimal: `1.25`. */
  readonly multiplier: string
  /** In its place for some models, by name or by beginning with one * at the end. */
  readonly modelMultipliers: Readonly<Record<string, string>>
  /** Names, or beginnings with one * at the end. */
  readonly models: readonly string[]
  readonly limits: Readonly<Record<LimitName, number | null>>
}

export const limitNames = ['requestsPerMinute', 'tokensPerMinute', 'concurrentRequests'] as const
export type LimitName = (typeof limitNames)[number]

/** A document is checked by the server's schema; what it leaves out has its default. */
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
