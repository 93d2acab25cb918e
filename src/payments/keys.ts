// The keys of payment providers, which the configuration has checked.

import type { KeyObject } from 'node:crypto'

/** Throws an error that names the setting if the key is null. */
export function needKey(key: KeyObject | null, setting: string): KeyObject {
  if (key === null) throw new Error(`payments.${setting} is no RSA key that can be read`)
  return key
}
