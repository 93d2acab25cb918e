// Models of Anthropic, by "Models overview" of platform.claude.com/docs, @pydantic/genai-prices 0.1.8 and litellm
// 1.109.1.

import { type ShippedModel, type ShippedModels, thinks } from '../shipped.ts'

const million: ShippedModel = { ...thinks, context: 1_000_000, maxOutput: 128_000, vision: true }
const generation45: ShippedModel = { ...thinks, context: 200_000, maxOutput: 64_000, vision: true }
const generation41: ShippedModel = { ...generation45, maxOutput: 32_000 }

export const anthropic: ShippedModels = {
  vendor: 'anthropic',
  ownedBy: 'anthropic',
  models: {
    'claude-opus-5-5': million,
    'claude-opus-5': million,
    'claude-sonnet-5-5': million,
    'claude-sonnet-5': million,
    'claude-fable-5-1': million,
    'claude-fable-5': million,
    'claude-opus-4-8': million,
    'claude-opus-4-7': million,
    'claude-opus-4-6': million,
    'claude-sonnet-4-6': million,
    'claude-opus-4-5': generation45,
    'claude-sonnet-4-5': generation45,
    'claude-haiku-4-5': generation45,
    'claude-opus-4-1': generation41,
    'claude-sonnet-4-0': generation45,
    'claude-opus-4-0': generation41,
    // Names with a date, which many clients use.
    'claude-opus-4-5-20251101': generation45,
    'claude-sonnet-4-5-20250929': generation45,
    'claude-haiku-4-5-20251001': generation45,
    'claude-opus-4-1-20250805': generation41,
    'claude-sonnet-4-20250514': generation45,
    'claude-opus-4-20250514': generation41,
  },
}
