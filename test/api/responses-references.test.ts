// Tests the bounds of requests whose input names stored items: what they name is put in their place.

import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import type { JsonObject } from '../../src/wire/ir.ts'
import { type Gateway, startGateway } from '../support/gateway.ts'
import { type Responder, startResponder } from '../support/responder.ts'

const maxBodyBytes = 1_000_000

let gateway: Gateway
let vendor: Responder

beforeAll(async () => {
  vendor = await startResponder()
  const channel = { vendor: 'openai', baseUrl: vendor.url, key: 'sk-upstream-secret-0123456789' }
  gateway = await startGateway({
    config: {
      server: { maxBodyBytes },
      channels: [{ ...channel, id: 'chats', dialect: 'openai-chat', models: { chats: 'gpt-5' } }],
    },
  })
})
afterAll(async () => {
  await gateway.stop()
  await vendor.stop()
})
beforeEach(() => {
  vendor.bodies.length = 0
})

async function post(path: string, body: JsonObject) {
  const response = await gateway.post(path, { model: 'chats', ...body })
  return { status: response.status, body: (await response.json()) as JsonObject }
}

function references(ids: readonly string[]): JsonObject[] {
  return ids.map((id) => ({ type: 'item_reference', id }))
}

const tooLarge = {
  status: 413,
  body: { error: { type: 'invalid_request_error', code: 'request_too_large', param: 'input' } },
}

test('an item that is named again and again counts each time, wherever it is put in', async () => {
  const text = 'a'.repeat(200_000)
  const item = { type: 'message', role: 'user', id: 'msg_own', content: text }
  const { body } = await post('/v1/responses', { input: [item] })
  const following = { previous_response_id: body['id'] as string }
  const named = (count: number) => references(Array.from({ length: count }, () => 'msg_own'))
  const twice = await post('/v1/responses', { ...following, input: named(2) })
  expect(twice.status).toBe(200)
  expect(JSON.stringify(vendor.bodies.at(-1)).split(text).length - 1).toBe(3)
  const asked = vendor.bodies.length
  for (const path of ['', '/compact', '/input_tokens']) {
    const refused = await post(`/v1/responses${path}`, { ...following, input: named(10_000) })
    expect(refused).toMatchObject(tooLarge)
  }
  // Neither the conversation nor what is put in is too large alone.
  expect(await post('/v1/responses', { ...following, input: named(4) })).toMatchObject(tooLarge)
  expect(vendor.bodies.length).toBe(asked)
})

test('more stored items than can be looked up are refused', async () => {
  const ids = Array.from({ length: 10_001 }, (_, at) => `msg_${at}`)
  const refused = await post('/v1/responses', { input: references(ids) })
  expect(refused).toMatchObject({
    status: 400,
    body: { error: { param: 'input', message: expect.stringContaining('10000') as unknown } },
  })
  expect(vendor.bodies).toEqual([])
})

test('no more of the stored responses is read than a request may have', async () => {
  const instructions = 'a'.repeat(150_000)
  const ids: string[] = []
  for (let at = 0; at < 8; at++) {
    const { body } = await post('/v1/responses', { instructions, input: `Hello ${at}` })
    ids.push(...(body['output'] as JsonObject[]).map(({ id }) => String(id)))
  }
  const asked = (some: readonly string[]) => ({
    input: [...references(some), { role: 'user', content: 'More' }],
  })
  expect((await post('/v1/responses', asked(ids.slice(0, 6)))).status).toBe(200)
  expect(JSON.stringify(vendor.bodies.at(-1))).toContain('Chat 6.')
  expect(await post('/v1/responses', asked(ids))).toMatchObject(tooLarge)
})
