// How often one account may have something asked of others, on this process.

import { level, type Meter, unitsPerItem, waitMs } from '../../limits/gcra.ts'
import type { Pace } from '../../store/pace.ts'
import type { Store } from '../../store/store.ts'
import { ControlError } from './problem.ts'

/** Beyond so many, those that nobody uses any more are forgotten. */
const mostKept = 10_000

/** As `createPace`, on whichever process it is asked. */
export async function keepPace(
  { pace }: Pick<Store, 'pace'>,
  subject: string,
  { message, ...allowed }: Pace & { readonly message: string },
): Promise<void> {
  const waiting = await pace.take(subject, allowed)
  if (waiting === 0) return
  const seconds = Math.ceil(waiting / 1_000)
  throw new ControlError('limited', message, null, { 'retry-after': String(seconds) })
}

/**
 * What counts one use by `who` at `nowMs`: `perMinute` at once, then evenly. It throws ControlError `limited` with
 * Retry-After.
 */
export function createPace(perMinute: number, message: string) {
  const meters = new Map<string, Meter>()
  return (who: string, nowMs: number): void => {
    const meter = meters.get(who) ?? { used: 0, at: nowMs }
    const waiting = waitMs(level(meter, perMinute, nowMs), perMinute, unitsPerItem)
    if (waiting > 0) {
      const seconds = Math.ceil(waiting / 1_000)
      throw new ControlError('limited', message, null, { 'retry-after': String(seconds) })
    }
    meter.used += unitsPerItem
    meters.set(who, meter)
    if (meters.size <= mostKept) return
    for (const [each, kept] of meters) {
      if (level(kept, perMinute, nowMs) === 0) meters.delete(each)
    }
  }
}
