// The configuration as a deployment reads it: held to the vendors and formats there are.

import { type LoadOptions, loadConfig } from '../config/load.ts'
import type { Config } from '../config/types.ts'
import { vendors } from '../vendors/registry.ts'
import { operationOf } from '../wire/formats.ts'

/** Throws ConfigError. */
export function loadConfiguration(
  options: Pick<LoadOptions, 'flags' | 'env' | 'apart'>,
): Promise<Config> {
  return loadConfig({
    ...options,
    knownVendors: Object.keys(vendors),
    addresslessVendors: Object.values(vendors)
      .filter(({ baseUrl }) => baseUrl === null)
      .map(({ id }) => id),
    knownDialects: Object.keys(operationOf),
  })
}
