// Tests changes after which something fails, and requests that are refused: nothing is done twice.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type ControlStage, controlStage, origin, person } from '../support/control.ts'

let isAway = false
let stage: ControlStage
beforeAll(async () => {
  const refresh = async () => {
    if (isAway) throw new Error('Connection terminated unexpectedly')
  }
  stage = await controlStage({ services: { refresh } })
  await stage.store.accounts.ensure('ann', 1)
})
afterAll(() => stage.close())

const adjust = (key: string, direction: 'credit' | 'debit') =>
  stage.send(person('root', 'admin'), 'POST', '/api/accounts/ann/adjustments', {
    body: { amount: '1', direction, reason: 'a correction' },
    headers: { origin, 'idempotency-key': key },
  })

test('a credit after which the database is away is answered as done, and posted once', async () => {
  isAway = true
  const done = await adjust('first', 'credit')
  expect(done.status).toBe(200)
  isAway = false
  expect(await adjust('first', 'credit')).toMatchObject({ status: 200, json: done.json })
  expect((await stage.store.journal.wallet('ann'))?.postedNano).toBe(1_000_000_000n)
})

test('a request that was refused may be sent again under its key', async () => {
  expect((await adjust('all', 'debit')).status).toBe(200)
  expect((await adjust('more', 'debit')).status).toBe(409)
  expect((await adjust('again', 'credit')).status).toBe(200)
  expect((await adjust('more', 'debit')).status).toBe(200)
})
