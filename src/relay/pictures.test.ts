// Tests conversations with pictures that a model made, for vendors that take pictures from users alone.

import { expect, test } from 'bun:test'
import { vendors } from '../vendors/registry.ts'
import type { Vendor } from '../vendors/vendor.ts'
import { dialects } from '../wire/dialects.ts'
import type { ClientDialectId, VendorDialectId } from '../wire/formats.ts'
import type { JsonObject } from '../wire/ir.ts'
import type { Channel } from './channel.ts'
import type { RelayRequest, RelayRooms } from './request.ts'
import { decodedRequestOf, type Encoded, encoded } from './translate.ts'

const data = 'iVBORw0KGgoAAAANSUhEUg=='
const url = `data:image/png;base64,${data}`
const picture = { type: 'image_url', image_url: { url } }
const item = { type: 'image_generation_call', id: 'ig', status: 'completed', result: data }

const chat = {
  model: 'm',
  messages: [
    { role: 'user', content: 'draw' },
    { role: 'assistant', content: 'here', images: [picture] },
    { role: 'user', content: 'bluer' },
  ],
}
const responses = {
  model: 'm',
  input: [{ role: 'user', content: 'draw' }, item, { role: 'user', content: 'bluer' }],
}

function sent(
  from: ClientDialectId,
  body: JsonObject,
  [dialect, id]: readonly [VendorDialectId, string],
): JsonObject {
  const vendor: Vendor | undefined = vendors[id]
  if (vendor === undefined) throw new Error(`no vendor ${id}`)
  const bytes = new TextEncoder().encode(JSON.stringify(body))
  const peek = { body: bytes, model: 'm' } as RelayRequest['peek']
  const request = { dialect: (dialects as RelayRooms['dialects'])[from], peek } as RelayRequest
  const candidate = { dialect, model: 'm' } as Parameters<typeof encoded>[2]
  const channel = { tag: 't', vendor } as Channel
  const rooms = { dialects } as unknown as RelayRooms
  const made = encoded(rooms, request, candidate, channel, decodedRequestOf(request)) as Encoded
  return JSON.parse(Buffer.concat(made.segments).toString('utf8'))
}

const asked = [{ type: 'text', text: 'bluer' }, picture]

test.each<[VendorDialectId, string, JsonObject]>([
  ['openai-chat', 'openai', { messages: [{}, { content: 'here' }, { content: asked }] }],
  ['cohere-v2', 'cohere', { messages: [{}, { content: 'here' }, { content: asked }] }],
  [
    'openai-responses',
    'openai',
    { input: [{}, {}, { content: [{ text: 'bluer' }, { type: 'input_image', image_url: url }] }] },
  ],
  [
    'anthropic-messages',
    'anthropic',
    { messages: [{}, {}, { content: [{ text: 'bluer' }, { type: 'image', source: { data } }] }] },
  ],
  [
    'bedrock-converse',
    'bedrock',
    {
      messages: [{}, {}, { content: [{ text: 'bluer' }, { image: { source: { bytes: data } } }] }],
    },
  ],
])('%s gets a picture of an assistant with the next message of the user', (to, id, expected) => {
  expect(sent('openai-chat', chat, [to, id])).toMatchObject(expected)
})

test('vendors that take pictures of an assistant get them there', () => {
  const [, said] = chat.messages
  const own = sent('openai-chat', chat, ['openai-chat', 'openrouter'])
  expect(own['messages']).toMatchObject([{}, said ?? {}, { content: 'bluer' }])
  const contents = sent('openai-chat', chat, ['gemini', 'google'])['contents']
  const parts = [{ text: 'here' }, { inlineData: { mimeType: 'image/png', data } }]
  expect(contents).toMatchObject([{}, { role: 'model', parts }, { parts: [{ text: 'bluer' }] }])
})

test('a picture that a vendor of Responses made is shown to others, and goes back as it was', () => {
  const others = sent('openai-responses', responses, ['openai-chat', 'openai-compatible'])
  expect(others['messages']).toEqual([
    { role: 'user', content: 'draw' },
    { role: 'user', content: asked },
  ])
  const own = sent('openai-responses', responses, ['openai-responses', 'openai'])
  expect(own['input']).toEqual(responses.input)
})

test('the last picture of a conversation becomes a message', () => {
  const { messages } = chat
  const last = sent('openai-chat', { ...chat, messages: messages.slice(0, 2) }, [
    'openai-responses',
    'openai',
  ])
  expect(last['input']).toMatchObject([{}, {}, { role: 'user', content: [{ image_url: url }] }])
})
