// Tests the search for anything: what is found by which text, and by whom.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { keyRow, settlement, usageRow } from '../contract/store.ts'
import { type ControlStage, controlStage, manager, person } from '../support/control.ts'

const ann = person('ann')
const root = person('root', 'admin')
const requestId = `req_${'a'.repeat(28)}`
let stage: ControlStage

beforeAll(async () => {
  stage = await controlStage({
    services: { models: ({ group }) => (group === 'default' ? ['gpt-4o', 'claude'] : []) },
  })
  const { store } = stage
  for (const account of ['ann', 'bob', 'root']) await store.accounts.ensure(account, 1)
  await store.people.change('ann', { name: 'Ann Example' })
  const key = { account: 'ann', name: 'Laptop 100%', hint: 'sk-tg-…wXyZ', start: 'AbCdEf12' }
  await store.keys.insert(keyRow({ id: 'key_ann', ...key }))
  await store.keys.insert(
    keyRow({ id: 'key_bob', account: 'bob', name: 'laptop', hash: 'b'.repeat(64) }),
  )
  const row = usageRow({ requestId, vendorRequestId: 'chatcmpl-9zz', clientRequestId: 'mine-001' })
  await store.settlements.settle([settlement({ row })])
})
afterAll(async () => {
  expect(stage.crashes).toEqual([])
  await stage.close()
})

async function found(q: string, as = ann): Promise<string[]> {
  const { status, json } = await stage.send(as, 'GET', `/api/search?q=${encodeURIComponent(q)}`)
  expect(status).toBe(200)
  return json.items.map(({ kind, id }: { kind: string; id: string }) => `${kind} ${id}`)
}

describe('is found', () => {
  test.each([
    [requestId, ['request']],
    ['chatcmpl-9zz', ['request']],
    ['mine-001', ['request']],
    ['key_ann', ['key']],
    ['lapTop', ['key']],
    ['100%', ['key']],
    ['wXyZ', ['key']],
    ['sk-tg-AbCdEf12', ['key']],
    [`sk-tg-AbCdEf12${'0'.repeat(30)}`, ['key']],
    ['GPT-4', ['model']],
    ['nothing there', []],
    ['%', ['key']],
    ["' OR 1=1 --", []],
  ])('by %s', async (q, kinds) => {
    expect((await found(q)).map((each) => each.split(' ')[0] ?? '')).toEqual(kinds)
  })

  test('what has the very id, before what is like it', async () => {
    await stage.store.keys.insert(
      keyRow({ id: 'key_x', account: 'ann', name: 'about key_ann', hash: 'c'.repeat(64) }),
    )
    expect(await found('key_ann')).toEqual(['key key_ann', 'key key_x'])
  })
})

describe('within what the caller may see', () => {
  test('another account finds nothing of it', async () => {
    const bob = person('bob')
    for (const q of [
      requestId,
      'chatcmpl-9zz',
      'key_ann',
      'wXyZ',
      'sk-tg-AbCdEf12',
      'Ann',
      'sandbox',
    ])
      expect([q, await found(q, bob)]).toEqual([q, []])
    expect(await found('laptop', bob)).toEqual(['key key_bob'])
    expect(await found('laptop', manager('bob', ['read']))).toEqual(['key key_bob'])
  })

  test('operators find all, and accounts and channels too', async () => {
    const keys = ['key key_ann', 'key key_bob']
    // Accounts are found by their keys too.
    expect((await found('laptop', root)).toSorted()).toEqual([
      'account ann',
      'account bob',
      ...keys,
    ])
    expect((await found('laptop', root)).slice(0, 2)).toEqual(keys)
    expect(await found('chatcmpl-9zz', root)).toEqual([`request ${requestId}`])
    expect(await found('ann ex', root)).toEqual(['account ann'])
    expect(await found('sandbox', root)).toContain('channel sandbox')
    expect(await found('default', root)).toEqual(['group default'])
    expect(await found('default')).toEqual([])
    expect(await found('sandbox', person('eye', 'auditor'))).toContain('channel sandbox')
  })

  test('nothing, or too much, is refused', async () => {
    for (const q of ['', '%20', 'x'.repeat(257)])
      expect((await stage.send(ann, 'GET', `/api/search?q=${q}`)).json.field).toBe('q')
  })
})
