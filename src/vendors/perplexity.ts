// Perplexity: answers with sources; reports the running usage on every chunk of a stream.

import type { JsonObject } from '../wire/ir.ts'
import { objectOf } from '../wire/json/value.ts'
import { amendments, developerAsSystem, maxTokensOnly } from './amendments.ts'
import { openaiCompatible, openaiPath } from './compatible.ts'
import { withoutReplyMembers } from './sent-back.ts'
import { count } from './usage.ts'
import type { Call, ChannelSettings, Vendor } from './vendor.ts'

/**
 * Deep research also charges what it read (`citation_tokens`, at the price of input) and its reasoning, and counts both
 * outside of prompt and completion. Perplexity, "Pricing".
 */
function wholeCount(usage: JsonObject): JsonObject {
  const citations = count(usage.citation_tokens)
  const reasoning = count(usage.reasoning_tokens)
  if (citations === 0 && reasoning === 0) return usage
  const prompt = count(usage.prompt_tokens) + citations
  const completion = count(usage.completion_tokens) + reasoning
  const details = usage.completion_tokens_details
  return {
    ...usage,
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    completion_tokens_details: {
      ...objectOf(details),
      reasoning_tokens: reasoning,
    },
  }
}

/** Responses have `/v1` before their path, chats do not. Perplexity, "OpenAI Compatibility" of the Agent API. */
function address(call: Call, { baseUrl }: ChannelSettings): string {
  const version = call.dialect === 'openai-responses' && !baseUrl.endsWith('/v1') ? '/v1' : ''
  return baseUrl + version + openaiPath(call.dialect)
}

export const perplexity = openaiCompatible({
  id: 'perplexity',
  baseUrl: 'https://api.perplexity.ai',
  environment: 'PERPLEXITY_API_KEY',
  speaks: ['openai-chat', 'openai-responses'],
  address,
  quirks: {
    usageOnStream: 'always',
    refusesThoughts: true,
    amend: amendments(maxTokensOnly, developerAsSystem, withoutReplyMembers),
    usage: wholeCount,
  },
}) satisfies Vendor
