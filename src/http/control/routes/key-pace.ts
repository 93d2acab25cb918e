// How fast users get new secrets of keys, and how many keys they may have.

import type { Scope } from '../access.ts'
import { keepPace } from '../pace.ts'
import type { ControlServices } from '../services.ts'

export const secretsPace = {
  count: 30,
  spanMs: 60_000,
  message: 'An account gets at most 30 new secrets of keys a minute; try again later.',
}

/** Counts a new secret of a user and returns how many keys the account may have; operators are not limited. */
export async function newKeyLimit(
  { owner }: Pick<Scope, 'owner'>,
  { store, config }: Pick<ControlServices, 'store' | 'config'>,
): Promise<number> {
  if (owner === undefined) return Number.POSITIVE_INFINITY
  await keepPace(store, `secret of a key made: ${owner}`, secretsPace)
  return config().identity.mostKeys
}
