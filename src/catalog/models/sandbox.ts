// Models of the built-in sandbox, which needs no vendor and no network.

import { embeds, type ShippedModels } from '../shipped.ts'

export const sandbox: ShippedModels = {
  vendor: 'sandbox',
  ownedBy: 'sandbox',
  models: {
    'sandbox/chat': { vision: true },
    'sandbox/reasoning': {},
    'sandbox/completion': { kind: 'completion' },
    'sandbox/embedding': embeds,
  },
}
