// Tests the operators' first page over the control API: data of several processes, with problems at the top.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { operatorEvents } from '../../src/config/schema-webhooks.ts'
import type { ProcessReading } from '../../src/store/running.ts'
import { settlement, usageRow } from '../contract/store.ts'
import { type ControlStage, controlStage, manager, person } from '../support/control.ts'
import { fund } from '../support/ledger-scene.ts'

const eye = person('eye', 'auditor')
const path = '/api/operations'

function reading(change: Partial<ProcessReading> = {}): ProcessReading {
  return {
    process: 'own',
    startedAt: Date.UTC(2027, 0, 2),
    running: 2,
    unsettled: 1,
    oldestUnsettledMs: 5,
    closed: null,
    // 99 below 10 us and one between 0.25 s and 1 s.
    overhead: { auth: [99, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1], route: [], settle: [0, 4] },
    channels: [{ id: 'sandbox', state: 0, trouble: null }],
    warnings: [],
    ...change,
  }
}

let own = reading()
let stage: ControlStage
beforeAll(async () => {
  stage = await controlStage({ running: { reading: () => own } })
  const at = Date.now() - 60_000
  const rows = [
    usageRow({ requestId: 'req_a', at, chargeNano: 7n, vendorCostNano: 9n }),
    usageRow({ requestId: 'req_b', at, status: 503, errorCode: 'service_unavailable' }),
    usageRow({ requestId: 'req_c', at, channel: null, modelAsked: 'lost', status: 503 }),
  ]
  await fund(stage.store, 'ann', 100n)
  await stage.store.settlements.settle(rows.map((row) => settlement({ row })))
})
afterAll(() => stage.close())

test('it is for those who run the deployment', async () => {
  expect((await stage.send(person('ann'), 'GET', path)).status).toBe(403)
  expect((await stage.send(manager('ann', ['read']), 'GET', path)).status).toBe(403)
  expect((await stage.send(eye, 'GET', `${path}?timeZone=Mars/Base`)).json.field).toBe('timeZone')
  expect((await stage.send(manager(null, ['read']), 'GET', path)).status).toBe(200)
})

test('requests, errors and money are those of the store', async () => {
  const { status, json } = await stage.send(eye, 'GET', `${path}?timeZone=Asia/Kolkata`)
  expect(status).toBe(200)
  expect(json.requests.minutes).toHaveLength(60)
  expect(
    json.requests.minutes.reduce(
      (sum: number, each: { requests: number }) => sum + each.requests,
      0,
    ),
  ).toBe(3)
  expect(json.requests.lastHour).toMatchObject({ requests: 3, failed: 2, successRate: 1 / 3 })
  expect(json.errors.items).toMatchObject([
    { code: 'service_unavailable', requests: 1, requestId: 'req_b' },
  ])
  expect(json.money.days7).toMatchObject({
    revenueNano: '7',
    vendorCostNano: '9',
    marginNano: '-2',
  })
  expect(json.money.days30.revenueNano).toBe('7')
})

test('processes are added up, each once, and the worst of a channel is shown', async () => {
  own = reading()
  const trouble = { reason: 'credentials', fault: 'credentials', sinceAt: Date.UTC(2027, 0, 3) }
  const other = reading({
    process: 'other',
    startedAt: Date.UTC(2027, 0, 1),
    oldestUnsettledMs: 12_000,
    closed: 'the ledger has not been reached for 3 s',
    channels: [{ id: 'sandbox', state: 3, trouble }],
    warnings: ['a file contradicts'],
  })
  await stage.store.running.report('own', [], reading({ running: 50 }))
  await stage.store.running.report('other', [], other)
  const { json } = await stage.send(eye, 'GET', path)
  expect(json.processes).toEqual({
    known: 2,
    complete: true,
    startedAt: '2027-01-01T00:00:00.000Z',
  })
  expect(json.requests.running).toBe(4)
  expect(json.settlement).toMatchObject({ unsettled: 2, oldestUnsettledMs: 12_000, setAside: 0 })
  expect(json.overhead.auth).toEqual({ requests: 200, p50Ms: 0.005, p95Ms: 0.01, p99Ms: 0.01 })
  expect(json.overhead.settle).toMatchObject({ requests: 8, p50Ms: 0.018 })
  expect(json.overhead.route).toEqual({ requests: 0, p50Ms: null, p95Ms: null, p99Ms: null })
  expect(json.channels).toEqual([
    {
      ...{ id: 'sandbox', vendor: 'sandbox', state: 'disabled', reason: 'credentials' },
      ...{ fault: 'credentials', since: '2027-01-03T00:00:00.000Z' },
    },
  ])
  const alerts = json.alerts.map((each: { code: string; subject: string }) => [
    each.code,
    each.subject,
  ])
  expect(alerts.slice(0, 3)).toEqual([
    ['ledger_closed', null],
    ['channel_disabled', 'sandbox'],
    ['settlement_late', null],
  ])
  expect(alerts.at(-1)).toEqual(['warning', null])
  const said = json.alerts.map((each: { count: number | null; cause: string | null }) => [
    each.count,
    each.cause,
  ])
  expect(said.slice(0, 3)).toEqual([
    [null, 'the ledger has not been reached for 3 s'],
    [null, null],
    [12, null],
  ])
  expect(said.at(-1)).toEqual([null, 'a file contradicts'])
})

test('what fails beside requests is told since its first failure, until it goes well', async () => {
  const { failingWork } = stage.store
  const told = async () => {
    const { json } = await stage.send(eye, 'GET', path)
    return json.alerts.filter((each: { code: string }) => each.code === 'archive_failing')
  }
  own = reading()
  const work = { work: 'archive', subject: '' } as const
  expect(await told()).toEqual([])
  await failingWork.note(work, 'the disk is full')
  const [first] = await told()
  await failingWork.note(work, 'the disk is gone')
  expect(await told()).toEqual([
    {
      ...first,
      message: 'requests past their time cannot be archived, and stay: the disk is gone',
      cause: 'the disk is gone',
    },
  ])
  expect(first).toMatchObject({ severity: 'warning', since: expect.stringMatching(/^20/) })
  await failingWork.note(work, null)
  expect(await told()).toEqual([])
  await failingWork.note({ work: 'export', subject: 's3' }, 'it took too long')
  const { json } = await stage.send(eye, 'GET', path)
  const exporting = json.alerts.filter((each: { code: string }) => each.code === 'export_failing')
  expect(exporting).toMatchObject([
    { subject: 's3', message: 'requests do not leave to it, and stay: it took too long' },
  ])
})

test('processes that differ in what must be equal are told of, and a node of before is not', async () => {
  const alike = { version: '1.0.0', encryptionKey: 'k', configuration: 'c' }
  const differences = async (other: ProcessReading['alike']) => {
    own = reading({ alike })
    await stage.store.running.report(
      'other',
      [],
      reading({ process: 'other', ...(other && { alike: other }) }),
    )
    const { json } = await stage.send(eye, 'GET', path)
    const messages = json.alerts.map((each: { message: string }) => each.message)
    return messages.filter((message: string) => message.startsWith('processes '))
  }
  expect(await differences(undefined)).toEqual([])
  expect(await differences(alike)).toEqual([])
  expect(await differences({ ...alike, version: '1.1.0', configuration: 'd' })).toEqual([
    'processes of different versions serve',
    'processes have different configurations',
  ])
  expect(await differences({ ...alike, encryptionKey: 'l', configuration: 'd' })).toEqual([
    'processes have different encryption keys (ENCRYPTION_KEY)',
  ])
})

test('records that never came into the ledger are told of, with those of all processes', async () => {
  const told = async () => {
    const { json } = await stage.send(eye, 'GET', path)
    return json.alerts.filter((each: { code: string }) => each.code === 'records_missing')
  }
  own = reading({ missing: 0 })
  expect(await told()).toEqual([])
  own = reading({ missing: 2 })
  await stage.store.running.report('other', [], reading({ process: 'other', missing: 1 }))
  expect(await told()).toMatchObject([
    { severity: 'critical', count: 3, message: expect.stringContaining('3 answered requests') },
  ])
})

test('a bill that differs is told of until it is compared again and does not', async () => {
  const { bills } = stage.store
  const nowMs = Date.now()
  const bill = { provider: 'alipay', day: '2027-01-01' } as const
  const told = async () => {
    const { json } = await stage.send(eye, 'GET', path)
    return json.alerts.filter((each: { code: string }) => each.code === 'reconcile_difference')
  }
  expect(await bills.take(bill, nowMs, nowMs)).toBeTrue()
  expect(await told()).toEqual([])
  await bills.done(bill, nowMs, 3)
  expect(await told()).toMatchObject([
    {
      ...{ severity: 'critical', subject: 'alipay 2027-01-01' },
      ...{ message: 'the bill of this day differs from what was booked in 3 places', count: 3 },
    },
  ])
  await bills.done(bill, nowMs, 0)
  expect(await told()).toEqual([])
  await bills.done(bill, nowMs - 8 * 86_400_000, 1)
  expect(await told()).toEqual([])
})

test('every alert is in the docs, and the docs name no other', () => {
  const page = readFileSync(join(import.meta.dir, '../../docs/operators.md'), 'utf8')
  const table = /\| alert \| when \|\n((?:\|.*\n)+)/.exec(page)?.[1] ?? ''
  const first = [...table.matchAll(/^\| ([^|]+) \|/gm)].map(([, cell = '']) => cell).join(' ')
  const named = [...first.matchAll(/`(\w+)`/g)].map(([, code = '']) => code)
  expect(named.toSorted()).toEqual([...operatorEvents].toSorted())
})
