// Tests responses that are kept: found again, continued, cancelled and removed, over chat vendors and one that is not.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import OpenAI from 'openai'
import type { JsonObject } from '../../src/wire/ir.ts'
import { authorized, openaiClient } from '../support/clients.ts'
import { type Gateway, startGateway, testKey } from '../support/gateway.ts'
import { type Responder, startResponder } from '../support/responder.ts'

let gateway: Gateway
let client: OpenAI
let stranger: OpenAI
let vendor: Responder

const otherKey = 'sk-other-0123456789abcdef'

beforeAll(async () => {
  vendor = await startResponder()
  const key = 'sk-upstream-secret-0123456789'
  gateway = await startGateway({
    config: {
      channels: [
        { id: 'sandbox', vendor: 'sandbox', models: ['sandbox/chat'] },
        {
          id: 'chats',
          vendor: 'openai',
          baseUrl: vendor.url,
          key,
          dialect: 'openai-chat',
          models: { chats: 'gpt-5' },
        },
        {
          id: 'responds',
          vendor: 'openai',
          baseUrl: vendor.url,
          key,
          models: { responds: 'gpt-5', plain: 'gpt-4o' },
        },
      ],
      keys: [
        { name: 'own', secret: testKey },
        { name: 'other', secret: otherKey, account: 'other' },
      ],
    },
  })
  client = openaiClient(gateway.url)
  stranger = new OpenAI({ apiKey: otherKey, baseURL: `${gateway.url}/v1`, maxRetries: 0 })
})
afterAll(async () => {
  await gateway.stop()
  await vendor.stop()
})

/** The error of the client's promise, which is not one of the runtime's; undefined if it was not rejected. */
async function errorOf(asked: PromiseLike<unknown>): Promise<unknown> {
  try {
    await asked
    return undefined
  } catch (error) {
    return error
  }
}

async function items(id: string, query: OpenAI.Responses.InputItems.InputItemListParams = {}) {
  const found: JsonObject[] = []
  for await (const item of client.responses.inputItems.list(id, query)) {
    found.push(item as unknown as JsonObject)
  }
  return found
}

describe.each(['sandbox/chat', 'chats', 'responds'])('%s', (model) => {
  test.each([false, true])(
    'W45: what was given is found under the id it was given, streamed: %p',
    async (stream) => {
      const asked = { model, input: 'Hello', metadata: { a: 'b' } }
      let given: OpenAI.Responses.Response
      if (stream) {
        given = await client.responses.stream(asked).finalResponse()
      } else given = await client.responses.create(asked)
      expect(given).toMatchObject({ store: true, previous_response_id: null, status: 'completed' })
      const found = await client.responses.retrieve(given.id)
      expect(found.id).toBe(given.id)
      expect(found.output_text).toBe(given.output_text)
      expect(found.usage).toEqual(given.usage)
      expect(await items(given.id)).toEqual([
        expect.objectContaining({
          type: 'message',
          role: 'user',
          content: [{ type: 'input_text', text: 'Hello' }],
        }),
      ])
    },
  )

  test('a response goes on from another, with all that was said before it', async () => {
    const first = await client.responses.create({
      model,
      input: 'My name is Ann.',
      instructions: 'Once.',
    })
    const second = await client.responses.create({
      model,
      input: 'And yours?',
      previous_response_id: first.id,
    })
    const third = await client.responses
      .stream({
        model,
        input: [{ role: 'user', content: 'Again?' }],
        previous_response_id: second.id,
      })
      .finalResponse()
    expect(second.previous_response_id).toBe(first.id)
    expect(third.previous_response_id).toBe(second.id)
    expect(second.instructions).toBeNull()
    const listed = await items(third.id, { order: 'asc', limit: 2 })
    const messages = listed.filter(({ type }) => type === 'message')
    const said = messages.map(({ role, content }) => [role, (content as JsonObject[])[0]?.['text']])
    expect(said).toEqual([
      ['user', 'My name is Ann.'],
      ['assistant', first.output_text],
      ['user', 'And yours?'],
      ['assistant', second.output_text],
      ['user', 'Again?'],
    ])
    expect(new Set(listed.map(({ id }) => id)).size).toBe(listed.length)
    expect((await items(third.id)).map(({ id }) => id)).toEqual(
      listed.map(({ id }) => id).reverse(),
    )
  })

  test('a removed one is gone, also for what would go on from it', async () => {
    const { id } = await client.responses.create({ model, input: 'Hello' })
    const later = await client.responses.create({ model, input: 'More', previous_response_id: id })
    const removed = await fetch(`${gateway.url}/v1/responses/${id}`, {
      method: 'DELETE',
      headers: authorized(),
    })
    expect(await removed.json()).toEqual({ id, object: 'response', deleted: true })
    expect(await errorOf(client.responses.retrieve(id))).toMatchObject({ status: 404 })
    for (const previous of [id, later.id]) {
      expect(
        await errorOf(
          client.responses.create({ model, input: 'More', previous_response_id: previous }),
        ),
      ).toMatchObject({
        status: 400,
        code: 'previous_response_not_found',
        param: 'previous_response_id',
      })
    }
  })

  test('what was not to be stored is not found', async () => {
    const given = await client.responses.create({ model, input: 'Hello', store: false })
    expect(given).toMatchObject({ store: false })
    expect(await errorOf(client.responses.retrieve(given.id))).toMatchObject({ status: 404 })
  })

  test("another account's is not there", async () => {
    const { id } = await client.responses.create({ model, input: 'Secret' })
    const unknown = { status: 404 }
    expect(await errorOf(stranger.responses.retrieve(id))).toMatchObject(unknown)
    expect(await errorOf(stranger.responses.delete(id))).toMatchObject(unknown)
    expect(await errorOf(stranger.responses.cancel(id))).toMatchObject(unknown)
    expect(await errorOf(stranger.responses.inputItems.list(id))).toMatchObject(unknown)
    expect(
      await errorOf(stranger.responses.create({ model, input: 'x', previous_response_id: id })),
    ).toMatchObject({ status: 400, code: 'previous_response_not_found' })
    expect((await client.responses.retrieve(id)).id).toBe(id)
  })

  test.each([
    ['with its type', { type: 'item_reference' as const }],
    ['without a type', {}],
    ['with null as its type', { type: null }],
  ])('an item that is only named is found, %s', async (_, type) => {
    const first = await client.responses.create({ model, input: 'Hello' })
    const item = first.output.find((each) => each.type === 'message')
    const second = await client.responses.create({
      model,
      input: [
        { role: 'user', content: 'Hello' },
        { ...type, id: item?.id ?? '' },
        { role: 'user', content: 'More' },
      ],
    })
    const listed = await items(second.id, { order: 'asc' })
    expect(listed.map(({ role }) => role)).toEqual(['user', 'assistant', 'user'])
    expect(
      await errorOf(client.responses.create({ model, input: [{ ...type, id: 'msg_unknown' }] })),
    ).toMatchObject({ status: 400 })
  })
})
