// Tests pictures, sound and documents in prompts: held and counted by what they are to their vendor, never by their
// base64.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { pdfOf, pngOf } from '../support/attachments.ts'
import { authorized, eventually } from '../support/clients.ts'
import { openSockets } from '../support/gateway.ts'
import { wav } from '../support/samples.ts'
import { chatReply, hang, json, send, sseHead, words } from '../support/upstream.ts'
import { bodyOf, openShop, type Shop } from './shop.ts'

const picture = pngOf(1_024, 1_024, 450_000).toString('base64')
const dataUrl = `data:image/png;base64,${picture}`
const sound = wav(20).toString('base64')
const pdf = pdfOf(3, 300_000).toString('base64')
const address = 'https://example.invalid/picture.png'

const shown = (url: string) => ({ type: 'image_url', image_url: { url } })
const asking = (...parts: object[]) => ({
  messages: [{ role: 'user', content: [{ type: 'text', text: 'What is it?' }, ...parts] }],
})
const without = (reply: object) => ({ ...reply, usage: undefined })

describe('a picture of 600 KB of base64', () => {
  let shop: Shop
  beforeAll(async () => {
    shop = await openShop({ credit: '20', models: { 'm-*': { vision: true } } })
  })
  afterAll(async () => shop[Symbol.asyncDispose]())

  test('is counted by its size where its user presses Stop, and held so from a small wallet', async () => {
    const model = 'm-gpt-4o'
    shop.first.on(model, [send(sseHead), send(words('x'.repeat(40))), hang])
    const client = await shop.client({ ...asking(shown(dataUrl)), model, stream: true })
    await client.until((received) => received.includes('xxxx'))
    const { heldNano } = await eventually(async () => {
      const wallet = await shop.wallet()
      return wallet.heldNano > 0n ? wallet : undefined
    })
    expect(heldNano).toBeLessThan(4_000_000_000n)
    const sockets = openSockets(shop.gateway.pid)
    client.destroy()
    await eventually(() => openSockets(shop.gateway.pid) < sockets || undefined)
    const row = await shop.rowOf(model)
    expect(row).toMatchObject({ status: 499, usageSource: 'counted', imageInput: 765, output: 10 })
    expect(row.input).toBeLessThan(100)
    expect(row.writeoffNano).toBe(0n)
  })

  test('is held for each: twenty at addresses are more than one', async () => {
    const twenty = Array.from({ length: 20 }, () => shown(address))
    // The maximum that tiles cost: 85 and eight of 170. Twenty are 28.9 of the currency.
    const refused = await shop.chat({ ...asking(...twenty), model: 'm-gpt-4o-twenty' })
    expect(refused).toMatchObject({ status: 429, error: { code: 'insufficient_quota' } })
    const one = await shop.chat({ ...asking(shown(address)), model: 'm-gpt-4o-one', max_tokens: 9 })
    expect(one.status).toBe(200)
  })

  test('is held at the most where its head claims less than its bytes can be', async () => {
    const lying = `data:image/png;base64,${pngOf(1, 1, 450_000).toString('base64')}`
    const model = 'm-claude-opus-5-lying'
    shop.first.on(model, [json(200, without(chatReply('Hello')))])
    await shop.chat({ ...asking(shown(lying)), model, max_tokens: 9 })
    expect(await shop.rowOf(model)).toMatchObject({ usageSource: 'counted', imageInput: 4_784 })
  })
})

type Wanted = Readonly<Record<'imageInput' | 'audioInput', number>>
const paths = { gemini: '/v1beta/models/MODEL:generateContent' }
const data = (mimeType: string, base64: string) => ({ inlineData: { mimeType, data: base64 } })
const source = (media_type: string, base64: string) => ({
  source: { type: 'base64', media_type, data: base64 },
})
const contents = (...parts: object[]) => ({ contents: [{ role: 'user', parts }] })
const messages = (...content: object[]) => ({
  max_tokens: 9,
  messages: [{ role: 'user', content }],
})
const input = (...content: object[]) => ({ input: [{ role: 'user', content }] })
const called = { id: 'toolu_1', name: 'look', input: {} }
const result = (...content: object[]) => ({
  max_tokens: 9,
  messages: [
    { role: 'user', content: 'Look.' },
    { role: 'assistant', content: [{ type: 'tool_use', ...called }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content }] },
  ],
})
const chat = '/v1/chat/completions'
const file = { filename: 'a.pdf', file_data: `data:application/pdf;base64,${pdf}` }
const text = Buffer.from('Words that a model reads. '.repeat(2_000))
/** The first bytes of a picture before what a vendor reads as text, by the type that its client names. */
const disguised = Buffer.concat([pngOf(1, 1, 70), text]).toString('base64')
const textFile = { filename: 'a.txt', file_data: `data:text/plain;base64,${disguised}` }
const disguises: readonly [name: string, path: string, body: object][] = [
  ['chat', chat, asking({ type: 'file', file: textFile })],
  ['Responses', '/v1/responses', input({ type: 'input_file', ...textFile })],
  ['Messages', '/v1/messages', messages({ type: 'document', ...source('text/plain', disguised) })],
  ['Gemini', paths.gemini, contents(data('text/plain', disguised))],
]
const sizes: readonly [name: string, path: string, body: object, wanted: Partial<Wanted>][] = [
  ['a picture, chat', chat, asking(shown(dataUrl)), { imageInput: 765 }],
  ['two pictures, chat', chat, asking(shown(dataUrl), shown(dataUrl)), { imageInput: 1_530 }],
  [
    'a picture, Responses',
    '/v1/responses',
    input({ type: 'input_image', image_url: dataUrl }),
    { imageInput: 765 },
  ],
  [
    'a picture, Messages',
    '/v1/messages',
    messages({ type: 'image', ...source('image/png', picture) }),
    { imageInput: 765 },
  ],
  [
    'a picture of a tool, Messages',
    '/v1/messages',
    result({ type: 'image', ...source('image/png', picture) }),
    { imageInput: 765 },
  ],
  ['a picture, Gemini', paths.gemini, contents(data('image/png', picture)), { imageInput: 765 }],
  [
    'sound, chat',
    chat,
    asking({ type: 'input_audio', input_audio: { data: sound, format: 'wav' } }),
    { audioInput: 200 },
  ],
  ['sound, Gemini', paths.gemini, contents(data('audio/wav', sound)), { audioInput: 200 }],
  ['a document, chat', chat, asking({ type: 'file', file }), {}],
  ['a document, Responses', '/v1/responses', input({ type: 'input_file', ...file }), {}],
  [
    'a document, Messages',
    '/v1/messages',
    messages({ type: 'document', ...source('application/pdf', pdf) }),
    {},
  ],
  ['a document, Gemini', paths.gemini, contents(data('application/pdf', pdf)), {}],
]

describe('where no vendor reports, in every client format', () => {
  let shop: Shop
  beforeAll(async () => {
    shop = await openShop({ models: { 'm-*': { vision: true } } })
  })
  afterAll(async () => shop[Symbol.asyncDispose]())

  test.each(sizes)('%s is counted by its own measure', async (name, path, body, wanted) => {
    const model = `m-gpt-4o-${name.replaceAll(/\W+/g, '-').toLowerCase()}`
    shop.first.on(model, [json(200, without(chatReply('Hello there')))])
    const reply = await fetch(shop.gateway.url + path.replace('MODEL', model), {
      method: 'POST',
      headers: { ...authorized(), 'content-type': 'application/json' },
      body: JSON.stringify({ ...(path === paths.gemini ? {} : { model }), ...body }),
    })
    expect({ name, status: reply.status, text: await reply.text() }).toMatchObject({ status: 200 })
    const row = await shop.rowOf(model)
    expect(row).toMatchObject({ usageSource: 'counted', imageInput: 0, audioInput: 0, ...wanted })
    const pages = name.includes('document') ? 3 * (1_500 + 1_445) : 0
    expect(row.input).toBeGreaterThanOrEqual(pages)
    expect(row.input).toBeLessThan(pages + 200)
  })

  test.each(disguises)(
    'text behind the head of a picture is text: %s',
    async (name, path, body) => {
      const model = `m-gpt-4o-disguised-${name.toLowerCase()}`
      shop.first.on(model, [json(200, without(chatReply('Hello there')))])
      const reply = await fetch(shop.gateway.url + path.replace('MODEL', model), {
        method: 'POST',
        headers: { ...authorized(), 'content-type': 'application/json' },
        body: JSON.stringify({ ...(path === paths.gemini ? {} : { model }), ...body }),
      })
      expect({ status: reply.status, text: await reply.text() }).toMatchObject({ status: 200 })
      const row = await shop.rowOf(model)
      expect(row).toMatchObject({ usageSource: 'counted', imageInput: 0 })
      expect(row.input).toBeGreaterThan(text.length / 4)
    },
  )

  test('text is text, whatever a client calls it', async () => {
    const text = 'Nothing here is a picture. '.repeat(4_000)
    const model = 'm-gpt-4o-text'
    shop.first.on(model, [json(200, without(chatReply('Hello there')))])
    const block = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: text } }
    const call = { type: 'tool_use', ...called, input: { content: [block], inlineData: block } }
    const document = {
      type: 'document',
      source: { type: 'text', media_type: 'text/plain', data: text },
    }
    const body = {
      ...messages({ type: 'text', text: 'Hello' }, document),
      model,
    }
    const { messages: said } = body
    const reply = await fetch(`${shop.gateway.url}/v1/messages`, {
      method: 'POST',
      headers: { ...authorized(), 'content-type': 'application/json' },
      body: JSON.stringify({
        ...body,
        messages: [
          ...said,
          { role: 'assistant', content: [call] },
          {
            role: 'user',
            content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'ok' }],
          },
        ],
      }),
    })
    expect(reply.status).toBe(200)
    const row = await shop.rowOf(model)
    expect(row).toMatchObject({ usageSource: 'counted', imageInput: 0 })
    expect(row.input).toBeGreaterThan((3 * text.length) / 4)
  })

  test('a request without any is counted as before', async () => {
    const model = 'm-gpt-4o-plain'
    shop.first.on(model, [json(200, without(chatReply('Hello there')))])
    await shop.chat({ model })
    const bytes = JSON.stringify(bodyOf({ model })).length
    expect(await shop.rowOf(model)).toMatchObject({ input: Math.ceil(bytes / 4), imageInput: 0 })
  })
})
