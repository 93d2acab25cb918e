// Tests links to requests: who may make one, what it shows to anyone, and when it ends.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readSharedRequest } from '../../src/admin/shared-request.ts'
import { shippedPrices } from '../../src/catalog/shipped-prices.ts'
import { createSecretBox } from '../../src/identity/secret-box.ts'
import { ensurePrices } from '../../src/meter/ensure-prices.ts'
import { settlement, usageRow } from '../contract/store.ts'
import { type ControlStage, controlStage, person } from '../support/control.ts'
import { fund } from '../support/ledger-scene.ts'

const dayMs = 86_400_000
let stage: ControlStage

beforeAll(async () => {
  stage = await controlStage()
  const { store } = stage
  await ensurePrices(store.prices, {}, shippedPrices('USD'), 1)
  await fund(store, 'ann', 1_000n)
  const row = usageRow({
    ...{ requestId: 'req_1', account: 'ann', modelAsked: 'sandbox/chat', status: 502 },
    ...{ errorCode: 'server_error', channel: 'secret-channel', keyName: 'laptop' },
    ...{ clientAddress: '203.0.113.9', vendorRequestId: 'vendor-1' },
  })
  await store.settlements.settle([settlement({ row })])
})
afterAll(() => stage.close())

const share = (who: Parameters<ControlStage['send']>[0], body: object = {}, id = 'req_1') =>
  stage.send(who, 'POST', `/api/requests/${id}/share`, { body })
const read = (token: string) => stage.send(null, 'GET', `/api/shared/requests/${token}`)

test('whoever has the link reads how it went, and neither cost nor whose it was', async () => {
  const made = await share(person('ann', 'user'))
  expect(made.status).toBe(200)
  const shown = await read(made.json.token)
  expect(shown.json).toMatchObject({
    ...{ requestId: 'req_1', model: 'sandbox/chat', status: 502, errorCode: 'server_error' },
    ...{ vendorRequestId: 'vendor-1', blame: { party: 'vendor' }, expiresAt: made.json.expiresAt },
  })
  const text = JSON.stringify(shown.json)
  for (const secret of ['ann', 'laptop', 'secret-channel', '203.0.113', 'Nano', 'group'])
    expect(text).not.toContain(secret)
})

test('of another account’s request nobody makes one, of an own one an operator does', async () => {
  expect((await share(person('bob', 'user'))).status).toBe(404)
  expect((await share(person('ann', 'user'), {}, 'req_none')).status).toBe(404)
  expect((await share(null)).status).toBe(401)
  expect((await share(person('root', 'admin'))).status).toBe(200)
  for (const days of [0, 91, 1.5, 'x'])
    expect((await share(person('ann', 'user'), { days })).json).toMatchObject({ field: 'days' })
})

test('a token that was changed, made elsewhere, or has ended shows nothing', async () => {
  const { token } = (await share(person('ann', 'user'), { days: 1 })).json
  const changed = (token[0] === 'A' ? 'B' : 'A') + token.slice(1)
  const elsewhere = createSecretBox(new Uint8Array(32).fill(1), 'shared requests')
  const foreign = elsewhere.encrypt('9999999999999 req_1')
  for (const wrong of [changed, encodeURIComponent(foreign), 'x', token.slice(0, 20)])
    expect((await read(wrong)).status).toBe(404)
  const box = createSecretBox(new Uint8Array(32), 'shared requests')
  const at = (nowMs: number) => readSharedRequest({ store: stage.store, nowMs }, box, { token })
  expect((await at(Date.now() + dayMs - 5_000)).requestId).toBe('req_1')
  expect(at(Date.now() + dayMs)).rejects.toThrow('has expired')
})
