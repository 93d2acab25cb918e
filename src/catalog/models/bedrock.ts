// Models on Amazon Bedrock by their ids for Converse; context windows from @pydantic/genai-prices 0.1.8.

import { type ShippedModel, type ShippedModels, thinks } from '../shipped.ts'

const million: ShippedModel = { ...thinks, context: 1_000_000, vision: true }
const older: ShippedModel = { ...thinks, context: 200_000, vision: true }

/**
 * `global.` names the profiles that any region may serve. Profiles of one geography (`us.`, `eu.`, ...) cost more, so
 * the operator has to configure them.
 */
export const bedrock: ShippedModels = {
  vendor: 'bedrock',
  ownedBy: 'amazon',
  models: {
    'global.anthropic.claude-opus-5-5': million,
    'global.anthropic.claude-opus-5': million,
    'global.anthropic.claude-sonnet-5-v1:0': million,
    'global.anthropic.claude-opus-4-8-v1:0': million,
    'global.anthropic.claude-opus-4-7-v1:0': million,
    'global.anthropic.claude-opus-4-6-v1:0': million,
    'global.anthropic.claude-sonnet-4-6-v1:0': million,
    'global.anthropic.claude-opus-4-5-v1:0': older,
    'global.anthropic.claude-sonnet-4-5-20250929-v1:0': older,
    'global.anthropic.claude-haiku-4-5-20251001-v1:0': older,
    'global.amazon.nova-2-lite-v1:0': million,
    'amazon.nova-premier-v1:0': { context: 1_000_000, vision: true },
    'amazon.nova-pro-v1:0': { context: 300_000, vision: true },
    'amazon.nova-lite-v1:0': { context: 300_000, vision: true },
    'amazon.nova-micro-v1:0': { context: 128_000 },
    'openai.gpt-oss-120b-1:0': { ...thinks, context: 128_000 },
    'openai.gpt-oss-20b-1:0': { ...thinks, context: 128_000 },
    'meta.llama3-3-70b-instruct-v1:0': { context: 128_000 },
    'mistral.mistral-large-3-675b-instruct': { context: 256_000 },
    'deepseek.r1-v1:0': { ...thinks, context: 128_000 },
  },
}
