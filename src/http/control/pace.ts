// Limits how often a subject may do something, such as trying codes; counted across all processes.

import type { Pace } from '../../store/pace.ts'
import type { Store } from '../../store/store.ts'
import { ControlError } from './problem.ts'

/** Counts one use by the subject. Throws ControlError `limited` with Retry-After when its allowance is used up. */
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
