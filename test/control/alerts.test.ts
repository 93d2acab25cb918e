// Tests alerts: which can be set, when they are sent, to whom, and how they reach a webhook.

import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { createHmac, randomUUID } from 'node:crypto'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { raiseAlerts } from '../../src/admin/alert-rules.ts'
import { createSecretBox } from '../../src/identity/secret-box.ts'
import { type AlertOptions, lookAfterAlerts } from '../../src/main/alerts.ts'
import { NotFetched } from '../../src/safe-fetch/safe-fetch.ts'
import { openStore } from '../../src/store/open.ts'
import { keyRow, settlement, usageRow } from '../contract/store.ts'
import { adminOf } from '../support/admin.ts'
import { eventually } from '../support/clients.ts'
import { type ControlStage, controlStage, manager, person } from '../support/control.ts'
import { startGateway } from '../support/gateway.ts'
import { fund } from '../support/ledger-scene.ts'

const ann = person('ann')
const path = '/api/me/alerts'
const hook = 'https://hooks.example/alerts'
const box = createSecretBox(new Uint8Array(32), 'alert webhooks')
const minuteMs = 60_000
const hourMs = 3_600_000
/** Noon, so that the hours before are on the same day. */
const noon = Math.floor(Date.now() / 86_400_000) * 86_400_000 - 12 * hourMs

let stage: ControlStage
beforeEach(async () => {
  stage = await controlStage({ services: { webhookBox: box } })
  for (const account of ['ann', 'bob']) await fund(stage.store, account, 10_000_000_000n)
})
afterEach(async () => {
  expect(stage.crashes).toEqual([])
  await stage.close()
})

const put = (body: object, as = ann, headers = {}) => stage.send(as, 'PUT', path, { body, headers })
const notices = async (query = '', as = ann) =>
  (await stage.send(as, 'GET', `/api/me/notices${query}`)).json
const rules = async (as = ann) =>
  (await notices('', as)).items.map(({ rule }: { rule: string }) => rule)
const raise = (nowMs = noon) => raiseAlerts(adminOf(stage.store, { nowMs }), [])

type Check = (body: string, header: string, secret: string, nowMs?: number) => boolean

async function documentedCheck(): Promise<Check> {
  const page = await readFile('docs/alerts.md', 'utf8')
  const code = /```js\n(.*?)```/s.exec(page)?.[1] ?? ''
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-'))
  try {
    const file = join(folder, 'check.mjs')
    await writeFile(file, code)
    return (await import(file)).isSigned
  } finally {
    await rm(folder, { recursive: true })
  }
}

async function spend(chargeNano: bigint, change: object = {}) {
  const row = usageRow({ requestId: randomUUID(), at: noon - minuteMs, chargeNano, ...change })
  await stage.store.settlements.settle([settlement({ row })])
}

describe('what is asked for', () => {
  const all = {
    lowBalanceNano: '5000000000',
    daySpendNano: '1',
    timeZone: 'Asia/Shanghai',
    keyLimitPercent: 80,
    errorRatePercent: 50,
    webhook: hook,
  }

  test('is off at first, kept whole, and the secret shown once', async () => {
    const off = { lowBalanceNano: null, webhook: null, webhookSecret: null, revision: 0 }
    expect((await stage.send(ann, 'GET', path)).json).toMatchObject(off)
    const { json } = await put(all)
    expect(json).toMatchObject({ ...all, revision: 1 })
    expect(json.webhookSecret).toMatch(/^whsec_[0-9A-Za-z]{32}$/)
    expect((await stage.send(ann, 'GET', path)).json).toMatchObject({ ...all, webhookSecret: null })
    expect((await put(all)).json.webhookSecret).toBeNull()
    expect((await put({ ...all, newSecret: true })).json.webhookSecret).not.toBe(json.webhookSecret)
    expect(JSON.stringify(await stage.store.alerts.settings())).not.toContain('whsec_')
    expect((await put({}, ann, { 'if-match': '"1"' })).status).toBe(412)
    expect((await put({})).json).toMatchObject({ ...off, revision: 4 })
    expect((await put(all)).json.webhookSecret).toStartWith('whsec_')
  })

  test('is refused by the name of the field where it is wrong, and is of people alone', async () => {
    const wrong: readonly (readonly [object, string])[] = [
      [{ lowBalanceNano: '-1' }, 'lowBalanceNano'],
      [{ lowBalanceNano: 5 }, 'lowBalanceNano'],
      [{ daySpendNano: '1.5' }, 'daySpendNano'],
      [{ keyLimitPercent: 101 }, 'keyLimitPercent'],
      [{ errorRatePercent: 0 }, 'errorRatePercent'],
      [{ timeZone: 'Mars' }, 'timeZone'],
      [{ webhook: 'http://hooks.example' }, 'webhook'],
      [{ webhook: 'https://a:b@hooks.example' }, 'webhook'],
      [{ email: true }, 'email'],
    ]
    for (const [body, field] of wrong) {
      const { status, json } = await put(body)
      expect([field, status, json.field]).toEqual([field, 400, field])
    }
    const program = manager('ann', ['read', 'write'])
    expect((await stage.send(program, 'GET', path)).status).toBe(403)
  })
})

describe('is told once until it is over', () => {
  test('less left than asked for', async () => {
    await put({ lowBalanceNano: '9000000000' })
    expect(await raise()).toBe(0)
    await spend(2_000_000_000n)
    expect(await raise()).toBe(1)
    expect(await raise()).toBe(0)
    expect((await notices()).items).toMatchObject([
      { rule: 'low_balance', limitNano: '9000000000', valueNano: '8000000000', readAt: null },
    ])
    await put({ lowBalanceNano: '7000000000' })
    expect(await raise()).toBe(0)
    await spend(2_000_000_000n)
    expect(await raise()).toBe(1)
  })

  test('more spent in a day, by the clocks of the zone', async () => {
    await put({ daySpendNano: '1000000000' })
    await spend(1_000_000_000n)
    expect(await raise()).toBe(0)
    await spend(1n)
    expect([await raise(), await raise()]).toEqual([1, 0])
    expect(await raise(noon + 24 * hourMs)).toBe(0)
    await spend(1_000_000_001n, { at: noon + 24 * hourMs - minuteMs })
    expect(await raise(noon + 24 * hourMs)).toBe(1)
    await put({ daySpendNano: '1000000000', timeZone: 'Pacific/Kiritimati' })
    await spend(5n, { account: 'bob' })
    expect(await rules(person('bob'))).toEqual([])
  })

  test('a key that has spent a part of its limit, in each period anew', async () => {
    const spendLimit = { amountNano: 1_000n, period: 'day', timeZone: null } as const
    await stage.store.keys.insert(keyRow({ account: 'ann', spendLimit }))
    await put({ keyLimitPercent: 80 })
    await spend(799n)
    expect(await raise()).toBe(0)
    await spend(1n)
    expect([await raise(), await raise()]).toEqual([1, 0])
    expect((await notices()).items[0]).toMatchObject({
      rule: 'key_limit',
      keyId: 'key_1',
      keyName: 'laptop',
      limitPercent: 80,
      valuePercent: 80,
    })
    await spend(900n, { at: noon + 24 * hourMs })
    expect(await raise(noon + 24 * hourMs + minuteMs)).toBe(1)
  })

  test('requests that fail, of twenty at least, and not each time it goes up and down', async () => {
    await put({ errorRatePercent: 50 })
    const fail = (at = noon - minuteMs) => spend(0n, { status: 500, errorCode: 'server_error', at })
    for (let each = 0; each < 19; each++) await fail()
    expect(await raise()).toBe(0)
    await fail()
    expect(await raise()).toBe(1)
    expect((await notices()).items[0]).toMatchObject({ valuePercent: 100, requests: 20 })
    for (let each = 0; each < 25; each++) await spend(1n)
    expect(await raise()).toBe(0)
    for (let each = 0; each < 25; each++) await fail()
    expect(await raise(noon + minuteMs)).toBe(0)
    expect(await raise(noon + 2 * hourMs)).toBe(0)
    for (let each = 0; each < 20; each++) await fail(noon + 2 * hourMs)
    expect(await raise(noon + 2 * hourMs + minuteMs)).toBe(1)
  })
})

test('notices are listed page by page, are unread until they are read, and are the own alone', async () => {
  for (const day of [0, 1, 2]) {
    await put({ daySpendNano: '1' })
    await spend(2n, { at: noon + day * 24 * hourMs })
    await raise(noon + day * 24 * hourMs + minuteMs)
  }
  const first = await notices('?limit=2')
  expect([first.items.length, first.unread]).toEqual([2, 3])
  const rest = await notices(`?limit=2&cursor=${first.next}`)
  expect([rest.items.length, rest.next]).toEqual([1, null])
  const ids = [first.items[0].id]
  const read = (body: object | undefined, as = ann) =>
    stage.send(as, 'POST', '/api/me/notices/read', { body })
  expect((await read({ ids }, person('bob'))).json).toEqual({ read: 0 })
  expect((await read({ ids })).json).toEqual({ read: 1 })
  expect((await notices('?unread=true')).items.map(({ id }: { id: string }) => id)).not.toContain(
    ids[0],
  )
  expect((await read({})).json).toEqual({ read: 2 })
  expect((await notices()).unread).toBe(0)
  expect((await notices('', person('bob'))).items).toEqual([])
})

describe('a webhook', () => {
  interface Posted {
    readonly address: string
    readonly body: string
    readonly fields: Readonly<Record<string, string>>
  }

  function hooked(answer: () => void = () => undefined) {
    const posted: Posted[] = []
    const options: AlertOptions = {
      store: stage.store,
      config: () => ({ currency: 'USD', keys: [], webhooks: [] }),
      box,
      mailer: async () => null,
      address: async () => 'https://gateway.example',
      operatorAlerts: async () => [],
      postHome: async () => undefined,
      async post(address, body, fields) {
        posted.push({ address, body, fields })
        answer()
      },
    }
    return { posted, options }
  }

  test('gets what is raised once, signed with the secret that was shown', async () => {
    const { webhookSecret } = (await put({ lowBalanceNano: '90000000000', webhook: hook })).json
    const { posted, options } = hooked()
    // Two processes at once: one has the turn.
    await Promise.all([lookAfterAlerts(options), lookAfterAlerts(options)])
    expect(posted).toHaveLength(1)
    const [{ address, body, fields } = { address: '', body: '', fields: {} }] = posted
    expect(address).toBe(hook)
    expect(JSON.parse(body)).toMatchObject({ type: 'alert', account: 'ann', rule: 'low_balance' })
    const [, seconds, signature] =
      /^t=(\d+),v1=([0-9a-f]{64})$/.exec(fields['x-tollgate-signature'] ?? '') ?? []
    const expected = createHmac('sha256', webhookSecret).update(`${seconds}.${body}`).digest('hex')
    expect(signature).toBe(expected)
    expect((await notices()).items[0].delivery).toEqual({
      state: 'delivered',
      attempts: 1,
      failure: null,
    })
  })

  test('checks what it gets as the documentation says, and refuses what others send', async () => {
    const { webhookSecret } = (await put({ lowBalanceNano: '90000000000', webhook: hook })).json
    const { posted, options } = hooked()
    await lookAfterAlerts(options)
    const body = posted[0]?.body ?? ''
    const header = posted[0]?.fields['x-tollgate-signature'] ?? ''
    const isSigned = await documentedCheck()
    const later = (seconds: number) => Date.now() + seconds * 1_000
    expect(isSigned(body, header, webhookSecret)).toBe(true)
    expect(isSigned(body, header, webhookSecret, later(240))).toBe(true)
    expect(isSigned(body, header, webhookSecret, later(360))).toBe(false)
    expect(isSigned(`${body} `, header, webhookSecret)).toBe(false)
    expect(isSigned(body, header, 'another')).toBe(false)
    for (const wrong of ['', 't=1', header.slice(0, -2), header.replace(/v1=../, 'v1=zz')])
      expect(isSigned(body, wrong, webhookSecret)).toBe(false)
  })

  test('that fails is posted to again, later and later, and is given up', async () => {
    await put({ lowBalanceNano: '90000000000', webhook: hook })
    const { posted, options } = hooked(() => {
      throw new NotFetched('its server answered 500')
    })
    await lookAfterAlerts({ ...options, turnMs: 0 })
    const [notice] = (await notices()).items
    expect(notice.delivery).toEqual({
      state: 'waiting',
      attempts: 1,
      failure: 'its server answered 500',
    })
    const { id } = notice
    for (const attempts of [1, 2, 3, 4, 5]) {
      const [due] = await stage.store.alertNotices.due('webhook', Date.now() + 24 * hourMs, 1)
      expect((due?.webhook.dueAt ?? 0) - Date.now()).toBeGreaterThan(30_000)
      await stage.store.alertNotices.posted(id, 'webhook', { dueAt: 1, attempts, failure: null })
      await lookAfterAlerts({ ...options, turnMs: 0 })
    }
    expect(posted).toHaveLength(6)
    expect((await notices()).items[0].delivery).toMatchObject({ state: 'failed', attempts: 6 })
  })
})

test('a running server looks after them by itself', async () => {
  await using gateway = await startGateway()
  const store = await openStore({ dataDir: gateway.dataDir, databaseUrl: null })
  try {
    const document = { lowBalanceNano: '9000000000000000000' }
    await store.alerts.put({ account: 'default', document, secret: null, revision: 0 })
    const filter = { account: 'default', unread: true, limit: 5 }
    const noticed = await eventually(async () => {
      const [first] = await store.alertNotices.list(filter)
      return first
    }, 20_000)
    expect(noticed.document).toMatchObject({ rule: 'low_balance', currency: 'USD' })
    expect(gateway.stderr).toBe('')
  } finally {
    await store.close()
  }
}, 40_000)
