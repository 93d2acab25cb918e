// Tests keys with a spend limit: the clients' error at the limit, and when keys were last used.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createSecret, hashSecret } from '../../src/identity/secret.ts'
import { unrestrictedKey } from '../../src/store/keys.ts'
import { openStore } from '../../src/store/open.ts'
import type { Store } from '../../src/store/store.ts'
import { eventually } from '../support/clients.ts'
import { type Gateway, startGateway } from '../support/gateway.ts'

const file = 'sk-file-limit-0123456'
let gateway: Gateway
let store: Store
beforeAll(async () => {
  gateway = await startGateway({
    config: {
      channels: [{ id: 'sandbox', vendor: 'sandbox', models: ['sandbox/*'] }],
      models: { 'sandbox/chat': { prices: { request: '1000000', input: '0', output: '0' } } },
      keys: [
        {
          name: 'file',
          secret: file,
          spendLimit: { amount: '2', period: 'day', timeZone: 'Asia/Kolkata' },
        },
      ],
    },
  })
  store = await openStore({ dataDir: gateway.dataDir, databaseUrl: null })
})
afterAll(async () => {
  await store.close()
  await gateway.stop()
})

async function ask(key: string) {
  const body = { model: 'sandbox/chat', messages: [{ role: 'user', content: 'Hello' }] }
  const headers = { authorization: `Bearer ${key}` }
  const reply = await gateway.post('/v1/chat/completions', body, { headers })
  const { error } = (await reply.json()) as { error?: { code: string; message: string } }
  return { status: reply.status, error, headers: reply.headers }
}

/** A key of the store whose requests cost 1 each. */
async function keyWith(
  amountNano: bigint,
): Promise<{ readonly id: string; readonly secret: string }> {
  const secret = createSecret()
  const id = `key_${secret.slice(-12)}`
  await store.keys.insert({
    ...unrestrictedKey,
    id,
    name: id,
    account: 'default',
    group: 'default',
    hash: hashSecret(secret),
    hint: '',
    createdAt: 1,
    spendLimit: { amountNano, period: 'never', timeZone: null },
  })
  await eventually(async () => (await fetchModels(secret)) === 200 || undefined)
  return { id, secret }
}

async function fetchModels(secret: string): Promise<number> {
  const reply = await fetch(`${gateway.url}/v1/models`, {
    headers: { authorization: `Bearer ${secret}` },
  })
  await reply.arrayBuffer()
  return reply.status
}

describe('a key with a spend limit', () => {
  test('is served up to it, then refused with what it is and when it resets', async () => {
    expect((await ask(file)).status).toBe(200)
    expect((await ask(file)).status).toBe(200)
    const { status, error, headers } = await ask(file)
    expect(status).toBe(429)
    expect(error?.code).toBe('insufficient_quota')
    expect(error?.message).toMatch(
      /^This API key may spend 2 USD a day: all of it is spent, .* The limit resets at \d{4}-\d\d-\d\dT18:30:00\.000Z\.$/,
    )
    expect(headers.get('x-should-retry')).toBe('false')
  })

  test('of thirty requests at once passes no more than it may', async () => {
    const { id, secret } = await keyWith(7_000_000_000n)
    const statuses = (await Promise.all(Array.from({ length: 30 }, () => ask(secret)))).map(
      ({ status }) => status,
    )
    const served = statuses.filter((status) => status === 200).length
    expect(new Set(statuses)).toEqual(new Set([200, 429]))
    expect(served).toBeLessThanOrEqual(7)
    for (let more = served; more < 7; more += 1) expect((await ask(secret)).status).toBe(200)
    expect((await ask(secret)).status).toBe(429)
    await eventually(
      async () =>
        (await store.usage.list({ key: id, limit: 100 })).length === 38 - served || undefined,
    )
    const rows = await store.usage.list({ key: id, limit: 100 })
    expect(rows.reduce((sum, { chargeNano }) => sum + chargeNano, 0n)).toBe(7_000_000_000n)
  })

  test('counts what another server has settled for it', async () => {
    const { id, secret } = await keyWith(1_000_000_000_000n)
    expect((await ask(secret)).status).toBe(200)
    const row = await eventually(async () => (await store.usage.list({ key: id, limit: 1 }))[0])
    const elsewhere = { ...row, requestId: `${id}-elsewhere`, chargeNano: 999_000_000_000n }
    const node = { node: 'other', epoch: 1, fromLeaseNano: 0n, capNano: null, idempotency: null }
    await store.settlements.settle([{ ...node, row: elsewhere }])
    let served = 1
    await eventually(async () => {
      const { status } = await ask(secret)
      served += status === 200 ? 1 : 0
      return status === 429 || undefined
    })
    expect(served).toBeLessThan(500)
  })
})

test('when a key was last used is kept, with its client and address', async () => {
  const { id, secret } = await keyWith(5_000_000_000n)
  const before = Date.now()
  await ask(secret)
  await eventually(async () => (await store.keyUses.of([id])).length === 1 || undefined)
  const [use] = await store.keyUses.of([id])
  expect(use?.address).toBe('127.0.0.1')
  expect(use?.client).toMatch(/^bun/)
  expect(Math.abs((use?.at ?? 0) - before)).toBeLessThan(60_000)
})
