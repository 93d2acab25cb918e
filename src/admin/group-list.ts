// The groups of models that a viewer may see, with their prices and models.

import { anyoneOf } from '../operations/model-access.ts'
import type { Offer, Viewer } from './offer.ts'
import { type Page, pageOf } from './page.ts'
import type { Input } from './schema.ts'

interface GroupView {
  readonly id: string
  /** The factor on prices: `1.25`. */
  readonly multiplier: string
  /** Factors for some models, by name or by pattern ending in *. */
  readonly modelMultipliers: Readonly<Record<string, string>>
  readonly limits: Offer['config']['groups'][string]['limits']
  /** Names of the models that it may use now. */
  readonly models: readonly string[]
  /** Anyone may read its models and prices. */
  readonly public: boolean
  /** Whether the viewer has keys of this group. */
  readonly hasKeys: boolean
}

/** Sorted by name. */
export function listGroups(
  { config, modelAccess }: Offer,
  viewer: Viewer,
  page: Input<'listGroups'>,
): Page<GroupView> {
  const known = viewer.groups.filter((id) => config.groups[id] !== undefined)
  const shown = pageOf(known, (id) => id, page)
  const items = shown.items.flatMap((id) => {
    const settings = config.groups[id]
    if (settings === undefined) return []
    return {
      id,
      multiplier: settings.multiplier,
      modelMultipliers: settings.modelMultipliers ?? {},
      limits: settings.limits,
      models: modelAccess.models(anyoneOf(id)).map((model) => model.id),
      public: config.publicGroups.includes(id),
      hasKeys: viewer.keyGroups.includes(id),
    }
  })
  return { ...shown, items }
}
