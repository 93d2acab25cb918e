// Compares the payment providers' bills of the last days with what was booked; a difference is logged as a warning.

import type { OrderDesk } from '../admin/orders.ts'
import { chinaTime } from '../payments/china-time.ts'
import type { Store } from '../store/store.ts'
import type { Log } from '../telemetry/log.ts'

const hourMs = 3_600_000
const dayMs = 24 * hourMs
/** Bills are available from about ten in the morning (China time) on. */
const readyHour = 11
const againMs = hourMs
/** How many past days are compared, where that was missed. */
const mostDays = 7
const providers = ['alipay', 'wechatpay', 'stripe'] as const

interface BillParts {
  readonly store: Store
  readonly log: Log
  readonly desk: () => Promise<OrderDesk>
}

/**
 * Each bill is compared once in the deployment; a failure is tried again an hour later, by whichever process looks
 * then.
 */
export function createBillWatch({ store, log, desk }: BillParts) {
  /** Provider and day of the bills known to be compared. */
  const seen = new Set<string>()
  let waitUntil = 0

  async function compare(provider: (typeof providers)[number], day: string, nowMs: number) {
    const { comparePaymentBill } = await import('../admin/payment-bill.ts')
    const admin = { store, actor: 'bills', nowMs, currency: async () => '' }
    const { differences, moreDifferences } = await comparePaymentBill(admin, await desk(), {
      provider,
      day,
    })
    const count = differences.length + moreDifferences
    await store.bills.done({ provider, day }, nowMs, count)
    if (count > 0) {
      const first = differences.slice(0, 10)
      const message = 'the bill of a payment provider differs from what was booked'
      log.warn({ provider, day, count, differences: first }, message)
    }
  }

  return {
    /** Does nothing where it is too early, or the bills are compared already or by another process. */
    async look(nowMs: number): Promise<void> {
      const hour = Number(chinaTime(nowMs).slice(11, 13))
      if (hour < readyHour || nowMs < waitUntil) return
      const days = Array.from({ length: mostDays }, (_, index) =>
        chinaTime(nowMs - (mostDays - index) * dayMs).slice(0, 10),
      )
      const { payments } = await desk()
      const offered = (await payments.offered()).map(({ name }) => name)
      const bills = days.flatMap((day) => offered.map((provider) => ({ provider, day })))
      const failures: unknown[] = []
      for (const { provider, day } of bills) {
        if (seen.has(`${provider} ${day}`)) continue
        // Set also where another process takes the bill, since that one may fail.
        waitUntil = nowMs + againMs
        if (!(await store.bills.take({ provider, day }, nowMs, waitUntil))) continue
        try {
          await compare(provider, day, nowMs)
          seen.add(`${provider} ${day}`)
        } catch (error) {
          failures.push(error)
        }
      }
      if (failures.length > 0) throw failures[0]
    },
  }
}
