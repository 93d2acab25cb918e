// A person's preferences in the console: read, and replaced as a whole.

import type { Input } from './schema.ts'
import { type AdminContext, AdminError } from './use-case.ts'

type Preferences = Input<'preferences'> & {
  /** 0: never set. */
  readonly revision: number
}

const unset: Input<'preferences'> = {
  language: null,
  theme: 'system',
  density: 'comfortable',
  timeZone: null,
  views: [],
  columns: {},
  buyer: null,
}

export async function readPreferences(
  { store }: AdminContext,
  { account }: Input<'account'>,
): Promise<Preferences> {
  const kept = await store.preferences.find(account)
  // Preferences that an earlier version did not know count as unset.
  const document = (kept?.document ?? {}) as Partial<Input<'preferences'>>
  return { ...unset, ...document, revision: kept?.revision ?? 0 }
}

/** Preferences left out are unset. Throws AdminError `stale`. */
export async function setPreferences(
  { store }: AdminContext,
  document: Input<'preferences'>,
  { account, revision }: { readonly account: string; readonly revision: number | undefined },
): Promise<Preferences> {
  for (;;) {
    const before = (await store.preferences.find(account))?.revision ?? 0
    if (revision !== undefined && revision !== before) {
      throw new AdminError('stale', 'revision', 'the preferences were changed since they were read')
    }
    // Another request changed them meanwhile: read them again.
    if (await store.preferences.put({ account, document, revision: before }))
      return { ...document, revision: before + 1 }
  }
}
