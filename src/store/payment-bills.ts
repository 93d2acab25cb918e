// Bills of providers: each is held against what was booked by one process of the deployment.

import type { Engine } from './engine.ts'
import type { PaymentProvider } from './payment-tables.ts'

interface Bill {
  readonly provider: PaymentProvider
  /** `2026-11-23`. */
  readonly day: string
}

export interface BillTable {
  /** False where it was compared, or another process has it until then. Times in Unix milliseconds. */
  take(bill: Bill, nowMs: number, until: number): Promise<boolean>
  /** It was compared: so many differences. */
  done(bill: Bill, nowMs: number, differences: number): Promise<void>
  /** Those compared since then that differ, the oldest first. */
  differing(since: number): Promise<readonly DifferingBill[]>
}

export interface DifferingBill extends Bill {
  /** When it was compared, Unix milliseconds. */
  readonly comparedAt: number
  readonly differences: number
}

export function billTable(engine: Engine): BillTable {
  return {
    async take({ provider, day }, nowMs, until) {
      const taken = await engine.query(
        `INSERT INTO payment_bill (provider, day, until) VALUES (?, ?, ?)
          ON CONFLICT (provider, day) DO UPDATE SET until = excluded.until
          WHERE payment_bill.compared_at IS NULL AND payment_bill.until <= ? RETURNING provider`,
        [provider, day, until, nowMs],
      )
      return taken.length > 0
    },
    async done({ provider, day }, nowMs, differences) {
      await engine.run(
        'UPDATE payment_bill SET compared_at = ?, differences = ? WHERE provider = ? AND day = ?',
        [nowMs, differences, provider, day],
      )
    },
    differing: (since) =>
      engine.query<DifferingBill>(
        `SELECT provider, day, compared_at AS "comparedAt", differences FROM payment_bill
          WHERE compared_at > ? AND differences > 0 ORDER BY day, provider`,
        [since],
      ),
  }
}
