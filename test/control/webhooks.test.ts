// Tests operators' webhooks over the control API: the last message to each, and a test of it, without its secret.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadConfiguration } from '../../src/admin/configuration.ts'
import { noteOperatorEvents } from '../../src/admin/operator-events.ts'
import type { WebhookSettings } from '../../src/config/types.ts'
import { type ControlStage, controlStage, manager, person } from '../support/control.ts'

const secret = 'of the operators alone'
const admin = person('root', 'admin')
const eye = person('eye', 'auditor')
const path = '/api/webhooks'

const posted: { readonly body: string; readonly signature: string | null }[] = []
let answer = new Response('taken')
const receiver = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  async fetch(request) {
    const signature = request.headers.get('x-tollgate-signature')
    posted.push({ body: await request.text(), signature })
    return answer.clone()
  },
})
const dataDir = mkdtempSync(join(tmpdir(), 'tollgate-webhooks-'))
const address = `http://127.0.0.1:${receiver.port}/hook`
/** The path of a receiver may be a secret, as with chat programs. */
const shown = `http://127.0.0.1:${receiver.port}/***`
const ops: WebhookSettings = { id: 'ops', url: `${address}?token=hidden`, secret, events: null }
const money: WebhookSettings = { ...ops, id: 'money', events: ['set_aside'] }
let webhooks: readonly WebhookSettings[] = []
let stage: ControlStage

beforeAll(async () => {
  const config = await loadConfiguration({ flags: { data: dataDir }, env: {} })
  stage = await controlStage({ services: { config: () => ({ ...config, webhooks }) } })
})
afterAll(async () => {
  await stage.close()
  await receiver.stop(true)
  rmSync(dataDir, { recursive: true })
})

test('who runs the deployment sees them, and an admin alone tests them', async () => {
  webhooks = [ops]
  expect((await stage.send(person('ann'), 'GET', path)).status).toBe(403)
  expect((await stage.send(manager('ann', ['read']), 'GET', path)).status).toBe(403)
  expect((await stage.send(eye, 'GET', path)).status).toBe(200)
  expect((await stage.send(eye, 'POST', `${path}/ops/test`)).status).toBe(403)
  expect(posted).toEqual([])
})

test('none, and what each was told last, without secrets', async () => {
  webhooks = []
  expect((await stage.send(eye, 'GET', path)).json).toEqual({ items: [], next: null })
  webhooks = [ops, money]
  const nothing = { waiting: 0, last: null }
  const { json } = await stage.send(eye, 'GET', path)
  expect(json.items).toEqual([
    { id: 'ops', address: shown, events: null, ...nothing },
    { id: 'money', address: shown, events: ['set_aside'], ...nothing },
  ])
  const alert = {
    ...({ code: 'channel_open', severity: 'critical' } as const),
    ...{ subject: 'main', message: 'breaker', count: null, cause: null, since: null },
  }
  const nowMs = Date.now()
  await noteOperatorEvents({ store: stage.store, nowMs }, webhooks, [alert])
  const [waits, other] = (await stage.send(eye, 'GET', path)).json.items
  expect(waits).toMatchObject({
    waiting: 1,
    last: {
      ...{ state: 'raised', code: 'channel_open', subject: 'main' },
      delivery: { state: 'waiting', attempts: 0, failure: null },
    },
  })
  expect(other.last).toBeNull()
  const [due] = await stage.store.alertNotices.due('webhook', nowMs, 9)
  const failed = { dueAt: null, attempts: 6, failure: 'it answered 500' }
  await stage.store.alertNotices.posted(due?.id ?? '', 'webhook', failed)
  const after = await stage.send(eye, 'GET', path)
  expect(after.json.items[0]).toMatchObject({
    waiting: 0,
    last: { delivery: { state: 'failed', attempts: 6, failure: 'it answered 500' } },
  })
  expect(JSON.stringify(after.json)).not.toMatch(/hidden|operators alone/)
})

test('a test is posted, signed; what its receiver says is told, and the audit log knows who asked', async () => {
  webhooks = [ops]
  const ask = () => stage.send(admin, 'POST', `${path}/ops/test`)
  expect((await ask()).json).toEqual({ ok: true, failure: null })
  expect(JSON.parse(posted[0]?.body ?? '')).toMatchObject({ webhook: 'ops', state: 'test' })
  expect(posted[0]?.signature).toMatch(/^t=\d+,v1=[0-9a-f]{64}$/)
  answer = new Response('no such channel', { status: 404 })
  const refused = await ask()
  expect(refused.status).toBe(200)
  expect(refused.json).toEqual({
    ok: false,
    failure: expect.stringContaining('answered 404: no such channel'),
  })
  const unknown = await stage.send(admin, 'POST', `${path}/oops/test`)
  expect([unknown.status, unknown.json.field]).toEqual([404, 'id'])
  const events = await stage.store.operatorEvents.list({ action: 'testWebhook', limit: 9 })
  expect(events.map(({ target, detail }) => [Object.values(target)[0], detail['ok']])).toEqual([
    ['ops', false],
    ['ops', true],
  ])
})

test('a receiver that is away is told in words of its own', async () => {
  const gone = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => new Response() })
  webhooks = [{ ...ops, url: gone.url.href }]
  await gone.stop(true)
  const { json } = await stage.send(admin, 'POST', `${path}/ops/test`)
  expect(json).toEqual({ ok: false, failure: expect.stringContaining('cannot be reached') })
  expect(json.failure).not.toContain('vendor')
})

test('ten a minute, and then later', async () => {
  webhooks = [{ ...ops, id: 'often' }]
  answer = new Response()
  const statuses: number[] = []
  for (let at = 0; at < 11; at++)
    statuses.push((await stage.send(admin, 'POST', `${path}/often/test`)).status)
  expect(statuses).toEqual([...new Array(10).fill(200), 429])
})
