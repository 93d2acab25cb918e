// Tests running requests: seen from another process with their cost so far, and stopped from there.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { listRunning, stopRequest } from '../../src/admin/running.ts'
import { openStore } from '../../src/store/open.ts'
import type { Store } from '../../src/store/store.ts'
import { adminOf } from '../support/admin.ts'
import { type Gateway, startGateway, testKey } from '../support/gateway.ts'
import { hang, send, sseHead, startUpstream, type Upstream, words } from '../support/upstream.ts'

let upstream: Upstream
let gateway: Gateway
let store: Store

beforeAll(async () => {
  upstream = await startUpstream()
  upstream.on('streamed', [send(sseHead), send(words('Hello there, ', 'and so on ')), hang])
  upstream.on('silent', [hang])
  gateway = await startGateway({
    config: {
      channels: [
        {
          id: 'up',
          vendor: 'openai',
          baseUrl: upstream.url,
          key: 'sk-up',
          models: ['streamed', 'silent'],
        },
      ],
      keys: [{ name: 'test', account: 'ann', secret: testKey }],
    },
  })
  store = await openStore({ dataDir: gateway.dataDir, databaseUrl: null })
})
afterAll(async () => {
  await gateway.stop()
  await upstream.close()
  await store.close()
})

const admin = () => adminOf(store, { nowMs: Date.now() })
const ask = (model: string, stream: boolean) =>
  gateway.post('/v1/chat/completions', {
    model,
    stream,
    messages: [{ role: 'user', content: 'Tell me something long' }],
  })

/** The one running request of a model, as another process sees it. */
async function runningOf(model: string, owner?: string) {
  for (;;) {
    const { items } = await listRunning(admin(), { owner })
    const found = items.find((each) => each.model === model)
    if (found !== undefined) return found
  }
}

test('a stream is seen with what it cost until now, and ends as its owner says', async () => {
  const reply = await ask('streamed', true)
  const running = await runningOf('streamed', 'ann')
  expect(running).toMatchObject({ account: 'ann', keyName: 'test', stream: true, attempts: 1 })
  expect(running).not.toHaveProperty('channel')
  expect(running.requestId).toBe(reply.headers.get('x-request-id') ?? '')
  expect(running.outputTokens).toBeGreaterThan(0)
  expect(BigInt(running.costNano)).toBeGreaterThan(0n)
  expect(running.ttftMs).not.toBeNull()
  expect((await runningOf('streamed')).channel).toBe('up')
  // Nobody else can see it or end it.
  expect((await listRunning(admin(), { owner: 'bob' })).items).toEqual([])
  const { requestId } = running
  const refused = stopRequest(admin(), { id: requestId, owner: 'bob' })
  await expect(refused).rejects.toMatchObject({ refusal: 'not_found', field: 'id' })

  expect(await stopRequest(admin(), { id: requestId, owner: 'ann' })).toEqual({
    requestId,
    stopped: true,
  })
  const text = await reply.text()
  expect(text).toContain('Hello there, ')
  expect(text).toContain('"code":"request_stopped"')
  expect(text).not.toContain('[DONE]')
  await upstream.of('streamed')[0]?.gone
  const row = await gateway.row(requestId)
  expect(row).toMatchObject({
    status: 200,
    errorCode: 'request_stopped',
    errorCause: "stopped by the account's owner",
    usageSource: 'counted',
  })
  expect(row.chargeNano).toBeGreaterThan(0n)
  expect(row.output).toBe(running.outputTokens)
  const again = stopRequest(admin(), { id: requestId, owner: 'ann' })
  await expect(again).rejects.toMatchObject({ refusal: 'conflict' })
}, 30_000)

test('a request without an answer is stopped by an operator, and costs nothing', async () => {
  const reply = ask('silent', false)
  const { requestId } = await runningOf('silent')
  await stopRequest(admin(), { id: requestId })
  const refused = await reply
  expect(refused.status).toBe(409)
  expect(refused.headers.get('x-should-retry')).toBe('false')
  expect(await refused.json()).toMatchObject({ error: { code: 'request_stopped' } })
  await upstream.of('silent')[0]?.gone
  expect(await gateway.row(requestId)).toMatchObject({
    status: 409,
    errorCode: 'request_stopped',
    errorCause: 'stopped by an operator of the gateway',
    chargeNano: 0n,
  })
}, 30_000)

test('what never ran is not found, also where two ask at once', async () => {
  const id = `req_${'0'.repeat(28)}`
  const both = [stopRequest(admin(), { id }), stopRequest(admin(), { id })]
  const refused = { status: 'rejected', reason: expect.objectContaining({ refusal: 'not_found' }) }
  expect(await Promise.allSettled(both)).toMatchObject([refused, refused])

  for (const id of ['none', `req_${'0'.repeat(28)}`]) {
    await expect(stopRequest(admin(), { id })).rejects.toMatchObject({ refusal: 'not_found' })
  }
}, 30_000)
