// Tests every parameter with a range or a type: a wrong value is refused before any vendor is called, with its path;
// others arrive unchanged.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Gateway, startGateway, testKey } from '../support/gateway.ts'
import { expectRefusal, postJson } from '../support/requests.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'

let upstream: Upstream
let gateway: Gateway

beforeAll(async () => {
  upstream = await startUpstream()
  gateway = await startGateway({
    config: {
      channels: [
        {
          id: 'main',
          vendor: 'openai',
          baseUrl: upstream.url,
          key: 'sk-upstream-0123456789',
          models: ['chat', 'seeing', 'legacy', 'vectors'],
        },
      ],
      models: {
        chat: { kind: 'chat', vision: false },
        seeing: { kind: 'chat', vision: true },
        legacy: { kind: 'completion' },
        vectors: { kind: 'embedding' },
      },
      keys: [{ name: 'main', secret: testKey }],
    },
  })
})
afterAll(async () => {
  await gateway.stop()
  await upstream.close()
})

const user = { role: 'user', content: 'Hello' }
const bases = {
  '/v1/chat/completions': { model: 'chat', messages: [user] },
  '/v1/completions': { model: 'legacy', prompt: 'Hello' },
  '/v1/embeddings': { model: 'vectors', input: 'Hello' },
} as const

async function refused(path: keyof typeof bases, change: object, param: string): Promise<void> {
  const before = upstream.requests.length
  const reply = await postJson(gateway.url + path, { ...bases[path], ...change })
  const error = await expectRefusal(reply, 400, 'invalid_request_error')
  expect(error.param).toBe(param)
  expect(error.type).toBe('invalid_request_error')
  expect(upstream.requests).toHaveLength(before)
}

type Row = readonly [field: string, value: unknown, param?: string]

/** The path is the field's own name if a row names none. */
function complete(rows: readonly Row[]): (readonly [string, unknown, string])[] {
  return rows.map(([field, value, param]) => [field, value, param ?? field])
}

const sampling: readonly Row[] = [
  ['temperature', -0.1],
  ['temperature', 2.1],
  ['temperature', '1'],
  ['temperature', [1]],
  ['temperature', true],
  ['top_p', -0.01],
  ['top_p', 1.01],
  ['top_p', '0.5'],
  ['max_tokens', -1],
  ['max_tokens', 1.5],
  ['max_tokens', '10'],
  ['n', 0],
  ['n', 129],
  ['n', 1.5],
  ['n', '1'],
  ['presence_penalty', -2.1],
  ['presence_penalty', 2.1],
  ['frequency_penalty', -2.1],
  ['frequency_penalty', 2.1],
  ['frequency_penalty', 'a'],
  ['stop', 5],
  ['stop', ['a', 'b', 'c', 'd', 'e']],
  ['stop', ['a', 1]],
  ['seed', 1.5],
  ['seed', 'a'],
  ['logit_bias', []],
  ['user', 5],
  ['stream', 'true'],
  ['stream', 1],
  ['stream_options', true],
  ['model', 5],
  ['model', ''],
  ['model', null],
]

describe('chat', () => {
  const rows: readonly Row[] = [
    ...sampling,
    ['max_completion_tokens', -1],
    ['max_completion_tokens', 0.5],
    ['logprobs', 1],
    ['top_logprobs', -1],
    ['top_logprobs', 21],
    ['tools', {}],
    ['tools', [5], 'tools[0]'],
    ['tools', [{ function: { name: 'f' } }], 'tools[0].type'],
    ['tool_choice', 5],
    ['parallel_tool_calls', 'yes'],
    ['response_format', 'json'],
    ['response_format', {}],
    ['metadata', 'a'],
    ['reasoning_effort', 5],
    ['messages', undefined],
    ['messages', null],
    ['messages', 'Hello'],
    ['messages', {}],
    ['messages', []],
    ['messages', ['Hello'], 'messages[0]'],
    ['messages', [{ content: 'a' }], 'messages[0].role'],
    ['messages', [{ role: 'wizard', content: 'a' }], 'messages[0].role'],
    ['messages', [user, { role: 'User', content: 'a' }], 'messages[1].role'],
    ['messages', [{ role: 5, content: 'a' }], 'messages[0].role'],
    ['messages', [{ role: 'user' }], 'messages[0].content'],
    ['messages', [{ role: 'user', content: 5 }], 'messages[0].content'],
    ['messages', [{ role: 'user', content: { type: 'text', text: 'a' } }], 'messages[0].content'],
    ['messages', [{ role: 'user', content: ['a'] }], 'messages[0].content[0]'],
    ['messages', [{ role: 'user', content: [{ type: 'smell' }] }], 'messages[0].content[0].type'],
    ['messages', [{ role: 'user', content: [{ type: 'text' }] }], 'messages[0].content[0].text'],
    ['messages', [{ role: 'tool', content: 'a' }], 'messages[0].tool_call_id'],
    [
      'messages',
      [{ role: 'user', content: [{ type: 'image_url' }] }],
      'messages[0].content[0].image_url',
    ],
    [
      'messages',
      [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 5 } }] }],
      'messages[0].content[0].image_url.url',
    ],
    [
      'messages',
      [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'file:///etc' } }] }],
      'messages[0].content[0].image_url.url',
    ],
  ]
  test.each(complete(rows))('%s: %j', (field, value, param) =>
    refused('/v1/chat/completions', { [field]: value }, param),
  )

  test('stream_options only with a stream', () =>
    refused('/v1/chat/completions', { stream_options: { include_usage: true } }, 'stream_options'))

  test('an image only to a model that sees', async () => {
    const image = { type: 'image_url', image_url: { url: 'https://example.com/a.png' } }
    const messages = [user, { role: 'user', content: [{ type: 'text', text: 'What?' }, image] }]
    await refused('/v1/chat/completions', { messages }, 'messages[1].content[1]')
    const seen = await postJson(`${gateway.url}/v1/chat/completions`, { model: 'seeing', messages })
    expect(seen.status).toBe(200)
    expect(upstream.of('seeing')).toHaveLength(1)
  })
})

describe('completions', () => {
  const rows: readonly Row[] = [
    ...sampling,
    ['prompt', { a: 1 }],
    ['prompt', 5],
    ['best_of', 21],
    ['best_of', 'a'],
    ['logprobs', 6],
    ['logprobs', true],
    ['echo', 'yes'],
    ['suffix', 5],
  ]
  test.each(complete(rows))('%s: %j', (field, value, param) =>
    refused('/v1/completions', { [field]: value }, param),
  )
})

describe('embeddings', () => {
  const rows: readonly Row[] = [
    ['model', 5],
    ['model', null],
    ['input', undefined],
    ['input', null],
    ['input', ''],
    ['input', []],
    ['input', 5],
    ['input', { a: 1 }],
    ['input', ['a', 5], 'input[1]'],
    ['input', [1, 'a'], 'input[1]'],
    ['input', [1, 1.5], 'input[1]'],
    ['input', ['a', ''], 'input[1]'],
    ['input', [[1, 2], []], 'input[1]'],
    ['input', [[1, 'a']], 'input[0][1]'],
    ['input', Array.from({ length: 2049 }, () => 'a')],
    ['encoding_format', 'hex'],
    ['encoding_format', 5],
    ['dimensions', 0],
    ['dimensions', 1.5],
    ['dimensions', '8'],
    ['user', 5],
  ]
  test.each(complete(rows))('%s: %j', (field, value, param) =>
    refused('/v1/embeddings', { [field]: value }, param),
  )
})

test.each([
  ['/v1/chat/completions', 'vectors'],
  ['/v1/embeddings', 'chat'],
  ['/v1/completions', 'vectors'],
] as const)('%s refuses the model %s, which is of another kind', (path, model) =>
  refused(path, { model }, 'model'),
)

describe('what passes arrives as it was sent', () => {
  const bodies = [
    '{"model":"chat","messages":[{"role":"user","content":"Hello"}],"temperature":0,"n":1,"top_p":1.0}',
    '{ "model" : "chat",\n\t"messages":[ {"content":"Hello \\u00e9 \\ud83d\\ude00","role":"user"} ] , "unknown_field":{"deep":[1,2.50,1e2,null]} }',
    '{"messages":[{"role":"user","content":"Hello","name":"a","extra":{"model":"other"}}],"x":"\\"model\\":\\"fake\\"","model":"chat","seed":9223372036854775807}',
    '{"model":"chat","messages":[{"role":"developer","content":[{"type":"text","text":"a"}]},{"role":"assistant","content":null,"tool_calls":[{"id":"1","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"1","content":"x"}],"max_tokens":0,"stop":null,"temperature":null}',
    '{"model":"chat","messages":[{"role":"user","content":"Hello"}],"tools":[{"type":"custom","custom":{"name":"a"}}],"tool_choice":"auto","response_format":{"type":"json_schema","json_schema":{"name":"a","schema":{}}},"service_tier":"flex","metadata":{"a":"b"},"logit_bias":{"50256":-100}}',
  ]
  test.each(bodies)('%s', async (body) => {
    const reply = await postJson(`${gateway.url}/v1/chat/completions`, body)
    expect(reply.status).toBe(200)
    expect(upstream.requests.at(-1)?.body.toString('utf8')).toBe(body)
    expect(upstream.requests.at(-1)?.target).toBe('/v1/chat/completions')
  })

  test('on a stream only the wish for usage is added', async () => {
    const body =
      '{"model":"chat","stream":true,"messages":[{"role":"user","content":"Hello"}],"odd":1.0}'
    const reply = await postJson(`${gateway.url}/v1/chat/completions`, body)
    expect(await reply.text()).toEndWith('data: [DONE]\n\n')
    const sent = upstream.requests.at(-1)?.body.toString('utf8')
    expect(sent).toBe(`${body.slice(0, -1)},"stream_options":{"include_usage":true}}`)
  })

  test('without /v1, with it twice, and below /openai', async () => {
    const before = upstream.requests.length
    for (const prefix of ['', '/v1', '/v1/v1', '/openai/v1', '/openai']) {
      const url = `${gateway.url}${prefix}/chat/completions`
      expect((await postJson(url, bases['/v1/chat/completions'])).status).toBe(200)
      const models = `${gateway.url}${prefix}/models`
      const headers = { authorization: `Bearer ${testKey}` }
      expect((await fetch(models, { headers })).status).toBe(200)
      expect((await fetch(`${models}/chat`, { headers })).status).toBe(200)
    }
    expect(upstream.requests.slice(before).map(({ target }) => target)).toEqual([
      '/v1/chat/completions',
      '/v1/chat/completions',
      '/v1/chat/completions',
      '/v1/chat/completions',
      '/v1/chat/completions',
    ])
  })
})
