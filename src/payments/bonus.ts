// The bonus on a first payment, by the operator's rule.

import type { PaymentSettings } from '../config/types.ts'
import type { Nano } from '../money.ts'
import type { BonusGrant } from '../store/payment-tables.ts'
import { nanoOf, percentOf } from './amount.ts'

type BonusRule = NonNullable<NonNullable<PaymentSettings['bonus']>['firstTopUp']>

const dayMs = 86_400_000

/** In the deployment's currency, as are the rule's amounts; null if the payment is too small or earns nothing. */
export function bonusOf(
  rule: BonusRule | null | undefined,
  paidNano: Nano,
  nowMs: number,
): BonusGrant | null {
  if (!rule || paidNano < nanoOf(rule.minimum)) return null
  const reached = rule.tiers.filter(({ from }) => paidNano >= nanoOf(from))
  const best = reached.toSorted((one, other) => Number(nanoOf(other.from) - nanoOf(one.from)))[0]
  const percent = best?.percent ?? rule.percent ?? '0'
  const givenNano = rule.amount === null ? percentOf(paidNano, percent) : nanoOf(rule.amount)
  const mostNano = rule.max === null ? givenNano : nanoOf(rule.max)
  const amountNano = givenNano < mostNano ? givenNano : mostNano
  if (amountNano === 0n) return null
  return { amountNano, expiresAt: rule.days === null ? null : nowMs + rule.days * dayMs }
}
