// Takes what is left of bonuses whose time is over out of the wallets.

import type { PaymentSettings } from '../config/types.ts'
import type { Store } from '../store/store.ts'
import { bonusSpending } from './bonus-spending.ts'
import { whenFree } from './when-free.ts'

/**
 * What is left of a bonus may be all that the account has, of which nodes lease a part while it is in use. Where requests
 * follow each other without a pause, what they hold is left to the next call.
 */
export async function endBonuses(
  store: Pick<Store, 'payments' | 'leases'>,
  settings: Pick<PaymentSettings, 'bonus'>,
  nowMs: number,
): Promise<void> {
  const spending = bonusSpending(settings)
  const end = (inPart: boolean) => store.payments.expireBonuses(nowMs, { spending, inPart })
  const ended = await whenFree(store.leases, () => end(false))
  if (ended.outcome === 'leased') await end(true)
}
