// Tests that images of a vendor's regional host are asked for as chats are: by the channel's proxy, by the host's name.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Gateway, startGateway } from '../support/gateway.ts'
import { reply, startUpstream, type Upstream } from '../support/upstream.ts'

let proxy: Upstream
let gateway: Gateway
beforeAll(async () => {
  proxy = await startUpstream()
  proxy.on('*', [reply(403, 'no')])
  gateway = await startGateway({
    config: {
      channels: [
        {
          id: 'v',
          vendor: 'vertex',
          key: 'k',
          options: { region: 'europe-west4', project: 'p' },
          proxy: proxy.url.replace('/v1', ''),
          models: ['gemini-3-pro-image'],
        },
      ],
      models: {
        'gemini-3-pro-image': { kind: 'image', prices: { input: '1', output: '2', image: '1' } },
      },
    },
  })
})
afterAll(async () => {
  await gateway.stop()
  await proxy.close()
})

test('the proxy is asked for the host of the region', async () => {
  const body = { model: 'gemini-3-pro-image', prompt: 'A cat.' }
  const { status } = await gateway.post('/v1/images/generations', body)
  expect(status).toBe(503)
  expect(proxy.requests[0]?.head).toStartWith('CONNECT europe-west4-aiplatform.googleapis.com:443 ')
})
