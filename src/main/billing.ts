// Builds the authorizer from the present prices, and logs models without a price that clients ask for.

import { type Authorizer, createAuthorizer } from '../billing/authorize.ts'
import type { Config } from '../config/types.ts'
import { compileMultipliers } from '../meter/multipliers.ts'
import type { ProcessParts } from './process.ts'

const tellAgainMs = 60_000

type AuthorizerParts = Pick<ProcessParts, 'ledger' | 'prices' | 'estimates' | 'log' | 'metrics'>

export function buildAuthorizer(
  config: Config,
  { ledger, prices, estimates, log, metrics }: AuthorizerParts,
): Authorizer {
  const multipliers = new Map(
    Object.values(config.groups).map((group) => [group.id, compileMultipliers(group)]),
  )
  const reported = new Map<string, number>()
  return createAuthorizer({
    ledger,
    policies: config.billing,
    estimates,
    currency: config.currency,
    prices: () => prices.book,
    multiplierPpm: (group, model) => multipliers.get(group)?.(model) ?? 1_000_000,
    unpriced(model, missing) {
      metrics.unpriced.inc()
      const nowMs = performance.now()
      if (nowMs - (reported.get(model) ?? Number.NEGATIVE_INFINITY) < tellAgainMs) return
      // Model names come from clients, so the memory for them is bounded.
      if (reported.size >= 1_000) reported.clear()
      reported.set(model, nowMs)
      // Operators copy it into a shell, and a client wrote the name.
      const fix = /^\w[\w./:@+-]*$/.test(model)
        ? `tollgate price set '${model}' input=... output=..., or models.${model}.prices`
        : undefined
      log.error({ model, missing, fix }, 'a model without a price was asked for and refused')
    },
  })
}
