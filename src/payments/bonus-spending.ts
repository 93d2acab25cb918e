// Whether an account spends its bonus before or after its paid credit.

import type { PaymentSettings } from '../config/types.ts'
import type { BonusSpending } from '../store/payment-tables.ts'

/** Last where the deployment gives no bonus, or does not say. */
export function bonusSpending({ bonus }: Pick<PaymentSettings, 'bonus'>): BonusSpending {
  return bonus?.firstTopUp?.spent ?? 'last'
}
