// DeepSeek: requires reasoning to be sent back with tool turns, takes no schemas, and counts cache hits in its own member.

import type { JsonObject } from '../wire/ir.ts'
import { isObject, objectOf } from '../wire/json/value.ts'
import {
  type Amendment,
  amendments,
  developerAsSystem,
  maxTokensOnly,
  noneAsDisabled,
  replayedReasoning,
} from './amendments.ts'
import { chatOnly, openaiCompatible } from './compatible.ts'
import { refuses } from './parameters.ts'
import { count, withCached } from './usage.ts'
import type { Vendor } from './vendor.ts'

/**
 * Any schema for the reply is answered with 400 ("This response_format type is unavailable now"), and a reply in JSON
 * must be spoken of in the prompt (DeepSeek, "JSON Output"): so the schema becomes an instruction behind the system's.
 */
const schemaAsInstruction: Amendment = {
  keys: ['response_format'],
  apply(body) {
    const { response_format: format, messages } = body
    if (!isObject(format) || format.type !== 'json_schema' || !Array.isArray(messages)) return
    const { schema = {} } = objectOf(format.json_schema)
    const content = `Answer with JSON alone, which fits this JSON schema:\n${JSON.stringify(schema)}`
    const at = messages.findIndex((each) => !isObject(each) || each.role !== 'system')
    body.response_format = { type: 'json_object' }
    body.messages = messages.toSpliced(at < 0 ? messages.length : at, 0, {
      role: 'system',
      content,
    })
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
    amend: amendments(
      maxTokensOnly,
      developerAsSystem,
      // DeepSeek, "Thinking Mode": an empty text is accepted, and other modes ignore it.
      replayedReasoning(''),
      noneAsDisabled(/^(?!.*reasoner)/),
      schemaAsInstruction,
    ),
    usage: cacheHits,
  },
  id: 'deepseek',
  baseUrl: 'https://api.deepseek.com',
  environment: 'DEEPSEEK_API_KEY',
  speaks: chatOnly,
}) satisfies Vendor
