// Tests other parts of the Responses interface: background responses, counts, bounds, and what a vendor is sent.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createOpenAI } from '@ai-sdk/openai'
import { generateText, type ModelMessage } from 'ai'
import type OpenAI from 'openai'
import { wrapOpaque } from '../../src/wire/hub/opaque-state.ts'
import type { JsonObject } from '../../src/wire/ir.ts'
import { makeDirectory } from '../contract/databases.ts'
import { eventsOf } from '../responses.ts'
import { authorized, eventually, openaiClient } from '../support/clients.ts'
import { type Gateway, startGateway, testKey } from '../support/gateway.ts'
import { type Responder, startResponder } from '../support/responder.ts'
import { startServer } from '../support/server-process.ts'

let gateway: Gateway
let client: OpenAI
let vendor: Responder

const key = 'sk-upstream-secret-0123456789'

function channels(url: string) {
  const base = { vendor: 'openai', baseUrl: url, key }
  return [
    { id: 'sandbox', vendor: 'sandbox', models: ['sandbox/chat'] },
    { ...base, id: 'chats', dialect: 'openai-chat', models: { chats: 'gpt-5' } },
    { ...base, id: 'responds', models: { responds: 'gpt-5', plain: 'gpt-4o' } },
    { ...base, id: 'compatible', vendor: 'openrouter', models: { elsewhere: 'gpt-5' } },
  ]
}

beforeAll(async () => {
  vendor = await startResponder()
  gateway = await startGateway({ config: { channels: channels(vendor.url) } })
  client = openaiClient(gateway.url)
})
afterAll(async () => {
  vendor.release()
  await gateway.stop()
  await vendor.stop()
})
beforeEach(() => {
  vendor.bodies.length = 0
})

async function post(path: string, body: JsonObject) {
  const response = await gateway.post(path, body)
  return { status: response.status, body: (await response.json()) as JsonObject }
}

describe('what a vendor is told', () => {
  const asked = { model: 'responds', input: 'Hello' }

  test('it keeps nothing, and gives reasoning that can be given back', async () => {
    await post('/v1/responses', {
      ...asked,
      store: true,
      include: ['file_search_call.results'],
    })
    await post('/v1/responses', asked)
    const wish = 'reasoning.encrypted_content'
    expect(vendor.bodies).toEqual([
      {
        model: 'gpt-5',
        input: 'Hello',
        store: false,
        include: ['file_search_call.results', wish],
      },
      { model: 'gpt-5', input: 'Hello', store: false, include: [wish] },
    ])
  })

  test('a forged mark of opaque state in what is rewritten is no fault of the gateway', async () => {
    const channel = createHash('sha256').update('responds').digest('hex').slice(0, 8)
    const forged = wrapOpaque('x', { dialect: 'openai-responses', channel })
    const { status } = await post('/v1/responses', { ...asked, store: true, include: [forged] })
    expect(status).toBe(200)
  })

  test('a model that does not reason, and a vendor who may not know the wish, are not asked for it', async () => {
    await post('/v1/responses', { ...asked, model: 'plain' })
    await post('/v1/responses', { ...asked, model: 'elsewhere' })
    expect(vendor.bodies).toEqual([
      { model: 'gpt-4o', input: 'Hello', store: false },
      { model: 'gpt-5', input: 'Hello', store: false },
    ])
  })

  test('a request that is not to be stored goes on byte for byte', async () => {
    const { body } = await post('/v1/responses', { ...asked, model: 'gpt-5', store: false })
    expect(body).toMatchObject({ error: { code: 'model_not_found' } })
    await post('/v1/responses', { ...asked, store: false })
    expect(vendor.bodies).toEqual([{ model: 'gpt-5', input: 'Hello', store: false }])
  })

  test('W46: kept reasoning goes back to the channel that sealed it, and nowhere else', async () => {
    const first = await client.responses.create(asked)
    const more = { input: 'More', previous_response_id: first.id }
    await client.responses.create({ ...more, model: 'responds' })
    const [, again] = vendor.bodies
    const sealed = { type: 'reasoning', summary: [], encrypted_content: 'sealed-1' }
    const input = again?.['input'] as JsonObject[]
    expect(input.map(({ type, role }) => role ?? type)).toEqual([
      'user',
      'reasoning',
      'assistant',
      'user',
    ])
    expect(input[1]).toEqual(sealed)
    await client.responses.create({ ...more, model: 'chats' })
    expect(JSON.stringify(vendor.bodies[2])).not.toContain('sealed')
  })

  test('reasoning of other models, whose items it does not know, is left out and named', async () => {
    const thought = { type: 'reasoning', summary: [{ type: 'summary_text', text: 'T' }] }
    const sealed = { ...thought, encrypted_content: 'sealed-1' }
    const asked = { type: 'message', role: 'user', content: 'Hello' }
    for (const model of ['responds', 'elsewhere']) {
      const input = [asked, thought, sealed, thought]
      const reply = await gateway.post('/v1/responses', { model, input, store: false })
      const dropped = reply.headers.get('x-tollgate-dropped')
      const isOpenAi = model === 'responds'
      expect(dropped).toBe(isOpenAi ? 'input[1], input[3]' : null)
      expect(vendor.bodies.at(-1)?.['input']).toEqual(isOpenAi ? [asked, sealed] : input)
    }
  })
})

test.each(['responds', 'chats'])(
  '%s: the AI SDK goes on by naming the items of before',
  async (model) => {
    const sent: string[] = []
    const seen = (address: string | URL | Request, init?: RequestInit) => {
      sent.push(String(init?.body))
      return fetch(address, init)
    }
    const provider = createOpenAI({
      baseURL: `${gateway.url}/v1`,
      apiKey: testKey,
      fetch: Object.assign(seen, { preconnect: fetch.preconnect }),
    })
    const first = await generateText({ model: provider.responses(model), prompt: 'Hello' })
    const messages: ModelMessage[] = [
      { role: 'user', content: 'Hello' },
      ...first.response.messages,
      { role: 'user', content: 'More' },
    ]
    const second = await generateText({ model: provider.responses(model), messages })
    expect(second.text).not.toBe('')
    expect(sent[1]).toContain('item_reference')
    expect(JSON.stringify(vendor.bodies[1])).toContain(first.text)
  },
)

test('a stream that fails leaves a failed response', async () => {
  const body = { model: 'chats', input: 'break', stream: true }
  const text = await (await gateway.post('/v1/responses', body)).text()
  const { response } = eventsOf(text).at(-1) as { readonly response: JsonObject }
  expect(response['status']).toBe('failed')
  const found = await client.responses.retrieve(String(response['id']))
  expect(found).toMatchObject({ status: 'failed', error: response['error'] as object })
})

describe('in the background', () => {
  const asked = { model: 'responds', input: 'wait', background: true } as const

  test.each(['responds', 'chats'])('%s: queued, in progress, completed, charged', async (model) => {
    const queued = await client.responses.create({ ...asked, model }).withResponse()
    const { id } = queued.data
    expect(queued.data).toMatchObject({
      status: 'queued',
      background: true,
      store: true,
      output: [],
    })
    await eventually(() => vendor.bodies[0])
    expect((await client.responses.retrieve(id)).status).toBe('in_progress')
    vendor.release()
    const done = await eventually(async () => {
      const found = await client.responses.retrieve(id)
      return found.status === 'in_progress' ? undefined : found
    })
    expect(done).toMatchObject({ id, status: 'completed', background: true, store: true })
    expect(done.output_text).not.toBe('')
    const row = await gateway.row(queued.request_id ?? '')
    expect(row).toMatchObject({ status: 200, usageSource: 'reported' })
    const next = await client.responses.create({ model, input: 'On', previous_response_id: id })
    expect(next.previous_response_id).toBe(id)
  })

  test('cancelled: the vendor is let go, the request settled, the response stays cancelled', async () => {
    const before = vendor.aborted
    const queued = await client.responses.create(asked).withResponse()
    const { id } = queued.data
    await eventually(() => vendor.bodies[0])
    expect(
      await client.responses
        .create({ model: 'responds', input: 'x', previous_response_id: id })
        .then(
          () => null,
          ({ status }) => status,
        ),
    ).toBe(400)
    expect((await client.responses.cancel(id)).status).toBe('cancelled')
    await eventually(() => (vendor.aborted > before ? true : undefined))
    expect((await gateway.row(queued.request_id ?? '')).status).toBe(499)
    expect((await client.responses.retrieve(id)).status).toBe('cancelled')
    expect((await client.responses.cancel(id)).status).toBe('cancelled')
  })

  test('removed: the vendor is let go, and it is not there', async () => {
    const before = vendor.aborted
    const { id } = await client.responses.create(asked)
    await eventually(() => vendor.bodies[0])
    await client.responses.delete(id)
    await eventually(() => (vendor.aborted > before ? true : undefined))
    expect((await gateway.post(`/v1/responses/${id}/cancel`, {})).status).toBe(404)
  })

  test('what fails is failed, with the reason', async () => {
    const { id } = await client.responses.create({
      ...asked,
      model: 'plain',
      input: [{ role: 'user', content: 'x', id: 'msg_1' }],
    })
    const done = await eventually(async () => {
      const found = await client.responses.retrieve(id)
      return found.status === 'in_progress' ? undefined : found
    })
    expect(done.status).toBe('failed')
    expect(done.error?.message).toContain("Item 'msg_1' not found")
  })

  test('only what is stored is made so, and only that is cancelled', async () => {
    expect(await post('/v1/responses', { ...asked, store: false })).toMatchObject({
      status: 400,
      body: { error: { param: 'background' } },
    })
    const { id } = await client.responses.create({ model: 'responds', input: 'Hello' })
    expect((await post(`/v1/responses/${id}/cancel`, {})).status).toBe(400)
  })

  test('after a crash and a restart what ran is failed', async () => {
    const folder = makeDirectory()
    const file = join(folder.path, 'tollgate.yaml')
    writeFileSync(
      file,
      JSON.stringify({
        channels: channels(vendor.url),
        keys: [{ name: 'own', secret: testKey }],
        accounts: { default: { credit: '100' } },
        models: { '*': { prices: { input: '1', output: '2' } } },
      }),
    )
    const words = ['--config', file]
    const first = await startServer(folder.path, { words })
    const { id } = await openaiClient(first.url).responses.create(asked)
    await eventually(() => vendor.bodies[0])
    await first.kill()
    const second = await startServer(folder.path, { words })
    try {
      const found = await openaiClient(second.url).responses.retrieve(id)
      expect(found).toMatchObject({ id, status: 'failed', error: { code: 'server_error' } })
    } finally {
      await second.kill()
      folder.remove()
    }
  }, 30_000)
})

describe('bounds and neighbours', () => {
  test('one that is too large is not kept, and says so', async () => {
    const input = 'x'.repeat(1_100_000)
    const { id } = await client.responses.create({ model: 'responds', input })
    const found = await fetch(`${gateway.url}/v1/responses/${id}`, { headers: authorized() })
    expect(found.status).toBe(404)
    expect(await found.text()).toContain('larger than 1048576 bytes')
    const next = await post('/v1/responses', {
      model: 'chats',
      input: 'x',
      previous_response_id: id,
    })
    expect(next).toMatchObject({
      status: 400,
      body: { error: { code: 'previous_response_not_found', param: 'previous_response_id' } },
    })
  })

  test('tokens are counted, with what went before', async () => {
    const { id } = await client.responses.create({
      model: 'chats',
      input: 'Hello there. '.repeat(50),
    })
    const count = (await client.responses.inputTokens.count({ model: 'chats', input: 'More' }))
      .input_tokens
    const all = await client.responses.inputTokens.count({
      input: 'More',
      previous_response_id: id,
    })
    expect(all.object).toBe('response.input_tokens')
    expect(count).toBeGreaterThan(0)
    expect(all.input_tokens).toBeGreaterThan(count + 100)
  })

  test('pages of input items', async () => {
    const input = ['a', 'b', 'c'].map((content) => ({ role: 'user' as const, content }))
    const { id } = await client.responses.create({ model: 'chats', input })
    const page = async (query: string) => {
      const path = `${gateway.url}/v1/responses/${id}/input_items${query}`
      const list = (await (await fetch(path, { headers: authorized() })).json()) as JsonObject
      const data = (list['data'] ?? []) as JsonObject[]
      const said = data.map(({ content }) => (content as JsonObject[])[0]?.['text'])
      return { ...list, said }
    }
    expect(await page('')).toMatchObject({ object: 'list', said: ['c', 'b', 'a'], has_more: false })
    const first = await page('?order=asc&limit=2')
    expect(first).toMatchObject({ said: ['a', 'b'], has_more: true })
    const after = (first as JsonObject)['last_id']
    expect(await page(`?order=asc&after=${after}`)).toMatchObject({ said: ['c'], has_more: false })
    for (const wrong of ['?limit=0', '?limit=101', '?order=up', '?after=none']) {
      expect(await page(wrong)).toMatchObject({ error: { type: 'invalid_request_error' } })
    }
  })

  test('conversations and sockets are refused as such', async () => {
    const asked = { model: 'responds', input: 'Hello' }
    expect(await post('/v1/responses', { ...asked, conversation: { id: 'conv_1' } })).toMatchObject(
      {
        status: 400,
        body: { error: { param: 'conversation' } },
      },
    )
    const upgrade = await fetch(`${gateway.url}/v1/responses`, {
      headers: { ...authorized(), connection: 'upgrade', upgrade: 'websocket' },
    })
    expect(upgrade.status).toBe(426)
    const plain = await fetch(`${gateway.url}/v1/responses`, { headers: authorized() })
    expect([plain.status, plain.headers.get('allow')]).toEqual([405, 'POST, OPTIONS'])
  })

  test('keepDays 0 keeps nothing', async () => {
    await using own = await startGateway({
      config: { channels: channels(vendor.url), responses: { keepDays: 0 } },
    })
    const { id } = await openaiClient(own.url).responses.create({
      model: 'responds',
      input: 'Hello',
    })
    expect(vendor.bodies[0]).toMatchObject({ store: false })
    const found = await fetch(`${own.url}/v1/responses/${id}`, { headers: authorized() })
    expect(found.status).toBe(404)
  })
})
