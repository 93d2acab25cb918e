// DeepSeek: reasoning that must come back with tool turns, cache counts of its own.

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
 * Thinking mode answers 400 where a replayed assistant message with tool calls lacks `reasoning_content`
 * (DeepSeek, "Thinking Mode"); an empty one is taken, and other modes ignore it. Clients that keep it as
 * `reasoning` get it renamed.
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

/** DeepSeek, "Reasoning model": answered 400; other sampling is passed over. */
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
