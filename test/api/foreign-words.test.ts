// Tests words that every object has as members, such as `constructor`, in any place of a request: a reply, or a refusal
// with the reason.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { JsonObject, JsonValue } from '../../src/wire/ir.ts'
import { foreignWords, withWord } from '../support/foreign-words.ts'
import { type Gateway, startGateway } from '../support/gateway.ts'
import { Described, type JsonObject as Document, replyOf } from '../support/openapi.ts'
import { json, startUpstream, type Upstream } from '../support/upstream.ts'

let gateway: Gateway
let upstream: Upstream
let described: Described

beforeAll(async () => {
  upstream = await startUpstream()
  upstream.on('*', [json(200, { created: 1, data: [{ b64_json: 'AAAA' }] })])
  gateway = await startGateway({
    config: {
      channels: [
        { id: 'a', vendor: 'sandbox', models: { 'sandbox/*': 'sandbox/*' } },
        { id: 'b', vendor: 'openai', baseUrl: upstream.url, key: 'sk-up', models: ['paint'] },
      ],
      models: { paint: { kind: 'image', prices: { input: '1', imageOutput: '1' } } },
    },
  })
  const document = await fetch(`${gateway.url}/openapi.json`)
  described = new Described((await document.json()) as Document)
})
afterAll(async () => {
  await gateway.stop()
  await upstream.close()
  expect(gateway.stderr).not.toContain('internal error')
})

const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }
const declared = { name: 'f', description: 'd', parameters: schema }
const format = { type: 'json_schema', name: 'n', schema }
const contents = [{ role: 'user', parts: [{ text: 'Hello' }] }]

/** Requests in addition to the document's example. */
const asked: Readonly<Record<string, JsonObject>> = {
  createChatCompletion: {
    tools: [{ type: 'function', function: declared }],
    tool_choice: { type: 'function', function: { name: 'f' } },
    response_format: { type: 'json_schema', json_schema: { name: 'n', schema } },
    reasoning_effort: 'low',
  },
  createCompletion: { stop: 'x' },
  createResponse: {
    tools: [{ type: 'function', ...declared }],
    tool_choice: { type: 'function', name: 'f' },
    text: { format },
    reasoning: { effort: 'low', summary: 'auto' },
    truncation: 'auto',
  },
  countResponseTokens: { tools: [{ type: 'function', ...declared }] },
  compactResponse: {},
  createMessage: {
    tools: [{ name: 'f', input_schema: schema, cache_control: { type: 'ephemeral', ttl: '1h' } }],
    tool_choice: { type: 'tool', name: 'f' },
    output_config: { format: { type: 'json_schema', schema }, effort: 'low' },
    service_tier: 'auto',
  },
  countMessageTokens: { tools: [{ name: 'f', input_schema: schema }] },
  generateContent: {
    contents,
    tools: [{ functionDeclarations: [declared] }],
    toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['f'] } },
    generationConfig: {
      responseMimeType: 'application/json',
      responseSchema: schema,
      thinkingConfig: { thinkingLevel: 'low' },
    },
  },
  countContentTokens: { contents },
  embedContent: { taskType: 'RETRIEVAL_QUERY' },
  batchEmbedContents: {},
  createEmbedding: { input_type: 'query', encoding_format: 'float' },
  createModeration: {},
  createImage: { quality: 'high', response_format: 'b64_json', output_format: 'png' },
  editImage: { quality: 'high' },
  createSpeech: { response_format: 'pcm', stream_format: 'audio' },
  createVideo: { size: '720x1280' },
}

const picture = Uint8Array.fromBase64(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==',
)

/** What is wrong with a reply; null: nothing. */
async function wrongWith(id: string, reply: Promise<Response>): Promise<string | null> {
  const { status, type, body } = await replyOf(await reply)
  const told = described.undescribed(described.operation(id), { status, type, body })
  const isWhole = status < 500 && !body.includes('[native code]')
  return isWhole && told === null ? null : `${status} ${told}: ${body.slice(0, 300)}`
}

/** What the document allows in a body. */
function fieldsOf(id: string, type: string): readonly string[] {
  const schema = described.operation(id).body?.get(type)?.schema
  return Object.keys(described.resolved(schema)['properties'] ?? {})
}

/** The path with the model that it names; clients' formats name the model in the body. */
function pathOf(id: string, model: string): string {
  const { path } = described.operation(id)
  return path.replace('{model}', encodeURIComponent(model))
}

describe.each(Object.entries(asked))('%s', (id, more) => {
  const model = /embed/i.test(id) ? 'sandbox/embedding' : 'sandbox/chat'
  const bodyOf = () =>
    ({
      ...(described.operation(id).body?.get('application/json')?.example as JsonObject),
      ...more,
    }) as JsonObject

  test('is answered as it stands', async () => {
    const reply = await gateway.post(pathOf(id, model), bodyOf())
    expect([reply.status, await reply.text()]).toEqual([200, expect.any(String)])
  })

  test.each(foreignWords)('with %s in any place', async (word) => {
    const bodies: JsonValue[] = [
      ...withWord(bodyOf(), word),
      ...fieldsOf(id, 'application/json').map((name) => ({ ...bodyOf(), [name]: word })),
      { ...bodyOf(), ...Object.fromEntries([[word, bodyOf()]]) },
    ]
    const faults: string[] = []
    for (const other of bodies) {
      const wrong = await wrongWith(id, gateway.post(pathOf(id, model), other))
      if (wrong !== null) faults.push(`${wrong}\n  ${JSON.stringify(other).slice(0, 600)}`)
    }
    const asModel = await wrongWith(id, gateway.post(pathOf(id, word), bodyOf()))
    expect([...faults.slice(0, 5), asModel]).toEqual([null])
  })
})

describe.each(foreignWords)('%s', (word) => {
  test.each([
    ['varyImage', 'sandbox/image', 'image'],
    ['editImage', 'sandbox/image', 'image'],
    ['createTranscription', 'sandbox/transcription', 'file'],
  ])('in a field of the form of %s', async (id, model, file) => {
    const { path } = described.operation(id)
    const known = fieldsOf(id, 'multipart/form-data')
    const faults: string[] = []
    for (const name of [...known, word]) {
      const form = new FormData()
      const bytes = file === 'image' ? picture : new TextEncoder().encode('no sound')
      form.append(file, new File([bytes], word, { type: word }))
      const fields = Object.entries({ model, prompt: 'a cat' }).filter(([own]) =>
        known.includes(own),
      )
      for (const [field, text] of [...fields.filter(([own]) => own !== name), [name, word]])
        if (field !== file) form.append(field ?? '', text ?? '')
      const headers = { authorization: `Bearer ${gateway.key}` }
      const sent = fetch(gateway.url + path, { method: 'POST', headers, body: form })
      const wrong = await wrongWith(id, sent)
      if (wrong !== null) faults.push(`${name}: ${wrong}`)
    }
    expect(faults).toEqual([])
  })

  test.each(['quality', 'size'])('as the %s of an image that is paid by tokens', async (name) => {
    const body = { model: 'paint', prompt: 'a cat', [name]: word }
    const reply = await gateway.post('/v1/images/generations', body)
    expect([reply.status, await reply.text()]).toEqual([200, expect.any(String)])
    const row = await gateway.row(reply.headers.get('x-request-id') ?? 'none')
    expect(row.chargeNano).toBeGreaterThanOrEqual(0n)
  })
})
