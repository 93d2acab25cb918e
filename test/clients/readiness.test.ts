// Tests that readiness fails, with the reason, as long as every request would be refused.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { eventually } from '../support/clients.ts'
import { startGateway } from '../support/gateway.ts'
import { chatReply, json, startUpstream, type Upstream } from '../support/upstream.ts'

let upstream: Upstream
beforeAll(async () => {
  upstream = await startUpstream()
})
afterAll(() => upstream.close())

const ask = { messages: [{ role: 'user' as const, content: 'Hello' }] }

async function readinessOf(url: string) {
  const reply = await fetch(`${url}/readyz`)
  const { status, missing, components } = (await reply.json()) as {
    status: string
    missing: string[]
    components: Record<string, { status: string; reason?: string }>
  }
  return { code: reply.status, status, missing, components }
}

const channel = (id: string, more: object = {}) => ({
  id,
  vendor: 'openai',
  baseUrl: upstream.url,
  key: 'sk-up',
  models: [id],
  ...more,
})

test('503 while each channel is refused by its vendor or fails, 200 while one is left', async () => {
  upstream.on('refused', [json(401, { error: { message: 'Incorrect API key provided' } })])
  upstream.on('failing', [json(500, { error: { message: 'no' } })])
  const channels = [channel('refused'), channel('failing'), channel('off', { disabled: true })]
  const gateway = await startGateway({ config: { channels } })
  try {
    expect((await readinessOf(gateway.url)).components['channels']).toEqual({ status: 'ok' })
    await gateway.post('/v1/chat/completions', { ...ask, model: 'refused' })
    expect((await readinessOf(gateway.url)).code).toBe(200)
    const seen = await eventually(async () => {
      await gateway.post('/v1/chat/completions', { ...ask, model: 'failing' })
      const found = await readinessOf(gateway.url)
      return found.code === 503 ? found : undefined
    })
    const reason =
      'no channel can be used: 1 failing or cooling down, 1 whose vendor refuses its key'
    expect(seen).toEqual({
      code: 503,
      status: 'unavailable',
      missing: [reason],
      components: {
        server: { status: 'ok' },
        ledger: { status: 'ok' },
        channels: { status: 'unavailable', reason },
      },
    })
    expect((await fetch(`${gateway.url}/healthz`)).status).toBe(200)
  } finally {
    await gateway.stop()
  }
})

test('503 while the only channel cools down after a 429, 200 again when it may be asked', async () => {
  upstream.on('limited', [json(429, { error: { message: 'slow down' } }, 'retry-after: 1')])
  const gateway = await startGateway({ config: { channels: [channel('limited')] } })
  try {
    await gateway.post('/v1/chat/completions', { ...ask, model: 'limited' })
    expect((await readinessOf(gateway.url)).code).toBe(503)
    upstream.on('limited', [json(200, chatReply('well'))])
    await eventually(async () => ((await readinessOf(gateway.url)).code === 200 ? true : undefined))
    const reply = await gateway.post('/v1/chat/completions', { ...ask, model: 'limited' })
    expect(reply.status).toBe(200)
  } finally {
    await gateway.stop()
  }
})

test('503 where every channel is disabled', async () => {
  const gateway = await startGateway({ config: { channels: [channel('off', { disabled: true })] } })
  try {
    expect((await readinessOf(gateway.url)).missing).toEqual(['no channel takes requests'])
  } finally {
    await gateway.stop()
  }
})
