// Tests that a picture which a client names by its address is never fetched from a private network, not from the
// channel's own server either.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Gateway, startGateway } from '../support/gateway.ts'
import { expectRefusal } from '../support/requests.ts'

let gateway: Gateway
let vendor: Bun.Server<undefined>
const fetched: string[] = []

beforeAll(async () => {
  vendor = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch(request) {
      if (request.method === 'GET') fetched.push(new URL(request.url).pathname)
      return Response.json({ data: [] })
    },
  })
  const baseUrl = `http://127.0.0.1:${vendor.port}/v1`
  gateway = await startGateway({
    config: {
      channels: [{ id: 'x', vendor: 'xai', baseUrl, key: 'k', models: ['grok-imagine-image'] }],
    },
  })
})
afterAll(async () => {
  await gateway.stop()
  await vendor.stop(true)
})

test.each(['images', 'mask'])('%s', async (field) => {
  const named = { image_url: `http://127.0.0.1:${vendor.port}/internal/admin.png` }
  const own = { image_url: 'data:image/png;base64,iVBORw0KGgo=' }
  const reply = await gateway.post('/v1/images/edits', {
    model: 'grok-imagine-image',
    prompt: 'a hat',
    ...(field === 'images' ? { images: [named] } : { images: [own], mask: named }),
  })
  const error = await expectRefusal(reply, 400, 'invalid_request_error')
  expect(error.param).toStartWith(field)
  expect(fetched).toEqual([])
})
