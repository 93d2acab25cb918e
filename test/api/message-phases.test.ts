// Tests replies of several messages, and the phases with which OpenAI labels them, between formats.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Gateway, startGateway } from '../support/gateway.ts'

type Body = Record<string, unknown>

let gateway: Gateway
let upstream: Bun.Server<undefined>
/** The last request that the vendor got, and what it answers: one event a member of the list, or a whole reply. */
let asked: Body = {}
let reply: readonly Body[] | Body = {}

beforeAll(async () => {
  upstream = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      asked = (await request.json()) as Body
      if (!Array.isArray(reply)) return Response.json(reply)
      const frames = reply.map(
        (event: Body) => `event: ${event['type']}\ndata: ${JSON.stringify(event)}\n\n`,
      )
      return new Response(frames.join(''), { headers: { 'content-type': 'text/event-stream' } })
    },
  })
  const baseUrl = `http://127.0.0.1:${upstream.port}`
  const common = { baseUrl, key: 'k' }
  const openai = { vendor: 'openai', dialect: 'openai-responses', ...common }
  const models = { anthropic: 'claude-sonnet-4-5' }
  gateway = await startGateway({
    config: {
      channels: [
        { id: 'r', ...openai, models: { responses: 'gpt-5.4', older: 'gpt-5.1' } },
        { id: 'a', vendor: 'anthropic', ...common, models },
      ],
    },
  })
})
afterAll(async () => {
  await gateway.stop()
  await upstream.stop(true)
})

const cited = { type: 'url_citation', url: 'https://a.example/', title: 'A', start_index: 0 }
const message = (id: string, text: string, phase: string, annotations: Body[] = []): Body => ({
  id,
  type: 'message',
  status: 'completed',
  role: 'assistant',
  phase,
  content: [{ type: 'output_text', text, annotations, logprobs: [] }],
})
const output = [
  message('msg_1', 'I look it up.', 'commentary'),
  message('msg_2', 'It rains.', 'final_answer', [{ ...cited, end_index: 9 }]),
]
const response = { id: 'resp_1', object: 'response', model: 'm', status: 'completed', output }
const responseEvents = [
  { type: 'response.created', response: { ...response, status: 'in_progress', output: [] } },
  ...output.flatMap((item, at) => [
    { type: 'response.output_item.added', output_index: at, item: { ...item, content: [] } },
    { type: 'response.output_item.done', output_index: at, item },
  ]),
  { type: 'response.completed', response },
]

const search = { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {} }
const found = { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [] }
const web = { type: 'web_search_result_location', url: 'https://a.example/', title: 'A' }
const blocks = [
  { type: 'text', text: 'I look it up.' },
  search,
  found,
  {
    type: 'text',
    text: 'It rains',
    citations: [{ ...web, encrypted_index: 'e', cited_text: 'r' }],
  },
  { type: 'text', text: ', says A.' },
]
const said = { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content: blocks }
const ended = { stop_reason: 'end_turn', stop_sequence: null }
const usage = { input_tokens: 3, output_tokens: 5 }
const anthropicEvents = [
  { type: 'message_start', message: { ...said, content: [], stop_reason: null, usage } },
  ...blocks.flatMap((block, index) => [
    { type: 'content_block_start', index, content_block: block },
    { type: 'content_block_stop', index },
  ]),
  { type: 'message_delta', delta: ended, usage },
  { type: 'message_stop' },
]

const user = { role: 'user', content: 'Does it rain?' }

async function post(path: string, body: Body): Promise<string> {
  const answer = await gateway.post(path, body)
  const text = await answer.text()
  expect([answer.status, text]).toEqual([200, expect.any(String)])
  return text
}

/** The data of every event. */
function dataOf(text: string): Body[] {
  const found = [...text.matchAll(/^data: (\{.*)$/gm)]
  return found.map(([, data = '']) => JSON.parse(data) as Body)
}

test('the messages of a response are one text of a chat, with a blank line between them', async () => {
  const body = { model: 'responses', messages: [user] }
  const content = 'I look it up.\n\nIt rains.'
  const annotation = { start_index: 15, end_index: 24 }
  reply = response
  const whole = JSON.parse(await post('/v1/chat/completions', body))
  expect(whole.choices[0].message).toMatchObject({
    content,
    annotations: [{ url_citation: annotation }],
  })
  reply = responseEvents
  const streamed = dataOf(await post('/v1/chat/completions', { ...body, stream: true }))
  const deltas = streamed.map((chunk) => (chunk['choices'] as { delta: Body }[])[0]?.delta ?? {})
  expect(deltas.map((delta) => delta['content'] ?? '').join('')).toBe(content)
  expect(deltas.flatMap((delta) => delta['annotations'] ?? [])).toMatchObject([
    { url_citation: annotation },
  ])
})

test('they are one text for clients of Google and of completions, and blocks for those of Anthropic', async () => {
  reply = response
  const content = 'I look it up.\n\nIt rains.'
  const contents = [{ parts: [{ text: 'Hi' }] }]
  const google = JSON.parse(await post('/v1beta/models/responses:generateContent', { contents }))
  const parts = google.candidates[0].content.parts as { text: string }[]
  expect(parts.map(({ text }) => text).join('')).toBe(content)
  const model = 'responses'
  const completion = JSON.parse(await post('/v1/completions', { model, prompt: 'Hi' }))
  expect(completion.choices[0].text).toBe(content)
  const made = JSON.parse(await post('/v1/messages', { model, max_tokens: 9, messages: [user] }))
  expect(made.content).toMatchObject([{ text: 'I look it up.' }, { text: 'It rains.' }])
})

/** The messages of a response, whole and streamed. */
async function phases(body: Body, whole: Body, events: readonly Body[]): Promise<unknown[][]> {
  const phasesIn = (items: unknown): unknown[] =>
    (items as Body[]).filter(({ type }) => type === 'message').map(({ phase }) => phase)
  reply = whole
  const answered = JSON.parse(await post('/v1/responses', { store: false, ...body }))
  reply = events
  const streamed = dataOf(await post('/v1/responses', { store: false, ...body, stream: true }))
  const done = streamed.filter(({ type }) => type === 'response.output_item.done')
  return [phasesIn(answered.output), phasesIn(done.map(({ item }) => item))]
}

test("a response says which messages are commentary, in the vendor's words and in the gateway's", async () => {
  const expected = ['commentary', 'final_answer']
  const own = await phases({ model: 'responses', input: 'Hi' }, response, responseEvents)
  expect(own).toEqual([expected, expected])
  const whole = { ...said, ...ended, usage }
  const made = await phases({ model: 'anthropic', input: 'Hi' }, whole, anthropicEvents)
  expect(made).toEqual([expected, expected])
})

test('a text before a call is commentary, and one that is cut off is neither', async () => {
  const call = { type: 'tool_use', id: 'toolu_1', name: 'f', input: {} }
  const body = { model: 'anthropic', input: 'Hi', tools: [{ type: 'function', name: 'f' }] }
  const text = { type: 'text', text: 'I look it up.' }
  const calling = { ...said, content: [text, call], stop_reason: 'tool_use', usage }
  expect((await phases(body, calling, anthropicEvents))[0]).toEqual(['commentary'])
  const cut = { ...said, content: [text], stop_reason: 'max_tokens', usage }
  expect((await phases(body, cut, anthropicEvents))[0]).toEqual([undefined])
})

const earlier = [
  user,
  {
    role: 'assistant',
    content: 'I look it up.',
    tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'f', arguments: '{}' } }],
  },
  { role: 'tool', tool_call_id: 'call_1', content: 'rain' },
  { role: 'assistant', content: 'It rains.' },
  user,
]

test("a model that reads phases is told those of a chat's messages, any other is not", async () => {
  const body = { messages: earlier, tools: [{ type: 'function', function: { name: 'f' } }] }
  const sent = async (model: string): Promise<unknown[]> => {
    reply = response
    await post('/v1/chat/completions', { ...body, model })
    const items = asked['input'] as Body[]
    return items.filter(({ role }) => role === 'assistant').map(({ phase }) => phase)
  }
  expect(await sent('responses')).toEqual(['commentary', 'final_answer'])
  expect(await sent('older')).toEqual([undefined, undefined])
})

test('the phases that a client of the Responses format sends back go only to vendors of this format', async () => {
  const input = [
    user,
    ...output.map(({ content: _, ...item }) => ({ ...item, content: 'x' })),
    user,
  ]
  reply = response
  await post('/v1/responses', { model: 'responses', input })
  const items = asked['input'] as Body[]
  expect(items.map(({ phase }) => phase)).toEqual([
    undefined,
    'commentary',
    'final_answer',
    undefined,
  ])
  reply = { ...said, ...ended, usage }
  const answer = await gateway.post('/v1/responses', { model: 'anthropic', input, store: false })
  expect([answer.status, answer.headers.get('x-tollgate-dropped')]).toEqual([200, null])
})
