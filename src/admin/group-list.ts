// The groups somebody may see: what they cost, and what they have.

import { anyoneOf } from '../operations/model-access.ts'
import type { Offer, Viewer } from './offer.ts'
import { type Page, pageOf } from './page.ts'
import type { Input } from './schema.ts'

interface GroupView {
  readonly id: string
  /** What prices are multiplied by: `1.25`. */
  readonly multiplier: string
  /** The same of some models, by name or by beginning with a * at the end. */
  readonly modelMultipliers: Readonly<Record<string, string>>
  readonly limits: Offer['config']['groups'][string]['limits']
  /** Names that are answered now. */
  readonly models: readonly string[]
  /** Anyone may read its models and prices. */
  readonly public: boolean
  /** The viewer has keys of it. */
  readonly hasKeys: boolean
}

/** By name. */
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
