// Tests that each encoder expresses the fields that it lists as supported and names the others, so no field is lost
// silently.

import { describe, expect, test } from 'bun:test'
import { clientHub, vendorHub } from '../../../test/support/dialects.ts'
import { GatewayError } from '../../errors.ts'
import type { DialectId } from '../formats.ts'
import { type ChatField, type ChatRequest, chatFieldNames, type JsonObject } from '../ir.ts'

/** A value of each field that every format able to express it has to write or to refuse. */
const values: Required<Pick<ChatRequest, ChatField>> = {
  maxOutputTokens: 77,
  temperature: 0.3,
  topP: 0.4,
  topK: 5,
  stop: ['END'],
  choices: 2,
  seed: 7,
  frequencyPenalty: 0.5,
  presencePenalty: 0.5,
  logitBias: { '1': 2 },
  user: 'ann',
  safetyIdentifier: 'hash-of-ann',
  tools: [{ type: 'function', name: 'look', parameters: { type: 'object', properties: {} } }],
  toolChoice: { mode: 'required' },
  parallelToolCalls: false,
  responseFormat: { type: 'json' },
  reasoning: { effort: 'high' },
  logprobs: 2,
  verbosity: 'low',
  serviceTier: 'flex',
  metadata: { a: 'b' },
  promptCacheKey: 'k',
  promptCacheRetention: '24h',
  promptCacheOptions: { mode: 'explicit' },
  cache: { ttl: '5m' },
  modalities: ['image'],
}

const fields = Object.keys(chatFieldNames) as ChatField[]

/** Formats, each with a model that accepts every field the format can express. */
const models: readonly (readonly [DialectId, string])[] = [
  ['openai-chat', 'gpt-5.4'],
  ['openai-completions', 'gpt-3.5-turbo-instruct'],
  ['openai-responses', 'gpt-5.4'],
  ['anthropic-messages', 'claude-sonnet-4-5'],
  ['gemini', 'gemini-3-pro'],
  ['bedrock-converse', 'anthropic.claude-sonnet-4-5-v1:0'],
  ['cohere-v2', 'command-a-reasoning-08-2025'],
]

/** Fields about the use of tools are not sent if there are no tools. */
function baseFor(field: ChatField, format: DialectId): ChatRequest {
  const messages: ChatRequest['messages'] = [
    { role: 'user', parts: [{ type: 'text', text: 'Hi' }] },
  ]
  const needsTools = field === 'toolChoice' || field === 'parallelToolCalls'
  const tools = needsTools && format !== 'openai-completions' ? { tools: values.tools } : {}
  return { model: 'm', messages, stream: false, ...tools }
}

describe.each([...models])('%s', (format, model) => {
  const hub = vendorHub(format)

  /** null: refused, with the field named. */
  function encoded(request: ChatRequest): { body: JsonObject; dropped: readonly string[] } | null {
    try {
      const { value, dropped } = hub.encodeRequest(request, model)
      return { body: value, dropped }
    } catch (error) {
      if (error instanceof GatewayError && error.detail.param) return null
      throw error
    }
  }

  test.each(fields)('%s is expressed, refused by name, or named as dropped', (field) => {
    const base = baseFor(field, format)
    const plain = encoded(base)
    const asked = encoded({ ...base, [field]: values[field] })
    const isNamed = asked?.dropped.includes(chatFieldNames[field]) === true
    const isExpressed = asked !== null && !Bun.deepEquals(asked.body, plain?.body)
    // A format that refuses tools has nothing to choose from.
    const isMoot = format === 'openai-completions' && /^(toolChoice|parallel)/.test(field)
    const isAccountedFor = asked === null || isNamed || isExpressed || isMoot
    expect({ field, isAccountedFor }).toEqual({ field, isAccountedFor: true })
    expect({ field, both: isNamed && isExpressed }).toEqual({ field, both: false })
  })

  test('fields of another format are named, its own are not', () => {
    const extra = { elsewhere: { theirs: 1 }, [format]: {} }
    expect(encoded({ ...baseFor('seed', format), extra })?.dropped).toEqual(['theirs'])
  })
})

const document = {
  type: 'document',
  source: { type: 'text', media_type: 'text/plain', data: 'x' },
  context: 'from the archive',
  citations: { enabled: true },
}
const schema = { type: 'object', properties: {} }
const tool = { name: 'look', input_schema: schema, input_examples: [{ city: 'Paris' }] }
const clip = {
  inlineData: { mimeType: 'image/png', data: 'AAAA' },
  mediaResolution: { level: 'X' },
}
const declared = { name: 'look', behavior: 'NON_BLOCKING', response: { type: 'OBJECT' } }
const said = { role: 'user', content: 'hi' }

describe.each<[DialectId, JsonObject, string[]]>([
  [
    'openai-chat',
    {
      model: 'm',
      messages: [{ ...said, name: 'ann' }, { role: 'assistant', audio: { id: 'a' } }, said],
    },
    ['messages[0].name', 'messages[1].audio'],
  ],
  [
    'anthropic-messages',
    { model: 'm', max_tokens: 9, messages: [{ role: 'user', content: [document] }], tools: [tool] },
    [
      'messages[0].content[0].context',
      'messages[0].content[0].citations',
      'tools[0].input_examples',
    ],
  ],
  [
    'gemini',
    { contents: [{ role: 'user', parts: [clip] }], tools: [{ functionDeclarations: [declared] }] },
    ['messages[0].content[0].mediaResolution', 'tools[0].behavior', 'tools[0].response'],
  ],
])('what only %s tells a model', (from, body, names) => {
  const { value: request } = clientHub(from).decodeRequest(body, { model: 'm' })

  test.each(models.filter(([to]) => to !== from && to !== 'openai-completions'))(
    'is named where %s leaves it out',
    (to, model) => {
      const { dropped } = vendorHub(to).encodeRequest(request, model)
      expect(dropped).toEqual(expect.arrayContaining(names))
    },
  )

  test('is not named where the vendor has it too', () => {
    expect(vendorHub(from).encodeRequest(request, 'm').dropped).toEqual([])
  })
})
