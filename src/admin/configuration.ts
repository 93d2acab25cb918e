// Loads the configuration and checks it against the known vendors and formats.

import type { KnownNames } from '../config/cross-check.ts'
import { type LoadOptions, loadConfig } from '../config/load.ts'
import type { Config } from '../config/types.ts'
import { vendors } from '../vendors/registry.ts'
import { operationOf } from '../wire/formats.ts'

export const knownNames: KnownNames & { readonly addressless: readonly string[] } = {
  vendors: Object.keys(vendors),
  dialects: Object.keys(operationOf),
  addressless: Object.values(vendors)
    .filter(({ baseUrl }) => baseUrl === null)
    .map(({ id }) => id),
}

/** Throws ConfigError. */
export function loadConfiguration(
  options: Pick<LoadOptions, 'flags' | 'env' | 'apart'>,
): Promise<Config> {
  return loadConfig({
    ...options,
    knownVendors: knownNames.vendors,
    addresslessVendors: knownNames.addressless,
    knownDialects: knownNames.dialects,
  })
}
