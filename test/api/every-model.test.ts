// Tests that every listed model answers and every model that answers is listed: all shipped names of every vendor, on a
// stub.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createCatalog } from '../../src/catalog/catalog.ts'
import type { Model } from '../../src/catalog/model.ts'
import { vendors } from '../../src/vendors/registry.ts'
import { type Gateway, startGateway } from '../support/gateway.ts'

const catalog = createCatalog({})
const shipping = Object.keys(vendors).filter(
  (vendor) => vendor !== 'sandbox' && catalog.ofVendor(vendor).length > 0,
)
const secretOf = (vendor: string) => `sk-every-model-${vendor}-0123456789`

let gateway: Gateway
let stub: Bun.Server<undefined>
/** Requests at the stub, by vendor. */
const asked = new Map<string, number>()

beforeAll(async () => {
  stub = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const vendor = new URL(request.url).pathname.split('/')[1] ?? ''
      asked.set(vendor, (asked.get(vendor) ?? 0) + 1)
      await request.arrayBuffer()
      const error = { message: 'the stub was asked', type: 'invalid_request_error', code: 'stub' }
      return Response.json(
        { error, message: error.message, detail: error.message },
        { status: 400 },
      )
    },
  })
  gateway = await startGateway({
    config: {
      models: { '*': {} },
      groups: Object.fromEntries(shipping.map((vendor) => [vendor, {}])),
      channels: shipping.map((vendor) => ({
        id: vendor,
        vendor,
        baseUrl: `http://127.0.0.1:${stub.port}/${vendor}`,
        key: 'stub-key-0123456789',
        groups: [vendor],
      })),
      keys: shipping.map((vendor) => ({ name: vendor, group: vendor, secret: secretOf(vendor) })),
    },
  })
})
afterAll(async () => {
  await gateway.stop()
  await stub.stop(true)
})

const bearer = (vendor: string) => ({ authorization: `Bearer ${secretOf(vendor)}` })

async function listed(vendor: string) {
  const reply = await fetch(`${gateway.url}/v1/models`, { headers: bearer(vendor) })
  const body = (await reply.json()) as {
    data: { id: string; owned_by: string; context_window?: number }[]
    models: { slug: string; context_window?: number }[]
  }
  return body
}

const json: Readonly<Partial<Record<Model['kind'], readonly [path: string, body: object]>>> = {
  chat: ['/v1/chat/completions', { messages: [{ role: 'user', content: 'Hello' }] }],
  completion: ['/v1/completions', { prompt: 'Hello' }],
  embedding: ['/v1/embeddings', { input: 'Hello' }],
  rerank: ['/v1/rerank', { query: 'a', documents: ['a', 'b'] }],
  moderation: ['/v1/moderations', { input: 'Hello' }],
  image: ['/v1/images/generations', { prompt: 'a cat' }],
  speech: ['/v1/audio/speech', { voice: 'alloy', input: 'Hello' }],
  video: ['/v1/videos', { prompt: 'a cat' }],
}

/** The status and message of a request of the model's own kind. */
async function ask(vendor: string, { id, kind }: Model): Promise<string> {
  if (kind === 'realtime') return realtime(vendor, id)
  const request = json[kind]
  const form = new FormData()
  form.set('model', id)
  form.set('file', new File([wave()], 'a.wav', { type: 'audio/wav' }))
  const [path, body] =
    request === undefined
      ? [`/v1/audio/${kind}s`, form]
      : [request[0], JSON.stringify({ model: id, ...request[1] })]
  const type = request === undefined ? {} : { 'content-type': 'application/json' }
  const reply = await fetch(gateway.url + path, {
    method: 'POST',
    headers: { ...bearer(vendor), ...type },
    body,
  })
  return `${reply.status} ${await reply.text()}`
}

/** A refused session has no body to read, so the requests at the stub decide. */
function realtime(vendor: string, id: string): Promise<string> {
  const address = `${gateway.url.replace('http', 'ws')}/v1/realtime?model=${id}`
  const socket = new WebSocket(address, { headers: bearer(vendor) } as never)
  return new Promise((resolve) => {
    socket.onmessage = ({ data }) => resolve(String(data))
    socket.onclose = ({ code, reason }) => resolve(`${code} ${reason}`)
  })
}

/** A tenth of a second of silence. */
function wave(): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(44 + 1_600)
  const view = new DataView(bytes.buffer)
  const write = (at: number, text: string) => bytes.set(new TextEncoder().encode(text), at)
  write(0, 'RIFF')
  view.setUint32(4, 36 + 1_600, true)
  write(8, 'WAVEfmt ')
  view.setUint32(16, 16, true)
  view.setUint16(20, 1, true)
  view.setUint16(22, 1, true)
  view.setUint32(24, 8_000, true)
  view.setUint32(28, 16_000, true)
  view.setUint16(32, 2, true)
  view.setUint16(34, 16, true)
  write(36, 'data')
  view.setUint32(40, 1_600, true)
  return bytes
}

describe.each(shipping)('%s', (vendor) => {
  test('asks its vendor for every listed name, by the operation of its kind, and for no other', async () => {
    const { data } = await listed(vendor)
    const names = new Set(data.map(({ id }) => id))
    const shipped = catalog.ofVendor(vendor)
    expect([...names].filter((id) => !shipped.some((model) => model.id === id))).toEqual([])
    const wrong: string[] = []
    for (const model of shipped) {
      const before = asked.get(vendor) ?? 0
      const answer = await ask(vendor, model)
      const reached = (asked.get(vendor) ?? 0) > before
      if (reached !== names.has(model.id)) wrong.push(`${model.id} (${model.kind}): ${answer}`)
    }
    expect(wrong).toEqual([])
  })

  test('says of every listed chat model how much it takes', async () => {
    const { models, data } = await listed(vendor)
    expect(models.filter(({ context_window: window }) => !(Number(window) > 0))).toEqual([])
    for (const { owned_by } of data) expect(owned_by).toMatch(/^[a-z0-9-]+$/)
  })
})
