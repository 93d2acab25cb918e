// Finds models without a price that channels serve or clients asked for: every request for one is refused.

import { isPattern } from '../config/beginnings.ts'
import { anyoneOf, noPrice } from '../operations/model-access.ts'
import type { UsageTable } from '../store/store.ts'
import type { Offer } from './offer.ts'

export interface MissingPrice {
  readonly model: string
  /** What is missing, in a few words. */
  readonly reason: string
  /** The groups that have the model. */
  readonly groups: readonly string[]
  /** Channels that list the model by name; a channel with a vendor's whole list, or a pattern, does not count. */
  readonly channels: readonly string[]
  /** Requests refused before any channel was asked, among the newest since the given moment. */
  readonly refused: number
}

/** Models with the most refused requests first. */
export async function missingPrices(
  usage: Pick<UsageTable, 'refused'>,
  offer: Offer,
  since: number,
): Promise<readonly MissingPrice[]> {
  const found = await usage.refused(since)
  const refused = new Map(found.map(({ model, requests }) => [model, requests]))
  const { config, modelAccess } = offer
  const named = config.channels.flatMap(({ models }) => Object.keys(models ?? {}))
  const names = new Set([...named, ...Object.keys(config.models), ...refused.keys()])
  return [...names]
    .filter((model) => model !== '' && !isPattern(model))
    .flatMap((model) => {
      const reasons = Object.keys(config.groups).flatMap((group) => {
        const reason = modelAccess.whyNot(anyoneOf(group), model)
        return reason?.startsWith(noPrice) === true ? [{ group, reason }] : []
      })
      const [first] = reasons
      if (first === undefined) return []
      return {
        model,
        reason: first.reason,
        groups: reasons.map(({ group }) => group),
        channels: config.channels
          .filter(({ models }) => models !== null && Object.hasOwn(models, model))
          .map(({ id }) => id),
        refused: refused.get(model) ?? 0,
      }
    })
    .sort((one, other) => other.refused - one.refused || (one.model < other.model ? -1 : 1))
}
