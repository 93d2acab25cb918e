// DeepSeek: requires reasoning to be sent back with tool turns, and counts cache hits in its own member.

import type { JsonObject } from '../wire/ir.ts'
import { stringOf } from '../wire/json/value.ts'
import {
  type Amendment,
  amendments,
  developerAsSystem,
  maxTokensOnly,
  messagesOf,
} from './amendments.ts'
import { chatOnly, openaiCompatible } from './compatible.ts'
import { refuses } from './parameters.ts'
import { count, withCached } from './usage.ts'
import type { Vendor } from './vendor.ts'

/**
 * In thinking mode DeepSeek answers 400 where a replayed assistant message with tool calls lacks `reasoning_content`
 * (DeepSeek, "Thinking Mode"); an empty one is accepted, and other modes ignore it. `reasoning`, the name some clients
 * keep it under, is renamed.
 */
const replayedReasoning: Amendment = {
  texts: ['"tool_calls"'],
  apply(body) {
    for (const message of messagesOf(body)) {
      if (message.role !== 'assistant' || !Array.isArray(message.tool_calls)) continue
      const { reasoning } = message
      if (typeof message.reasoning_content === 'string') continue
      message.reasoning_content = stringOf(reasoning)
      delete message.reasoning
    }
  },
}

function cacheHits(usage: JsonObject): JsonObject {
  return withCached(usage, count(usage.prompt_cache_hit_tokens))
}

/** Answered with 400 (DeepSeek, "Reasoning model"); other sampling parameters are ignored. */
const refused = refuses('logprobs', 'top_logprobs')

export const deepseek = openaiCompatible({
  quirks: {
    parameters: ({ model }) => (model.includes('reasoner') ? refused : null),
    amend: amendments(maxTokensOnly, developerAsSystem, replayedReasoning),
    usage: cacheHits,
  },
  id: 'deepseek',
  baseUrl: 'https://api.deepseek.com',
  environment: 'DEEPSEEK_API_KEY',
  speaks: chatOnly,
}) satisfies Vendor
