// Tests redemption codes over the control API: made and shown once by an administrator, redeemed by a customer, not
// guessable.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type ControlStage, controlStage, person } from '../support/control.ts'

let stage: ControlStage
beforeAll(async () => {
  stage = await controlStage()
  for (const account of ['ann', 'bob', 'eve']) await stage.store.accounts.ensure(account, 1)
})
afterAll(async () => {
  expect(stage.crashes).toEqual([])
  await stage.close()
})

const root = person('root', 'admin')
const path = '/api/redemption-batches'
const make = (body: object, as = root) => stage.send(as, 'POST', path, { body })
const redeem = (code: string, account: string) =>
  stage.send(person(account), 'POST', '/api/redeem', { body: { code } })
const posted = async (account: string) =>
  String((await stage.store.journal.wallet(account))?.postedNano)

test('a code is redeemed however it is typed, once, and the ledger says of which batch', async () => {
  const made = await make({ codes: 2, amount: '5', note: 'fair' })
  expect(made.json).toMatchObject({ codes: 2, amountNano: '5000000000', redeemed: 0, note: 'fair' })
  const [first = '', second = ''] = made.json.secrets
  expect(first).toMatch(/^([0-9A-HJKMNP-TV-Z]{5}-){3}[0-9A-HJKMNP-TV-Z]{5}$/)
  const typed = ` ${first.toLowerCase().replaceAll('-', ' ').replaceAll('0', 'o').replaceAll('1', 'l')}`
  expect((await redeem(typed, 'ann')).json).toMatchObject({ amountNano: '5000000000' })
  expect((await redeem(first, 'bob')).json).toMatchObject({
    status: 400,
    field: 'code',
    detail: 'code: was redeemed already',
  })
  expect([await posted('ann'), await posted('bob')]).toEqual(['5000000000', '0'])
  const entries = await stage.send(person('ann'), 'GET', '/api/ledger')
  expect(entries.json.items).toMatchObject([
    { code: 'redeem', effectNano: '5000000000', reason: `code of batch ${made.json.id}` },
  ])
  const listed = await stage.send(person('audit', 'auditor'), 'GET', path)
  expect(listed.json.items).toMatchObject([{ id: made.json.id, redeemed: 1 }])
  expect(JSON.stringify(listed.json)).not.toContain(second)
  const revoke = () => stage.send(root, 'POST', `${path}/${made.json.id}/revoke`)
  expect((await revoke()).status).toBe(200)
  expect((await revoke()).status).toBe(404)
  expect((await redeem(second, 'bob')).json.detail).toBe('code: was revoked by the operator')
})

test('what is wrong is named by its field; who is no administrator makes none', async () => {
  for (const [body, field] of [
    [{ codes: 0, amount: '1' }, 'codes'],
    [{ codes: 1_001, amount: '1' }, 'codes'],
    [{ codes: 1, amount: '0' }, 'amount'],
    [{ codes: 1, amount: '1', expiresAt: '2020-01-01T00:00:00Z' }, 'expiresAt'],
    [{ codes: 1 }, 'amount'],
    [{ codes: 1, amount: '9200000000' }, 'amount'],
    [{ codes: 1_000, amount: '1000000.000000001' }, 'amount'],
  ] as const)
    expect((await make(body)).json).toMatchObject({ status: 400, field })
  expect((await make({ codes: 1, amount: '1' }, person('ann'))).status).toBe(403)
  expect((await stage.send(person('ann'), 'GET', path)).status).toBe(403)
})

test('a code that its account cannot hold any more is refused, and stays for another one', async () => {
  const [code = ''] = (await make({ codes: 1, amount: '1000000000' })).json.secrets
  await stage.store.accounts.ensure('rich', 1)
  const gift = { reference: 'gift', amount: '9000000000', direction: 'credit', reason: 'a gift' }
  const given = await stage.send(root, 'POST', '/api/accounts/rich/adjustments', { body: gift })
  expect(given.status).toBeLessThan(300)
  const refused = await redeem(code, 'rich')
  expect(refused.json).toMatchObject({
    status: 409,
    field: 'code',
    detail: expect.stringContaining('9223372036.854775807'),
  })
  expect((await redeem(code, 'bob')).json).toMatchObject({ amountNano: '1000000000000000000' })
})

test('an operator redeems for an account that exists and is not deleted, or is told why not', async () => {
  const [code = ''] = (await make({ codes: 1, amount: '5' })).json.secrets
  await stage.store.accounts.ensure('gone', 1)
  await stage.send(root, 'DELETE', '/api/people/gone')
  const redeemed = (account: string) =>
    stage.send(root, 'POST', '/api/redeem', { body: { code, account } })
  expect((await redeemed('gone')).json).toMatchObject({
    status: 409,
    detail: 'account: gone was deleted and can have no new credit',
  })
  expect((await redeemed('nobody')).json).toMatchObject({ status: 404, field: 'account' })
  expect(await posted('gone')).toBe('0')
  expect((await redeemed('bob')).status).toBe(200)
})

test('an account tries ten a minute, and is told when to come again', async () => {
  for (let n = 0; n < 10; n += 1) expect((await redeem(`guess ${n}`, 'eve')).status).toBe(400)
  const refused = await redeem('one more', 'eve')
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '6'])
})
