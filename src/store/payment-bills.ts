// Bills of payment providers: one process of the deployment compares each with what was booked.

import type { Engine } from './engine.ts'
import { aheadMs } from './leases.ts'
import type { PaymentProvider } from './payment-tables.ts'

interface Bill {
  readonly provider: PaymentProvider
  /** A date such as `2026-11-23`. */
  readonly day: string
}

export interface BillTable {
  /** Reserves the bill until then; false if it was compared already, or another process has it. Unix milliseconds. */
  take(bill: Bill, nowMs: number, until: number): Promise<boolean>
  /** Records the comparison and its number of differences. */
  done(bill: Bill, nowMs: number, differences: number): Promise<void>
  /** Replaces the result of an earlier comparison; where there is none, it does nothing. */
  again(bill: Bill, nowMs: number, differences: number): Promise<void>
  /** Bills compared after `since` that have differences, by day. */
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
          WHERE payment_bill.compared_at IS NULL
            AND (payment_bill.until <= ? OR payment_bill.until > ?) RETURNING provider`,
        [provider, day, until, nowMs, until + aheadMs],
      )
      return taken.length > 0
    },
    async done({ provider, day }, nowMs, differences) {
      await engine.run(
        'UPDATE payment_bill SET compared_at = ?, differences = ? WHERE provider = ? AND day = ?',
        [nowMs, differences, provider, day],
      )
    },
    async again({ provider, day }, nowMs, differences) {
      await engine.run(
        `UPDATE payment_bill SET compared_at = ?, differences = ?
          WHERE provider = ? AND day = ? AND compared_at IS NOT NULL`,
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
