// Tests that a kept reply has no bytes of an attempt that failed before the one that answered.

import { expect, test } from 'bun:test'
import { gunzipSync } from 'node:zlib'
import { openStore } from '../../src/store/open.ts'
import { eventually } from '../support/clients.ts'
import { startGateway, testKey } from '../support/gateway.ts'
import { chatBody } from '../support/scene.ts'
import {
  delta,
  event,
  goodStream,
  reset,
  send,
  sseHead,
  startUpstream,
} from '../support/upstream.ts'

test('a reply of a channel’s second key is kept without what came for its first one', async () => {
  await using upstream = await startUpstream()
  await using gateway = await startGateway({
    config: {
      history: { mode: 'full' },
      channels: [
        {
          ...{ id: 'main', vendor: 'openai', baseUrl: upstream.url, models: ['m'] },
          keys: ['one', 'two'].map((name) => ({ name, key: `sk-up-0123456789-${name}` })),
        },
      ],
      models: { m: { kind: 'chat', prices: { input: '1', output: '2' } } },
      keys: [{ name: 'test', secret: testKey }],
    },
  })
  const early = event(delta({ role: 'assistant', content: '' }, null, { id: 'chatcmpl-early' }))
  upstream.on('m', [send(sseHead), send(early), reset], goodStream('Hello'))
  const reply = await gateway.post('/v1/chat/completions', { ...chatBody, stream: true })
  const text = await reply.text()
  expect(text).not.toContain('chatcmpl-early')
  expect(new Set(upstream.of('m').map(({ headers }) => headers.get('authorization'))).size).toBe(2)
  const store = await openStore({ dataDir: gateway.dataDir, databaseUrl: null })
  try {
    const id = reply.headers.get('x-request-id') ?? ''
    const kept = await eventually(async () => (await store.history.find(null, id)) ?? undefined)
    expect(gunzipSync(kept.content ?? '').toString()).not.toContain('chatcmpl-early')
    expect(kept.replyBytes).toBe(Buffer.byteLength(text))
  } finally {
    await store.close()
  }
})
