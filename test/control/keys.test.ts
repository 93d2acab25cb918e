// Tests keys over the control API: their life, owners, lists, and that nobody can make a key with more rights than
// their own.

import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { loadConfiguration } from '../../src/admin/configuration.ts'
import { configuredKeyId } from '../../src/identity/keyring.ts'
import { hashSecret } from '../../src/identity/secret.ts'
import { house, walletOf } from '../../src/store/ledger.ts'
import { usageRow } from '../contract/store.ts'
import { type ControlStage, controlStage, manager, person } from '../support/control.ts'

const ann = person('ann')
const bob = person('bob')
const root = person('root', 'admin')
const eve = person('eve', 'auditor')

let stage: ControlStage
beforeEach(async () => {
  stage = await controlStage({
    services: { models: ({ group, models }) => (group === 'none' ? [] : (models ?? ['m1', 'm2'])) },
  })
  for (const account of ['ann', 'bob', 'root', 'eve']) await stage.store.accounts.ensure(account, 1)
  await stage.store.deployment.rememberGroups(['default', 'fast', 'none'])
})
afterEach(async () => {
  expect(stage.crashes).toEqual([])
  await stage.close()
})

async function make(as = ann, body: object = {}) {
  const reply = await stage.send(as, 'POST', '/api/keys', {
    body: { name: 'laptop', group: 'default', ...body },
  })
  expect([reply.status, reply.json]).toEqual([201, expect.anything()])
  return reply.json
}

test('a key whose group is left out is of `default`, or of the first group that its account may have', async () => {
  expect(await make(ann, { group: undefined })).toMatchObject({ group: 'default' })
  await stage.store.accounts.ensure('cid', 0)
  await stage.store.people.change('cid', { groups: ['fast'] })
  expect(await make(root, { account: 'cid', group: undefined })).toMatchObject({ group: 'fast' })
})

/** The accounts of a test are credited what they spend. */
async function spend(key: string, account: string, chargeNano: bigint, at = Date.now()) {
  const requestId = randomUUID()
  await credit(account, chargeNano)
  const row = usageRow({ requestId, key, account, chargeNano, at })
  const settled = { node: 'n', epoch: 1, fromLeaseNano: 0n, capNano: null, idempotency: null }
  await stage.store.settlements.settle([{ ...settled, row }])
}

async function credit(account: string, amountNano: bigint) {
  const posting = { debit: house.adjust, credit: walletOf(account), amountNano, at: 1 }
  const why = { code: 'adjust', actor: 'test', reason: 'to test with' }
  await stage.store.journal.post([{ id: `adjust:${randomUUID()}`, ...posting, ...why }])
}

describe('a key', () => {
  test('is made narrow, shown without its secret, edited by part, and widened by null', async () => {
    const limits = {
      models: ['gpt-*'],
      deniedModels: ['gpt-5'],
      addresses: ['10.0.0.0/8'],
      spendLimit: { amount: '2.5', period: 'week', timeZone: 'Asia/Tokyo' },
      historyMode: 'off',
      requestsPerMinute: 6,
      expiresAt: '2099-01-01T00:00:00Z',
    }
    const { secret, ...made } = await make(ann, limits)
    expect(secret).toStartWith('sk-tg-')
    expect(made).toMatchObject({
      account: 'ann',
      status: 'active',
      models: ['gpt-*'],
      deniedModels: ['gpt-5'],
      addresses: ['10.0.0.0/8'],
      limits: { requestsPerMinute: 6, tokensPerMinute: null, concurrentRequests: null },
      spendLimit: {
        amountNano: '2500000000',
        spentNano: '0',
        period: 'week',
        timeZone: 'Asia/Tokyo',
      },
      expiresAt: '2099-01-01T00:00:00.000Z',
      revision: 1,
    })
    const shown = await stage.send(ann, 'GET', `/api/keys/${made.id}`)
    expect(shown.json).toEqual(made)
    expect(shown.headers.get('etag')).toBe('"1"')
    const changes = { name: 'desk', addresses: null, spendLimit: null, expiresAt: null }
    const edited = await stage.send(ann, 'PATCH', `/api/keys/${made.id}`, { body: changes })
    expect(edited.json).toMatchObject({ ...changes, models: ['gpt-*'], revision: 2 })
  })

  test('has its spend limit in units or in nano-units, as it is shown', async () => {
    const { id, spendLimit } = await make(ann, { spendLimit: { amountNano: '2500000001' } })
    expect(spendLimit).toMatchObject({ amountNano: '2500000001', period: 'never' })
    const body = { spendLimit: { amount: '2.5', period: 'day' } }
    const { json } = await stage.send(ann, 'PATCH', `/api/keys/${id}`, { body })
    expect(json.spendLimit).toMatchObject({ amountNano: '2500000000', period: 'day' })
  })

  test('is not edited, rotated, disabled or removed by who read an older one', async () => {
    const { id } = await make()
    const headers = { 'if-match': '"1"' }
    const path = `/api/keys/${id}`
    expect((await stage.send(ann, 'PATCH', path, { body: { name: 'a' }, headers })).status).toBe(
      200,
    )
    for (const [method, verb, body] of [
      ['PATCH', '', { name: 'b' }],
      ['POST', '/rotate', {}],
      ['POST', '/disable', undefined],
      ['POST', '/enable', undefined],
      ['DELETE', '', undefined],
    ] as const)
      expect((await stage.send(ann, method, path + verb, { body, headers })).status).toBe(412)
    expect((await stage.send(ann, 'GET', path)).json).toMatchObject({ name: 'a', status: 'active' })
  })

  test('has a new secret once it is rotated, and the one before for as long as said', async () => {
    const { id, secret } = await make()
    const body = { overlapSeconds: 3_600 }
    const { json } = await stage.send(ann, 'POST', `/api/keys/${id}/rotate`, { body })
    expect(json.secret).not.toBe(secret)
    expect(Date.parse(json.previousUntil) - Date.now()).toBeGreaterThan(3_500_000)
    expect(await stage.store.keys.find(id)).toMatchObject({
      hash: hashSecret(json.secret),
      previous: { hash: hashSecret(secret) },
    })
    const none = { overlapSeconds: 0 }
    const again = await stage.send(ann, 'POST', `/api/keys/${id}/rotate`, { body: none })
    expect(again.json.previousUntil).toBeNull()
    expect((await stage.store.keys.find(id))?.previous).toBeNull()
    const long = { overlapSeconds: 604_801 }
    const refused = await stage.send(ann, 'POST', `/api/keys/${id}/rotate`, { body: long })
    expect(refused).toMatchObject({ status: 400, json: { field: 'overlapSeconds' } })
  })

  test('says what would miss it, and is gone when it is deleted', async () => {
    const { id } = await make()
    await spend(id, 'ann', 7n)
    await spend(id, 'ann', 5n, Date.now() - 40 * 86_400_000)
    await stage.store.keyUses.note([{ keyId: id, at: 1_000, address: '::1', client: 'curl 8' }])
    const impact = await stage.send(ann, 'GET', `/api/keys/${id}/impact`)
    expect(impact.json).toMatchObject({
      requestsLastDay: 1,
      month: { requests: 1, chargeNano: '7' },
      lastUsed: { at: '1970-01-01T00:00:01.000Z', address: '::1', client: 'curl 8' },
    })
    expect((await stage.send(ann, 'DELETE', `/api/keys/${id}`)).status).toBe(204)
    expect((await stage.send(ann, 'GET', `/api/keys/${id}`)).status).toBe(404)
  })

  test('is told all that stands in its way, or for which models it would be taken', async () => {
    const { id } = await make(ann, {
      addresses: ['10.0.0.0/8'],
      spendLimit: { amount: '0.000000009' },
    })
    const path = `/api/keys/${id}/test`
    const codes = async (body?: object) =>
      (await stage.send(ann, 'POST', path, { body })).json.reasons.map(
        ({ code }: { code: string }) => code,
      )
    expect(await codes()).toEqual(['no_balance'])
    expect((await stage.send(ann, 'POST', path, { body: { revision: 1 } })).status).toBe(400)
    await spend(id, 'ann', 9n)
    await stage.send(ann, 'POST', `/api/keys/${id}/disable`)
    await stage.store.people.change('ann', { suspendedAt: 5 })
    expect(await codes({ address: '11.0.0.1' })).toEqual([
      'disabled',
      'address_not_allowed',
      'account_closed',
      'no_balance',
      'spend_limit_reached',
    ])
    const { id: other } = await make(root, { account: 'bob', group: 'none' })
    await credit('bob', 5n)
    const ofBob = await stage.send(bob, 'POST', `/api/keys/${other}/test`)
    expect(ofBob.json).toMatchObject({ admitted: false, reasons: [{ code: 'no_models' }] })
    await stage.send(root, 'PATCH', `/api/keys/${other}`, { body: { group: 'fast' } })
    const taken = await stage.send(bob, 'POST', `/api/keys/${other}/test`)
    expect(taken.json).toEqual({ id: other, admitted: true, reasons: [], models: ['m1', 'm2'] })
  })

  test('that is wrong is refused by the name of its field', async () => {
    const wrong: readonly (readonly [object, string])[] = [
      [{ addresses: ['10.0.0.0/33'] }, 'addresses[0]'],
      [{ addresses: [] }, 'addresses'],
      [{ deniedModels: ['a*b'] }, 'deniedModels[0]'],
      [{ deniedModels: Array(33).fill('m'.repeat(250)) }, 'deniedModels'],
      [{ spendLimit: { amount: '0' } }, 'spendLimit.amount'],
      [{ spendLimit: { amount: '1', timeZone: 'Mars/Olympus' } }, 'spendLimit.timeZone'],
      [{ spendLimit: { amount: '1', period: 'year' } }, 'spendLimit.period'],
      [{ spendLimit: { amount: '1', amountNano: '1' } }, 'spendLimit.amountNano'],
      [{ spendLimit: { amountNano: '0' } }, 'spendLimit.amountNano'],
      [{ spendLimit: { amountNano: '1.5' } }, 'spendLimit.amountNano'],
      [{ spendLimit: {} }, 'spendLimit.amount'],
      [{ historyMode: 'some' }, 'historyMode'],
      [{ group: 'unknown' }, 'group'],
      [{ secret: 'mine' }, 'secret'],
    ]
    for (const [change, field] of wrong) {
      const body = { name: 'x', group: 'default', ...change }
      const made = await stage.send(ann, 'POST', '/api/keys', { body })
      expect([made.status, made.json.field]).toEqual([400, field])
    }
    expect(await stage.store.keys.all()).toEqual([])
  })
})

test('nobody sees or changes the key of another: it is not there', async () => {
  const { id } = await make(bob)
  const before = await stage.store.keys.find(id)
  const asks: readonly (readonly [string, string, object?])[] = [
    ['GET', ''],
    ['PATCH', '', { name: 'mine' }],
    ['DELETE', ''],
    ['POST', '/rotate', {}],
    ['POST', '/disable'],
    ['POST', '/enable'],
    ['GET', '/impact'],
    ['POST', '/test', {}],
  ]
  for (const who of [ann, manager('ann', ['read', 'write'])]) {
    for (const [method, verb, body] of asks)
      expect((await stage.send(who, method, `/api/keys/${id}${verb}`, { body })).status).toBe(404)
    expect((await stage.send(who, 'GET', '/api/keys')).json.items).toEqual([])
    expect((await stage.send(who, 'GET', '/api/keys?account=bob')).status).toBe(404)
  }
  for (const [method, verb, body] of asks) {
    // The test of a key changes nothing.
    const expected = method === 'GET' || verb === '/test' ? 200 : 403
    const { status } = await stage.send(eve, method, `/api/keys/${id}${verb}`, { body })
    expect(status).toBe(expected)
  }
  expect(await stage.store.keys.find(id)).toEqual(before)
})

describe('the list of keys', () => {
  test('is filtered, searched and sorted, and goes on where it was', async () => {
    const names = ['delta', 'alpha', 'charlie', 'bravo', 'alpha']
    const made: { id: string; account: string; hint: string }[] = []
    for (const [place, name] of names.entries()) {
      const key = await make(root, { account: place === 4 ? 'bob' : 'ann', name })
      made.push(key)
      await spend(key.id, key.account, BigInt(place + 1))
      await stage.store.keyUses.note([
        { keyId: key.id, at: 100 - place, address: null, client: null },
      ])
    }
    const ids = async (query: string) => {
      const found: string[] = []
      let cursor = ''
      for (let pages = 0; pages < 9; pages += 1) {
        const path = `/api/keys?limit=2${query}${cursor}`
        const { json } = await stage.send(root, 'GET', path)
        found.push(...json.items.map(({ id }: { id: string }) => id))
        if (json.next === null) return found
        cursor = `&cursor=${json.next}`
      }
      throw new Error('no end')
    }
    const at = (...places: number[]) => places.map((place) => made[place]?.id ?? '')
    const twoAlphas = at(1, 4).sort()
    expect(await ids('&sort=name')).toEqual([...twoAlphas, ...at(3, 2, 0)])
    expect(await ids('&sort=name&order=desc')).toEqual([...at(0, 2, 3), ...twoAlphas.toReversed()])
    expect(await ids('&sort=spend&order=desc')).toEqual(at(4, 3, 2, 1, 0))
    expect(await ids('&sort=lastUsed')).toEqual(at(4, 3, 2, 1, 0))
    expect((await ids('&sort=expiry')).sort()).toEqual(at(0, 1, 2, 3, 4).sort())
    expect(await ids('&account=bob')).toEqual(at(4))
    expect(await ids('&search=ALPHA&account=ann')).toEqual(at(1))
    expect(await ids(`&search=${made[2]?.hint.slice(-4)}`)).toEqual(expect.arrayContaining(at(2)))
    await stage.send(root, 'POST', `/api/keys/${made[3]?.id}/disable`)
    expect(await ids('&status=disabled')).toEqual(at(3))
    expect(await ids('&group=fast')).toEqual([])
    const { json } = await stage.send(root, 'GET', '/api/keys?limit=1&sort=name')
    const other = await stage.send(root, 'GET', `/api/keys?sort=spend&cursor=${json.next}`)
    expect(other).toMatchObject({ status: 400, json: { field: 'cursor' } })
  })

  test('is summed up: how many of each state, and what they spent together', async () => {
    const [first, second] = [await make(), await make(ann, { name: 'second' })]
    const other = await make(bob)
    await spend(first.id, 'ann', 3n)
    await spend(second.id, 'ann', 4n)
    await spend(second.id, 'ann', 9n, Date.now() - 300 * 86_400_000)
    await spend(other.id, 'bob', 5n)
    await stage.send(ann, 'POST', `/api/keys/${second.id}/disable`)
    const states = { active: 1, disabled: 1, expired: 0, currency: 'USD' }
    const own = await stage.send(ann, 'GET', '/api/keys/summary')
    expect(own.json).toMatchObject({
      ...states,
      today: { requests: 2, chargeNano: '7' },
      month: { requests: 2, chargeNano: '7' },
    })
    const all = await stage.send(root, 'GET', '/api/keys/summary')
    expect(all.json).toMatchObject({ active: 2, today: { requests: 3, chargeNano: '12' } })
    const asked = await stage.send(root, 'GET', '/api/keys/summary?account=bob')
    expect(asked.json).toMatchObject({ active: 1, disabled: 0, month: { chargeNano: '5' } })
    expect((await stage.send(ann, 'GET', '/api/keys/summary?account=bob')).status).toBe(404)
  })

  test('shows what each spent today, this month and of its limit', async () => {
    const { id } = await make(ann, { spendLimit: { amount: '1' } })
    await spend(id, 'ann', 3n)
    await spend(id, 'ann', 4n, Date.now() - 300 * 86_400_000)
    const { json } = await stage.send(ann, 'GET', '/api/keys')
    expect(json.items[0]).toMatchObject({
      currency: 'USD',
      today: { requests: 1, chargeNano: '3' },
      month: { requests: 1, chargeNano: '3' },
      spendLimit: { amountNano: '1000000000', spentNano: '7', resetsAt: null },
    })
  })
})

test('keys of the configuration file are listed and shown, and changed by nobody', async () => {
  await stage.close()
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-keys-'))
  const file = join(folder, 'tollgate.yaml')
  const keys = [
    { name: 'file', account: 'ann', secret: 'sk-from-the-file-1234', deniedModels: ['x'] },
  ]
  // JSON is valid YAML.
  writeFileSync(file, JSON.stringify({ keys }))
  const config = await loadConfiguration({ flags: { config: file }, env: {} })
  rmSync(folder, { recursive: true })
  stage = await controlStage({ services: { config: () => config } })
  for (const account of ['ann', 'bob']) await stage.store.accounts.ensure(account, 1)
  const id = configuredKeyId('file')
  const { json } = await stage.send(ann, 'GET', '/api/keys')
  expect(json.items).toMatchObject([
    { id, declared: true, hint: '…1234', deniedModels: ['x'], createdAt: null },
  ])
  const people = (await stage.send(person('root', 'admin'), 'GET', '/api/people')).json
  expect(
    people.items.map(({ id, keys }: Record<string, unknown>) => [id, keys]).toSorted(),
  ).toEqual([
    ['ann', 1],
    ['bob', 0],
  ])
  expect((await stage.send(ann, 'GET', `/api/keys/${id}`)).status).toBe(200)
  expect((await stage.send(bob, 'GET', `/api/keys/${id}`)).status).toBe(404)
  for (const [method, verb, body] of [
    ['PATCH', '', { name: 'x' }],
    ['DELETE', '', undefined],
    ['POST', '/rotate', {}],
    ['POST', '/disable', undefined],
  ] as const) {
    const reply = await stage.send(ann, method, `/api/keys/${id}${verb}`, { body })
    expect([reply.status, reply.json.field]).toEqual([409, 'id'])
  }
  expect(JSON.stringify(json)).not.toContain('sk-from-the-file-1234')
})

const groupNames = ['default', 'fast', 'none'] as const
const operation = fc.record({
  what: fc.constantFrom('create', 'update', 'rotate', 'disable', 'enable', 'remove'),
  group: fc.constantFrom(...groupNames, 'unknown'),
  account: fc.constantFrom('ann', 'bob', undefined),
  by: fc.constantFrom(0, 1),
  target: fc.nat(5),
})

test('S5: a key of a group that its account has lost is not renamed, rotated or enabled in it', async () => {
  const { id } = await make(ann, { group: 'fast' })
  await stage.send(ann, 'POST', `/api/keys/${id}/disable`)
  await stage.store.people.change('ann', { groups: ['default'] })
  const before = await stage.store.keys.find(id)
  for (const [method, verb, body] of [
    ['PATCH', '', { name: 'mine' }],
    ['POST', '/rotate', {}],
    ['POST', '/enable', undefined],
  ] as const) {
    const reply = await stage.send(ann, method, `/api/keys/${id}${verb}`, { body })
    expect([reply.status, reply.json.field]).toEqual([400, 'group'])
  }
  expect(await stage.store.keys.find(id)).toEqual(before)
  const moved = await stage.send(ann, 'PATCH', `/api/keys/${id}`, { body: { group: 'default' } })
  expect(moved.json.group).toBe('default')
  expect((await stage.send(ann, 'POST', `/api/keys/${id}/enable`)).json.status).toBe('active')
})

test('S5: no sequence of key operations by a user or its management key yields a key with rights outside its account', async () => {
  await stage.store.people.change('ann', { groups: ['default', 'none'] })
  const theirs = await make(bob, { group: 'fast' })
  const before = await stage.store.keys.find(theirs.id)
  const makers = [ann, manager('ann', ['read', 'write'])]
  await fc.assert(
    fc.asyncProperty(fc.array(operation, { maxLength: 12 }), async (operations) => {
      for (const { what, group, account, by, target } of operations) {
        const who = makers[by] ?? ann
        const keys = await stage.store.keys.all()
        const path = `/api/keys/${keys[target % keys.length]?.id}`
        const shown =
          what === 'create'
            ? await stage.send(who, 'POST', '/api/keys', { body: { name: 'k', group, account } })
            : what === 'update'
              ? await stage.send(who, 'PATCH', path, { body: { group } })
              : what === 'remove'
                ? await stage.send(who, 'DELETE', path)
                : await stage.send(who, 'POST', `${path}/${what}`)
        expect(shown.status).toBeLessThan(500)
      }
      for (const row of await stage.store.keys.all()) {
        if (row.id === theirs.id) expect(row).toEqual(before as typeof row)
        else {
          expect(row.account).toBe('ann')
          expect(['default', 'none']).toContain(row.group)
        }
      }
    }),
    { numRuns: 40 },
  )
})
