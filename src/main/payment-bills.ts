// Compares the payment providers' bills of the day before with what was booked; a difference is logged as a warning.

import type { OrderDesk } from '../admin/orders.ts'
import { chinaTime } from '../payments/china-time.ts'
import type { Store } from '../store/store.ts'
import type { Log } from '../telemetry/log.ts'

const hourMs = 3_600_000
const dayMs = 24 * hourMs
/** Bills are available from about ten in the morning (China time) on. */
const readyHour = 11
const againMs = hourMs
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
  /** By provider, the day that this process has compared. */
  const seen = new Map<string, string>()
  let waitUntil = 0

  async function compare(provider: (typeof providers)[number], day: string, nowMs: number) {
    const { comparePaymentBill } = await import('../admin/payment-bill.ts')
    const admin = { store, actor: 'bills', nowMs, currency: async () => '' }
    const { differences, moreDifferences } = await comparePaymentBill(admin, await desk(), {
      provider,
      day,
    })
    const count = differences.length + moreDifferences
    if (count > 0) {
      const first = differences.slice(0, 10)
      const message = 'the bill of a payment provider differs from what was booked'
      log.warn({ provider, day, count, differences: first }, message)
    }
  }

  return {
    /** Does nothing where it is too early, or the bill is compared already or by another process. */
    async look(nowMs: number): Promise<void> {
      const hour = Number(chinaTime(nowMs).slice(11, 13))
      if (hour < readyHour || nowMs < waitUntil) return
      const day = chinaTime(nowMs - dayMs).slice(0, 10)
      const { payments } = await desk()
      const names = new Set((await payments.offered()).map(({ name }) => name))
      const failures: unknown[] = []
      for (const provider of providers) {
        if (!names.has(provider) || seen.get(provider) === day) continue
        // Set also where another process takes the bill, since that one may fail.
        waitUntil = nowMs + againMs
        if (!(await store.bills.take({ provider, day }, nowMs, waitUntil))) continue
        try {
          await compare(provider, day, nowMs)
          seen.set(provider, day)
        } catch (error) {
          failures.push(error)
        }
      }
      if (failures.length > 0) throw failures[0]
    },
  }
}
