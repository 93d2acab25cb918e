// Tests over the control API what administrators do with records that the ledger refused.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { encodeRecord } from '../../src/ledger/record.ts'
import { usageRow } from '../contract/store.ts'
import { type ControlStage, controlStage, manager, person } from '../support/control.ts'
import { fund, lessee } from '../support/ledger-scene.ts'

const root = person('root', 'admin')
const eye = person('eye', 'auditor')
const path = '/api/set-aside-records'
const reply = { status: 200, contentType: 'text/plain', body: 'a private answer' }

let stage: ControlStage
beforeAll(async () => {
  stage = await controlStage()
  const { store } = stage
  await fund(store, 'ann', 100n)
  const ref = await lessee(store, 'n1', 'ann', 60n)
  for (const [at, requestId] of ['req_a', 'req/b'].entries()) {
    const row = usageRow({ requestId, chargeNano: 30n })
    const idempotency = { account: 'ann', key: 'k', reply, keep: true }
    const record = encodeRecord('final', ref.epoch, 30n, { row, capNano: null, idempotency })
    const kept = { requestId, account: 'ann', heldNano: 30n, raw: JSON.stringify(record) }
    await store.settlements.setAside({ ...kept, reason: 'full', at }, ref)
  }
  await store.nodes.close(ref)
})
afterAll(async () => {
  expect(stage.crashes).toEqual([])
  await stage.close()
})

test('they are settled and discarded by administrators, once each, and the events say so', async () => {
  const listed = await stage.send(eye, 'GET', path)
  const held = { account: 'ann', heldNano: '30', costNano: '30', reason: 'full' }
  expect(listed.json.items).toMatchObject([
    { ...held, requestId: 'req/b' },
    { ...held, requestId: 'req_a' },
  ])
  expect(JSON.stringify(listed.json)).not.toContain(reply.body)
  const settle = () => stage.send(root, 'POST', `${path}/req_a/settle`)
  const settled = { outcome: 'settled', changed: true, releasedNano: '30', chargeNano: '30' }
  expect((await settle()).json).toMatchObject(settled)
  expect((await settle()).json).toMatchObject({ changed: false, chargeNano: '0' })
  const discard = (body: object) =>
    stage.send(root, 'POST', `${path}/${encodeURIComponent('req/b')}/discard`, { body })
  expect((await discard({})).json).toMatchObject({ status: 400, field: 'reason' })
  const body = { reason: 'paid by hand' }
  expect((await discard(body)).json).toMatchObject({ outcome: 'discarded', releasedNano: '30' })
  expect((await stage.send(eye, 'GET', path)).json.items).toEqual([])
  const again = await stage.send(root, 'POST', `${path}/req_a/discard`, { body })
  expect(again.json).toMatchObject({ status: 409, detail: 'id: req_a was settled before' })
  expect(await stage.store.journal.wallet('ann')).toMatchObject({ postedNano: 70n, leasedNano: 0n })
  const events = (await stage.send(eye, 'GET', '/api/events?action=discardSetAside')).json.items
  expect(events).toMatchObject([{ actor: 'account root', target: { id: 'req/b' }, detail: body }])
})

test('an account sees none of them, and an auditor changes none', async () => {
  for (const who of [person('ann'), manager('ann', ['read', 'write'])]) {
    expect((await stage.send(who, 'GET', path)).status).toBe(403)
    expect((await stage.send(who, 'POST', `${path}/req_a/settle`)).status).toBe(403)
  }
  expect((await stage.send(eye, 'POST', `${path}/req_a/settle`)).status).toBe(403)
  expect((await stage.send(root, 'POST', `${path}/req_none/settle`)).status).toBe(404)
})
