// Tests operators' webhooks: an event that needs attention is sent once, and so is its end, signed, and again until it
// was accepted.

import { afterAll, afterEach, beforeEach, expect, setSystemTime, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Alert } from '../../src/admin/operation-alerts.ts'
import type { WebhookSettings } from '../../src/config/types.ts'
import { createSecretBox } from '../../src/identity/secret-box.ts'
import { type AlertOptions, lookAfterAlerts } from '../../src/main/alerts.ts'
import { NotFetched } from '../../src/safe-fetch/safe-fetch.ts'
import { openStore } from '../../src/store/open.ts'
import type { Store } from '../../src/store/store.ts'
import { eventually } from '../support/clients.ts'
import { startGateway } from '../support/gateway.ts'

const minuteMs = 60_000
const secret = 'of the operators alone'
const ops: WebhookSettings = { id: 'ops', url: 'http://10.1.2.3/hook', secret, events: null }
const about = {
  code: 'channel_open',
  severity: 'critical',
  subject: 'main',
  message: 'it is not asked at the moment: breaker',
  since: '2026-11-01T00:00:00.000Z',
} as const
const open: Alert = { ...about, count: null, cause: 'breaker' }
const late: Alert = {
  ...open,
  code: 'settlement_late',
  subject: null,
  message: '11 s',
  since: null,
}

let dataDir: string
let store: Store
let webhooks: readonly WebhookSettings[]
let alerts: readonly Alert[]
let fails: boolean
const posted: { readonly address: string; readonly body: string; readonly signed: string }[] = []

const options = (): AlertOptions => ({
  store,
  config: () => ({ currency: 'USD', keys: [], webhooks }),
  box: createSecretBox(new Uint8Array(32), 'test'),
  turnMs: 0,
  operatorAlerts: async () => alerts,
  mailer: async () => null,
  address: async () => 'https://gateway.example',
  post: () => Promise.reject(new Error('an operator’s address is not a user’s')),
  async postHome(address, body, fields) {
    posted.push({ address, body, signed: fields['x-tollgate-signature'] ?? '' })
    if (fails) throw new NotFetched('it answered 500')
  },
})
const bodies = () => posted.map(({ body }) => JSON.parse(body))

beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'tollgate-webhooks-'))
  store = await openStore({ dataDir, databaseUrl: null })
  setSystemTime(new Date('2026-11-01T12:00:00Z'))
  webhooks = [ops]
  alerts = [open]
  fails = false
  posted.length = 0
})
afterEach(async () => {
  await store.close()
  rmSync(dataDir, { recursive: true })
})
afterAll(() => void setSystemTime())

async function after(ms: number): Promise<void> {
  setSystemTime(Date.now() + ms)
  await lookAfterAlerts(options())
}

test('it is told once, signed, and its end once', async () => {
  for (let look = 0; look < 3; look++) await lookAfterAlerts(options())
  expect(bodies()).toEqual([
    {
      type: 'operator_alert',
      id: expect.stringMatching(/^ntc_/),
      webhook: 'ops',
      at: '2026-11-01T12:00:00.000Z',
      state: 'raised',
      ...about,
    },
  ])
  const [{ address, body, signed } = { address: '', body: '', signed: '' }] = posted
  const [, seconds, signature] = /^t=(\d+),v1=(\w+)$/.exec(signed) ?? []
  expect(address).toBe(ops.url)
  expect(signature).toBe(createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex'))
  alerts = []
  await after(minuteMs)
  expect(posted).toHaveLength(1)
  await after(10 * minuteMs)
  await after(minuteMs)
  expect(bodies().slice(1)).toEqual([
    expect.objectContaining({
      state: 'resolved',
      code: 'channel_open',
      subject: 'main',
      since: '2026-11-01T12:00:00.000Z',
    }),
  ])
})

test('what goes up and down within ten minutes, or counts, is told once', async () => {
  for (let minute = 0; minute < 10; minute++) {
    alerts = minute % 2 === 0 ? [open, { ...late, message: `${minute} s` }] : []
    await after(minuteMs)
  }
  expect(
    bodies()
      .map(({ state, code }) => `${state} ${code}`)
      .sort(),
  ).toEqual(['raised channel_open', 'raised settlement_late'])
})

test('each webhook has its own events, and its own attempts until one is taken', async () => {
  webhooks = [ops, { ...ops, id: 'money', events: ['settlement_late'] }]
  alerts = [open, late]
  fails = true
  await after(0)
  const ids = bodies().map(({ id }) => id)
  expect(
    bodies()
      .map(({ webhook, code }) => `${webhook} ${code}`)
      .sort(),
  ).toEqual(['money settlement_late', 'ops channel_open', 'ops settlement_late'])
  fails = false
  await after(minuteMs)
  expect(
    bodies()
      .map(({ id }) => id)
      .slice(3)
      .sort(),
  ).toEqual(ids.toSorted())
  await after(minuteMs)
  expect(posted).toHaveLength(6)
})

test('a webhook that was taken away is told nothing more, not even what waits', async () => {
  fails = true
  await after(0)
  webhooks = []
  fails = false
  await after(60 * minuteMs)
  expect(posted).toHaveLength(1)
  expect(await store.alerts.raised()).toEqual([])
})

test('a server tells of a vendor that is away, at an address of its own network', async () => {
  setSystemTime()
  const posts: string[] = []
  const receiver = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      posts.push(await request.text())
      return new Response()
    },
  })
  const vendor = { vendor: 'openai-compatible', baseUrl: 'http://127.0.0.1:9/v1', key: 'sk-a' }
  const gateway = await startGateway({
    config: {
      channels: [{ id: 'away', ...vendor, models: ['m'] }],
      models: { m: { kind: 'chat', prices: { input: '1', output: '1' } } },
      webhooks: [{ id: 'ops', url: `http://127.0.0.1:${receiver.port}/`, secret }],
    },
  })
  try {
    const messages = [{ role: 'user', content: 'Hi' }]
    // Its breaker opens for longer each time, and one of the looks, a minute apart, sees it open.
    const [body = ''] = await eventually(async () => {
      await (await gateway.post('/v1/chat/completions', { model: 'm', messages })).text()
      return posts.length > 0 ? posts : undefined
    }, 150_000)
    expect(JSON.parse(body)).toMatchObject({ code: 'channel_open', subject: 'away' })
    expect(gateway.stderr).not.toContain(secret)
  } finally {
    await gateway.stop()
    await receiver.stop(true)
  }
}, 200_000)
