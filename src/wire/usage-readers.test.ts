// Tests every usage reader of every dialect with impossible values: none of them counts as a report.

import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { readUsage as readAnthropic } from './anthropic-messages/usage.ts'
import { readUsage as readBedrock } from './bedrock-converse/usage.ts'
import { readUsage as readCohere } from './cohere-v2/usage.ts'
import { readUsage as readGemini } from './gemini/usage.ts'
import { geminiEmbeddings } from './gemini-embeddings/embeddings.ts'
import { isUnbelievable } from './hub/counts.ts'
import type { JsonObject, JsonValue, Usage } from './ir.ts'
import { promptUsage } from './list/fields.ts'
import { readUsage as readOpenai } from './openai/usage.ts'
import { readSoundUsage } from './openai-audio/usage.ts'
import { imageUsage } from './openai-images/reply.ts'
import { readRealtimeUsage } from './openai-realtime/usage.ts'

const embedded = (usageMetadata: JsonValue) => {
  const body = { embeddings: [{ values: [1] }], usageMetadata }
  const request = { model: 'm', texts: ['a'], encoding: 'float' } as const
  const reply = geminiEmbeddings.readReply(body, { ...request, extra: {} })
  return 'vectors' in reply ? reply.usage : null
}

interface Reader {
  readonly name: string
  read(usage: JsonObject): Usage | null
  /** A report of this dialect, of which every field is read. */
  readonly honest: JsonObject
}

const chat = {
  prompt_tokens: 1_000,
  completion_tokens: 100,
  total_tokens: 1_100,
  prompt_tokens_details: {
    cached_tokens: 100,
    cache_write_tokens: 50,
    audio_tokens: 10,
    image_tokens: 5,
  },
  completion_tokens_details: { reasoning_tokens: 20, audio_tokens: 3, image_tokens: 2 },
}
const sides = { input_tokens: 10, output_tokens: 20 }
const cacheWrites = { ephemeral_5m_input_tokens: 6, ephemeral_1h_input_tokens: 2 }
const messages = {
  ...sides,
  cache_read_input_tokens: 7,
  cache_creation_input_tokens: 8,
  cache_creation: cacheWrites,
  output_tokens_details: { thinking_tokens: 4 },
}
const readers: readonly Reader[] = [
  { name: 'openai', read: readOpenai, honest: chat },
  {
    name: 'anthropic',
    read: readAnthropic,
    honest: {
      ...messages,
      iterations: [{ type: 'compaction', ...sides, cache_creation: cacheWrites }],
    },
  },
  {
    name: 'gemini',
    read: readGemini,
    honest: {
      promptTokenCount: 20,
      candidatesTokenCount: 10,
      thoughtsTokenCount: 5,
      toolUsePromptTokenCount: 3,
      cachedContentTokenCount: 4,
      totalTokenCount: 38,
      promptTokensDetails: [{ modality: 'AUDIO', tokenCount: 2 }],
      candidatesTokensDetails: [{ modality: 'IMAGE', tokenCount: 2 }],
    },
  },
  { name: 'cohere', read: readCohere, honest: { billed_units: sides, tokens: sides } },
  {
    name: 'bedrock',
    read: readBedrock,
    honest: { inputTokens: 5, outputTokens: 6, cacheReadInputTokens: 7, cacheWriteInputTokens: 8 },
  },
  {
    name: 'realtime',
    read: readRealtimeUsage,
    honest: {
      ...sides,
      input_token_details: { cached_tokens: 2, audio_tokens: 3, image_tokens: 1 },
      output_token_details: { audio_tokens: 3 },
    },
  },
  {
    name: 'sound',
    read: (usage) => readSoundUsage(usage).usage,
    honest: { ...sides, input_token_details: { audio_tokens: 3 } },
  },
  { name: 'images', read: (usage) => imageUsage(usage, {}), honest: sides },
  {
    name: 'lists',
    read: (usage) => promptUsage(usage['prompt_tokens']).usage,
    honest: { prompt_tokens: 3 },
  },
  { name: 'gemini embeddings', read: embedded, honest: { promptTokenCount: 3 } },
]

/** Not a count: neither a whole number in range nor absent. */
const nonsense = fc.oneof(
  fc.constantFrom<JsonValue>(
    1e300,
    -1,
    -1e300,
    0.5,
    12.75,
    1e9 + 1,
    2 ** 53,
    'many',
    '',
    '1e3',
    '-4',
    true,
  ),
  fc.double({ max: -1e-9, noNaN: true }),
  fc.double({ min: 1e9 + 1, noNaN: true, noDefaultInfinity: true }),
  fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY),
)

function leaves(value: JsonValue, path: readonly string[] = []): string[][] {
  if (typeof value === 'number') return [[...path]]
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, each]) => leaves(each ?? null, [...path, name]))
}

function replaced(value: JsonValue, path: readonly string[], by: JsonValue): JsonValue {
  const [name, ...rest] = path
  if (name === undefined) return by
  if (typeof value !== 'object' || value === null) return value
  const copy = structuredClone(value) as Record<string, JsonValue>
  copy[name] = replaced(copy[name] ?? null, rest, by)
  return copy
}

describe.each(readers.map((reader) => [reader.name, reader] as const))(
  '%s',
  (_, { read, honest }) => {
    test('an honest report is read, and nothing is said against it', () => {
      expect(read(honest)).not.toBeNull()
      expect(isUnbelievable(honest)).toBe(false)
    })

    test('with one count that is none, in any place, nothing of it is taken for a report', () => {
      const places = leaves(honest).filter(
        (path) => !path.includes('tokens') && path.at(-1) !== 'totalTokenCount',
      )
      fc.assert(
        fc.property(fc.constantFrom(...places), nonsense, (path, value) => {
          const hostile = replaced(honest, path, value) as JsonObject
          // A list counts as absent.
          const usage = read(hostile)
          expect({ path, value, usage }).toEqual({ path, value, usage: null })
          expect(isUnbelievable(hostile)).toBe(true)
        }),
      )
    })

    test('whatever comes, what is read can be priced', () => {
      const any = fc.oneof(nonsense, fc.nat(2e9), fc.constantFrom(null, [], {}, '12'))
      const places = leaves(honest)
      fc.assert(
        fc.property(
          fc.array(fc.tuple(fc.constantFrom(...places), any), { maxLength: 6 }),
          (changes) => {
            let hostile: JsonValue = honest
            for (const [path, value] of changes)
              hostile = replaced(hostile, path, value as JsonValue)
            for (const count of Object.values(read(hostile as JsonObject) ?? {}))
              expect(Number.isSafeInteger(count) && count >= 0).toBe(true)
          },
        ),
      )
    })
  },
)

test.each<[string, JsonObject]>([
  ['openai', { completion_tokens: 5 }],
  ['anthropic', { output_tokens: 5 }],
  ['gemini', { candidatesTokenCount: 5 }],
  ['cohere', { billed_units: { output_tokens: 5 } }],
  ['bedrock', { outputTokens: 5 }],
])('of %s, a reply without its prompt is no report: no prompt is empty', (name, partial) => {
  const reader = readers.find((each) => each.name === name)
  expect(reader?.read(partial)).toBeNull()
})
