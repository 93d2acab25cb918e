// Tests following responses as streams: made in the background, joined while running, left and resumed, replayed after
// their end.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type OpenAI from 'openai'
import type { JsonObject } from '../../src/wire/ir.ts'
import { eventsOf } from '../responses.ts'
import { authorized, eventually, openaiClient } from '../support/clients.ts'
import { type Gateway, openSockets, startGateway } from '../support/gateway.ts'
import { type Responder, startResponder } from '../support/responder.ts'

let gateway: Gateway
let client: OpenAI
let vendor: Responder

beforeAll(async () => {
  vendor = await startResponder()
  const base = { vendor: 'openai', baseUrl: vendor.url, key: 'sk-upstream-secret-0123456789' }
  gateway = await startGateway({
    config: {
      channels: [
        { id: 'sandbox', vendor: 'sandbox', models: ['sandbox/*'] },
        { ...base, id: 'chats', dialect: 'openai-chat', models: { chats: 'gpt-5' } },
        { ...base, id: 'responds', models: { responds: 'gpt-5', plain: 'gpt-4o' } },
      ],
      server: { heartbeatMs: 1000 },
    },
  })
  client = openaiClient(gateway.url)
})
afterAll(async () => {
  vendor.release()
  await gateway.stop()
  await vendor.stop()
})

type Events = AsyncIterable<OpenAI.Responses.ResponseStreamEvent>

async function all(stream: Events): Promise<OpenAI.Responses.ResponseStreamEvent[]> {
  const found: OpenAI.Responses.ResponseStreamEvent[] = []
  for await (const event of stream) found.push(event)
  return found
}

/** What a client that resumes from a number relies on. */
function placesIn(events: readonly OpenAI.Responses.ResponseStreamEvent[]): unknown {
  return events.map((event) => [
    event.type,
    event.sequence_number,
    'delta' in event ? event.delta : null,
  ])
}

function get(id: string, query: string): Promise<Response> {
  return fetch(`${gateway.url}/v1/responses/${id}${query}`, { headers: authorized() })
}

function answerOf(events: readonly OpenAI.Responses.ResponseStreamEvent[]) {
  const last = events.at(-1)
  return last !== undefined && 'response' in last ? last.response : null
}

const slow = 'sandbox/chat+tokens=40+gap=20'

describe('in the background', () => {
  const asked = { input: 'Hello', background: true, stream: true } as const

  test.each([slow, 'chats', 'responds'])('%s: streamed, numbered, kept, charged', async (model) => {
    const { data, request_id } = await client.responses.create({ ...asked, model }).withResponse()
    const events = await all(data)
    expect(events.map((event) => event.sequence_number)).toEqual(events.map((_, at) => at))
    expect(events.slice(0, 3).map(({ type }) => type)).toEqual([
      'response.created',
      'response.queued',
      'response.in_progress',
    ])
    const response = answerOf(events)
    expect(response).toMatchObject({ status: 'completed', background: true, store: true })
    const found = await client.responses.retrieve(response?.id ?? '')
    expect(found.output_text).not.toBe('')
    expect(JSON.stringify(response?.output)).toContain(JSON.stringify(found.output_text))
    const again = await all(await client.responses.retrieve(found.id, { stream: true }))
    expect(placesIn(again)).toEqual(placesIn(events))
    expect(await gateway.row(request_id ?? '')).toMatchObject({
      status: 200,
      stream: true,
      usageSource: 'reported',
    })
  })

  test('it goes on when its client leaves, and is taken up where that was', async () => {
    const { data, request_id } = await client.responses
      .create({ ...asked, model: slow })
      .withResponse()
    const before: OpenAI.Responses.ResponseStreamEvent[] = []
    for await (const event of data) {
      before.push(event)
      if (event.type === 'response.output_text.delta') break
    }
    const [first] = before
    const id = first?.type === 'response.created' ? first.response.id : ''
    const seen = before.at(-1)?.sequence_number ?? 0
    const under = await client.responses.retrieve(id, { stream: true, starting_after: seen })
    const joined = client.responses.stream({ response_id: id })
    const rest = await all(under)
    expect(rest[0]?.sequence_number).toBe(seen + 1)
    const again = await all(await client.responses.retrieve(id, { stream: true }))
    expect(placesIn([...before, ...rest])).toEqual(placesIn(again))
    const found = await client.responses.retrieve(id)
    expect((await joined.finalResponse()).output_text).toBe(found.output_text)
    expect(found.output_text).not.toBe('')
    expect((await gateway.row(request_id ?? '')).status).toBe(200)
  })

  test('one that was not asked for as a stream can be followed too, with signs of life', async () => {
    const { id } = await client.responses.create({
      model: 'responds',
      input: 'wait',
      background: true,
    })
    const response = await get(id, '?stream=true')
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
    expect(response.headers.get('x-request-id')).toMatch(/^req_/)
    let text = ''
    const decoder = new TextDecoder()
    for await (const bytes of response.body ?? []) {
      text += decoder.decode(bytes)
      if (text.includes(': keep-alive')) vendor.release()
    }
    expect(text).toContain(': keep-alive')
    expect(eventsOf(text).at(-1)).toMatchObject({
      type: 'response.completed',
      response: { id, status: 'completed' },
    })
  })

  test.each([
    ['cancelled', () => client.responses.cancel.bind(client.responses)],
    ['removed', () => client.responses.delete.bind(client.responses)],
  ])('whoever follows one that is %s is told', async (_how, end) => {
    const body = { ...asked, model: slow.replace('gap=20', 'gap=200') }
    const stream = await client.responses.create(body)
    const events: OpenAI.Responses.ResponseStreamEvent[] = []
    for await (const event of stream) {
      events.push(event)
      if (event.type === 'response.created') await end()(event.response.id)
    }
    const last = answerOf(events)
    expect([events.at(-1)?.type, last?.status]).toEqual(['response.incomplete', 'cancelled'])
    const again = await get(last?.id ?? '', `?stream=true&starting_after=${events.length + 5}`)
    if (again.ok) {
      expect(eventsOf(await again.text())).toMatchObject([{ response: { status: 'cancelled' } }])
    } else expect(again.status).toBe(404)
  })

  test('what is cancelled keeps what it had told, and half a call is not gone on from', async () => {
    const body = { ...asked, model: slow.replace('gap=20', 'gap=100') }
    const stream = await client.responses.create(body)
    let id = ''
    let said = ''
    for await (const event of stream) {
      if (event.type === 'response.created') id = event.response.id
      if (event.type === 'response.output_text.delta') said += event.delta
      if (event.type === 'response.output_text.delta') await client.responses.cancel(id)
    }
    const found = await client.responses.retrieve(id)
    expect(said).not.toBe('')
    expect(JSON.stringify(found.output)).toContain(said)
    const next = await client.responses.create({
      model: 'chats',
      input: 'On',
      previous_response_id: id,
    })
    expect(next.status).toBe('completed')
    expect(JSON.stringify(vendor.bodies.at(-1))).not.toContain(said)
  })

  test('a stream that breaks, and a request that is refused, end as failed', async () => {
    for (const [model, input] of [
      ['chats', 'break'],
      ['plain', [{ role: 'user', content: 'x', id: 'msg_1' }]],
    ] as const) {
      const asks = { ...asked, model, input: input as OpenAI.Responses.ResponseInput | string }
      const events = await all(await client.responses.create(asks))
      const failed = answerOf(events)
      expect([events.at(-1)?.type, failed?.status]).toEqual(['response.failed', 'failed'])
      expect(failed?.error?.message).not.toBe('')
      const id = failed?.id ?? ''
      expect((await client.responses.retrieve(id)).error).toEqual(failed?.error ?? null)
      const again = await all(await client.responses.retrieve(id, { stream: true }))
      expect(placesIn(again)).toEqual(placesIn(events))
    }
  })

  test('W46: what the vendor sealed goes back to its channel alone', async () => {
    const events = await all(await client.responses.create({ ...asked, model: 'responds' }))
    const id = answerOf(events)?.id ?? ''
    const more = { input: 'More', previous_response_id: id }
    await client.responses.create({ ...more, model: 'responds' })
    expect(JSON.stringify(vendor.bodies.at(-1))).toMatch(/"encrypted_content":"sealed-\d+"/)
    await client.responses.create({ ...more, model: 'chats' })
    expect(JSON.stringify(vendor.bodies.at(-1))).not.toContain('sealed')
  })
})

describe('after its end', () => {
  test.each(['sandbox/chat', 'chats', 'responds'])('%s: told as a stream', async (model) => {
    const made = await client.responses.create({ model, input: 'Hello' })
    const stream = client.responses.stream({ response_id: made.id })
    const replayed = await stream.finalResponse()
    expect(replayed.output_text).toBe(made.output_text)
    expect<unknown>(replayed.usage).toEqual(made.usage)
    const events = await all(await client.responses.retrieve(made.id, { stream: true }))
    expect(events[1]?.type).toBe('response.in_progress')
    const rest = { stream: true, starting_after: 3 } as const
    expect(await all(await client.responses.retrieve(made.id, rest))).toEqual(events.slice(4))
  })

  test('what cannot be is refused by name', async () => {
    const { id } = await client.responses.create({ model: 'chats', input: 'Hello' })
    for (const [query, param] of [
      ['?stream=true&starting_after=x', 'starting_after'],
      ['?stream=true&starting_after=-1', 'starting_after'],
      ['?starting_after=1', 'starting_after'],
    ] as const) {
      const refused = await get(id, query)
      expect([refused.status, await refused.json()]).toMatchObject([400, { error: { param } }])
    }
    expect((await get('resp_none', '?stream=true')).status).toBe(404)
    const plain = (await (await get(id, '?stream=false')).json()) as JsonObject
    expect(plain['id']).toBe(id)
  })

  test('a client that leaves in the middle leaves nothing behind', async () => {
    const { id } = await client.responses.create({
      model: 'responds',
      input: 'wait',
      background: true,
    })
    const sockets = openSockets(gateway.pid)
    const left = new AbortController()
    const options = { headers: authorized(), signal: left.signal }
    const response = await fetch(`${gateway.url}/v1/responses/${id}?stream=true`, options)
    await response.body?.getReader().read()
    left.abort()
    await eventually(() => (openSockets(gateway.pid) <= sockets ? true : undefined))
    expect((await client.responses.cancel(id)).status).toBe('cancelled')
  })
})
