// Decides which group a new account gets.

import { defaultGroup } from '../config/defaults.ts'
import { declaredSettings } from '../config/run-time.ts'
import type { Config } from '../config/types.ts'
import type { AdminContext } from './use-case.ts'

/** The configuration file takes precedence over the store's setting. */
export async function groupOfNewAccounts(
  { store }: Pick<AdminContext, 'store'>,
  config: Config,
): Promise<string> {
  const declared = declaredSettings(config)['identity.defaultGroup']
  if (typeof declared === 'string') return declared
  const set = (await store.settings.all()).find(({ name }) => name === 'identity.defaultGroup')
  return typeof set?.value === 'string' ? set.value : defaultGroup
}
