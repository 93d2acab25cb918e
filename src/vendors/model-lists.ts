// How to ask each vendor for its list of models, and how to read it.

import type { JsonValue } from '../wire/ir.ts'
import { isObject } from '../wire/json/value.ts'

interface ModelList {
  /** The whole URL, from a channel's base address. */
  address(baseUrl: string): string
  /** The vendor's own names; null where the reply is not such a list. */
  read(reply: JsonValue): readonly string[] | null
}

/** Names from one of these fields, in a list that is the whole reply or under one of these keys. */
function names(
  reply: JsonValue,
  keys: readonly string[],
  fields: readonly string[],
): string[] | null {
  const lists = Array.isArray(reply)
    ? [reply]
    : keys.flatMap((key) => (isObject(reply) && Array.isArray(reply[key]) ? [reply[key]] : []))
  if (lists.length === 0) return null
  return lists.flat().flatMap((entry) => {
    if (!isObject(entry)) return []
    const found = fields.map((field) => entry[field]).find((name) => typeof name === 'string')
    return typeof found === 'string' && found !== '' ? [found] : []
  })
}

/** OpenAI, "List models"; Together returns the list without an object around it. */
const usual: ModelList = {
  address: (baseUrl) => `${baseUrl}/models`,
  read: (reply) => names(reply, ['data'], ['id']),
}

const special: ReadonlyMap<string, ModelList> = new Map(
  Object.entries({
    // platform.claude.com/docs, "List Models": 1,000 at most.
    anthropic: {
      address: (baseUrl) => `${baseUrl.replace(/\/v1$/, '')}/v1/models?limit=1000`,
      read: usual.read,
    },
    // ai.google.dev, "models.list": 1,000 at most.
    google: {
      address: (baseUrl) =>
        `${baseUrl.replace(/\/v1(beta|alpha)?$/, '')}/v1beta/models?pageSize=1000`,
      read: (reply) =>
        names(reply, ['models'], ['name'])?.map((name) => name.replace(/^models\//, '')) ?? null,
    },
    // docs.cohere.com, "List Models": 1,000 at most.
    cohere: {
      address: (baseUrl) => `${baseUrl.replace(/\/v[12]$/, '')}/v1/models?page_size=1000`,
      read: (reply) => names(reply, ['models'], ['name']),
    },
    // developers.deepgram.com, "List Models".
    deepgram: {
      address: (baseUrl) => `${baseUrl}/v1/models`,
      read: (reply) => names(reply, ['stt', 'tts'], ['canonical_name', 'name']),
    },
    // elevenlabs.io/docs, "List models".
    elevenlabs: {
      address: (baseUrl) => `${baseUrl}/v1/models`,
      read: (reply) => names(reply, [], ['model_id']),
    },
  }),
)

const listing: ReadonlySet<string> = new Set([
  'cerebras',
  'dashscope',
  'deepseek',
  'fireworks',
  'groq',
  'llamacpp',
  'lmstudio',
  'mistral',
  'moonshot',
  'ollama',
  'openai',
  'openai-compatible',
  'openrouter',
  'siliconflow',
  'together',
  'vllm',
  'xai',
])

/** Null where the vendor has no list that a channel's key may read. */
export function modelListOf(vendor: string): ModelList | null {
  return special.get(vendor) ?? (listing.has(vendor) ? usual : null)
}
