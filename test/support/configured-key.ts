// A key as a configuration declares it, for tests.

import type { KeyConfig } from '../../src/config/types.ts'

export function configured(secret: string, change: Partial<KeyConfig> = {}): KeyConfig {
  return {
    name: 'bench',
    account: 'bench',
    group: 'default',
    secret,
    expiresAt: null,
    models: null,
    deniedModels: null,
    addresses: null,
    spendLimit: null,
    historyMode: null,
    disabled: false,
    showCost: false,
    limits: {},
    ...change,
  }
}
