// Tests what signed-in people control of their own account: preferences of the console, and deleting the account.

import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { house, walletOf } from '../../src/store/ledger.ts'
import { keyRow } from '../contract/store.ts'
import { type ControlStage, controlStage, manager, person } from '../support/control.ts'

const ann = person('ann')
const path = '/api/me/preferences'

let stage: ControlStage
beforeEach(async () => {
  stage = await controlStage()
  for (const account of ['ann', 'bob', 'root']) await stage.store.accounts.ensure(account, 1)
})
afterEach(async () => {
  expect(stage.crashes).toEqual([])
  await stage.close()
})

const put = (body: object, headers = {}, as = ann) => stage.send(as, 'PUT', path, { body, headers })

describe('preferences', () => {
  const liked = {
    language: 'zh-CN',
    theme: 'dark',
    density: 'compact',
    timeZone: 'Asia/Shanghai',
    views: [{ name: 'Errors', page: 'requests', search: '?status=5xx' }],
    columns: { requests: { hidden: ['client'], order: ['at', 'model'] } },
    buyer: { title: 'Muster AG', taxNumber: '', address: 'Zürich' },
  }
  const unset = {
    language: null,
    theme: 'system',
    timeZone: null,
    views: [],
    columns: {},
    buyer: null,
  }

  test('are unset at first, kept whole, and unset again where they are left out', async () => {
    expect((await stage.send(ann, 'GET', path)).json).toMatchObject({ ...unset, revision: 0 })
    const kept = await put(liked)
    expect([kept.status, kept.json]).toEqual([200, { ...liked, revision: 1 }])
    expect((await stage.send(ann, 'GET', path)).json).toEqual({ ...liked, revision: 1 })
    expect((await stage.send(person('bob'), 'GET', path)).json).toMatchObject({ revision: 0 })
    expect((await put({ theme: 'light' })).json).toMatchObject({ ...unset, theme: 'light' })
  })

  test('an auditor has them too, a program has none', async () => {
    expect((await put(liked, {}, person('bob', 'auditor'))).status).toBe(200)
    expect((await stage.send(manager('ann', ['read', 'write']), 'GET', path)).status).toBe(403)
  })

  test('are not replaced by who read older ones, nor lost by two at once', async () => {
    expect((await put(liked, { 'if-match': '"0"' })).headers.get('etag')).toBe('"1"')
    expect((await put(liked, { 'if-match': '"0"' })).status).toBe(412)
    const both = await Promise.all([put({ theme: 'dark' }), put({ theme: 'light' })])
    expect(both.map(({ json }) => json.revision).sort()).toEqual([2, 3])
  })

  test('that are wrong are refused by the name of the field', async () => {
    const view = (each: number) => ({ name: `v${each}`, page: 'p', search: '' })
    const wrong: readonly (readonly [object, string])[] = [
      [{ language: 'fr' }, 'language'],
      [{ theme: 'pink' }, 'theme'],
      [{ timeZone: 'Mars/Olympus' }, 'timeZone'],
      [{ views: Array.from({ length: 51 }, (_, each) => view(each)) }, 'views'],
      [{ views: [view(1), view(1)] }, 'views'],
      [{ views: [{ ...view(1), extra: 1 }] }, 'extra'],
      [{ columns: { requests: 'x'.repeat(16_384) } }, 'columns'],
      [{ font: 'serif' }, 'font'],
    ]
    for (const [body, field] of wrong) {
      const { status, json } = await put(body)
      expect([field, status, json.field]).toEqual([field, 400, field])
    }
  })
})

describe('deleting the own account', () => {
  const remove = (body: object, as = ann) => stage.send(as, 'DELETE', '/api/me', { body })
  const credit = () =>
    stage.store.journal.post([
      {
        id: 'adjust:gift',
        code: 'adjust',
        debit: house.adjust,
        credit: walletOf('ann'),
        amountNano: 2_500_000_000n,
        actor: 'test',
        reason: 'to test with',
        at: 1,
      },
    ])

  test('asks for its id, and takes keys and preferences with it', async () => {
    await stage.store.keys.insert(keyRow({ account: 'ann' }))
    await put({ theme: 'dark' })
    for (const confirm of ['', 'bob', 'Ann'])
      expect((await remove({ confirm })).json).toMatchObject({ status: 400, field: 'confirm' })
    expect((await remove({})).json).toMatchObject({ status: 400, field: 'confirm' })
    expect((await remove({ confirm: 'ann' })).status).toBe(204)
    expect(await stage.store.keys.all('ann')).toEqual([])
    expect(await stage.store.preferences.find('ann')).toBeNull()
    expect((await stage.store.people.find('ann'))?.deletedAt).not.toBeNull()
  })

  test('asks for a sign-in of the last quarter of an hour', async () => {
    const late = { ...ann, signedInAt: Date.now() - 901_000 } as typeof ann
    const { json } = await remove({ confirm: 'ann' }, late)
    expect(json).toMatchObject({ status: 403, reason: 'sign_in_again' })
    expect((await stage.store.people.find('ann'))?.deletedAt).toBeNull()
  })

  test('is among the operator events', async () => {
    expect((await remove({ confirm: 'ann' })).status).toBe(204)
    const { json } = await stage.send(person('root', 'admin'), 'GET', '/api/events')
    const event = { actor: 'account ann', action: 'deleteMe', changes: null }
    expect(json.items).toMatchObject([{ ...event, detail: { confirm: 'ann' } }])
  })

  test('is refused while money is left, unless that is given up', async () => {
    await credit()
    const refused = await remove({ confirm: 'ann' })
    expect([refused.status, refused.json.field]).toEqual([409, 'forfeit'])
    expect(refused.json.detail).toContain('2.5 USD')
    expect((await stage.store.people.find('ann'))?.deletedAt).toBeNull()
    expect((await remove({ confirm: 'ann', forfeit: true })).status).toBe(204)
    expect((await stage.store.journal.wallet('ann'))?.postedNano).toBe(2_500_000_000n)
  })

  test('is not for programs, nor for the last who is in charge', async () => {
    const body = { confirm: 'ann' }
    const program = await stage.send(manager('ann', ['write']), 'DELETE', '/api/me', { body })
    expect(program.status).toBe(403)
    await stage.store.people.change('root', { role: 'admin' })
    const last = await remove({ confirm: 'root' }, person('root', 'admin'))
    expect(last.status).toBe(409)
  })
})
