// How often somebody may have something asked of others, or try something, whichever process is asked.

import type { Pace } from '../../store/pace.ts'
import type { Store } from '../../store/store.ts'
import { ControlError } from './problem.ts'

/** Counts one use by the subject; throws ControlError `limited` with Retry-After where it had its share. */
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
