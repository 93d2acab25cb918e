// Tests accounts of people, their identities and sessions, one-time links and invitations, on each engine.

import { expect, test } from 'bun:test'
import { unrestrictedKey } from '../../src/store/keys.ts'
import type { IdentityRow } from '../../src/store/people.ts'
import { RowRefused, type Store } from '../../src/store/store.ts'
import { onEachEngine } from './engines.ts'
import { keyRow } from './store.ts'

function identity(account: string, change: Partial<IdentityRow> = {}): IdentityRow {
  return {
    id: `identity_${account}`,
    issuer: 'https://one.example',
    subject: account,
    account,
    name: account,
    email: `${account}@mail.example`,
    emailVerified: true,
    createdAt: 1,
    usedAt: 1,
    ...change,
  }
}

function person(id: string, role: 'user' | 'admin' = 'user', createdAt = 1) {
  const groups = ['default']
  return { id, name: id, email: `${id}@mail.example`, emailVerified: true, role, groups, createdAt }
}

const make = (store: Store, id: string, role: 'user' | 'admin' = 'user', createdAt = 1) =>
  store.people.create(person(id, role, createdAt), identity(id), null)

const bounds = { nowMs: 1_000, idleMs: 100, longestMs: 500 }

const sessionRow = (id: string, account: string, createdAt = 950) => ({
  id,
  account,
  createdAt,
  usedAt: createdAt,
  address: '192.0.2.1',
  client: 'curl',
})

onEachEngine('people', (start) => {
  test('a new account has a wallet and its identity; the same identity is refused whole', async () => {
    const { store } = await start()
    expect(await make(store, 'ann')).toBe(true)
    expect((await store.journal.wallet('ann'))?.postedNano).toBe(0n)
    expect(await store.people.find('ann')).toEqual({
      ...person('ann'),
      suspendedAt: null,
      deletedAt: null,
      revision: 1,
    })
    const taken = store.people.create(
      person('bob'),
      identity('bob', { issuer: 'https://one.example', subject: 'ann' }),
      null,
    )
    expect(await taken.catch((error: unknown) => error)).toBeInstanceOf(RowRefused)
    expect(await store.people.find('bob')).toBeNull()
    expect(await store.journal.wallet('bob')).toBeNull()
    expect(await store.identities.find('https://one.example', 'ann')).toEqual(identity('ann'))
    expect(await store.identities.find('https://two.example', 'ann')).toBeNull()
  })

  test('people are listed newest first, page by page, and found by id, name, e-mail and subject', async () => {
    const { store } = await start()
    for (const [index, id] of ['ann', 'bob', 'cid', 'dan'].entries())
      await make(store, id, 'user', 1 + Math.floor(index / 2))
    const ids = async (filter: object) =>
      (await store.people.list({ limit: 10, ...filter })).map(({ id }) => id)
    expect(await ids({})).toEqual(['dan', 'cid', 'bob', 'ann'])
    expect(await ids({ limit: 3 })).toEqual(['dan', 'cid', 'bob'])
    expect(await ids({ before: { at: 2, id: 'cid' } })).toEqual(['bob', 'ann'])
    await store.identities.add(
      identity('bob', { id: 'second', subject: '100%_4711', name: 'Octo' }),
    )
    expect(await ids({ search: '0%_47' })).toEqual(['bob'])
    expect(await ids({ search: '%' })).toEqual(['bob'])
    expect(await ids({ search: 'OCTO' })).toEqual(['bob'])
    expect(await ids({ search: 'CID@mail' })).toEqual(['cid'])
    expect(await ids({ search: "'; --\0" })).toEqual([])
    await store.people.change('cid', { suspendedAt: 5 })
    await store.people.remove('dan', 6)
    expect(await ids({ status: 'active' })).toEqual(['bob', 'ann'])
    expect(await ids({ status: 'suspended' })).toEqual(['cid'])
    expect(await ids({ status: 'deleted' })).toEqual(['dan'])
    expect(await ids({})).toEqual(['cid', 'bob', 'ann'])
  })
})

onEachEngine('changes of people', (start) => {
  test('a change says what it found: nobody, a newer revision, or the last admin', async () => {
    const { store } = await start()
    await make(store, 'ann', 'admin')
    await make(store, 'bob')
    expect(await store.people.change('zoe', { name: 'x' })).toBe('missing')
    expect(await store.people.change('bob', { name: 'Bob', groups: null }, 1)).toBe('changed')
    expect(await store.people.change('bob', { name: 'Rob' }, 1)).toBe('stale')
    expect(await store.people.find('bob')).toMatchObject({ name: 'Bob', groups: null, revision: 2 })
    expect(await store.people.change('ann', { role: 'user' })).toBe('last-admin')
    expect(await store.people.change('ann', { suspendedAt: 5 })).toBe('last-admin')
    expect(await store.people.remove('ann', 5)).toBe('last-admin')
    expect(await store.people.find('ann')).toMatchObject({
      role: 'admin',
      suspendedAt: null,
      revision: 1,
    })
    await store.people.change('bob', { role: 'admin', suspendedAt: 5 })
    expect(await store.people.change('ann', { role: 'user' })).toBe('last-admin')
    await store.people.change('bob', { suspendedAt: null })
    expect(await store.people.change('ann', { role: 'user' })).toBe('changed')
    expect(await store.people.hasAdmin()).toBe(true)
  })
})

onEachEngine('the last admin', (start) => {
  test('of two admins who are taken away at once by two processes, one stays', async () => {
    const { store, open } = await start()
    const other = await open()
    for (let round = 0; round < 5; round += 1) {
      const [one, two] = [`one${round}`, `two${round}`]
      await make(store, one, 'admin')
      await make(store, two, 'admin')
      for (const { id } of await store.people.list({ role: 'admin', limit: 10 }))
        if (id !== one && id !== two) await store.people.remove(id, 8)
      const outcomes = await Promise.all([
        store.people.change(one, { role: 'user' }),
        other.people.remove(two, 9),
      ])
      expect(outcomes.toSorted()).toEqual(['changed', 'last-admin'])
      expect(await store.people.list({ role: 'admin', limit: 10 })).toHaveLength(1)
    }
  })
})

onEachEngine('leaving', (start) => {
  test('what is personal goes with a deleted account, its money and its row stay', async () => {
    const { engine, store } = await start()
    await make(store, 'ann')
    await store.keys.insert({
      ...unrestrictedKey,
      id: 'key_1',
      name: 'laptop of ann',
      account: 'ann',
      group: 'default',
      hash: 'a'.repeat(64),
      hint: '',
      createdAt: 1,
    })
    await store.managementKeys.insert({
      id: 'mkey_1',
      name: 'terraform of ann',
      account: 'ann',
      hash: 'b'.repeat(64),
      hint: '',
      scopes: ['read'],
      createdAt: 1,
      expiresAt: null,
      disabledAt: null,
      usedAt: null,
      revision: 1,
    })
    await store.sessions.add(sessionRow('s', 'ann'), 'h', bounds)
    await store.signIns.addLink('l', 'ann', 1, 10_000)
    await engine.run(
      `INSERT INTO response (account, id, state, body, size, created_at, expires_at)
        VALUES ('ann', 'resp_1', 'done', '{}', 2, 1, 9000)`,
      [],
    )
    const before = await store.keys.revision()
    expect(await store.people.remove('ann', 7)).toBe('changed')
    expect(await store.people.remove('ann', 8)).toBe('missing')
    expect(await store.people.find('ann')).toMatchObject({ name: '', email: null, deletedAt: 7 })
    expect(await store.keys.all()).toEqual([])
    expect(await store.managementKeys.all()).toEqual([])
    expect(await store.keys.revision()).toBeGreaterThan(before)
    expect(await store.accounts.closed()).toEqual(['ann'])
    expect(await store.journal.wallet('ann')).not.toBeNull()
    expect(await store.signIns.useLink('l', 9)).toBeNull()
    for (const table of ['identity', 'session', 'sign_in_link', 'response'])
      expect(await engine.query(`SELECT * FROM ${table}`, [])).toEqual([])
    expect(await make(store, 'eve')).toBe(true)
  })
})

onEachEngine('the last identity', (start) => {
  test('the last identity stays, but for an admin; of two removed at once one stays', async () => {
    const { store, open } = await start()
    const other = await open()
    await make(store, 'ann')
    expect(await store.identities.remove('identity_ann', 'bob')).toBe('missing')
    expect(await store.identities.remove('identity_ann', 'ann')).toBe('last')
    await store.identities.add(
      identity('ann', { id: 'second', issuer: 'https://two.example', createdAt: 2 }),
    )
    const outcomes = await Promise.all([
      store.identities.remove('identity_ann', 'ann'),
      other.identities.remove('second', 'ann'),
    ])
    expect(outcomes.toSorted()).toEqual(['last', 'removed'])
    await store.people.change('ann', { role: 'admin' })
    const [left] = await store.identities.ofAccounts(['ann', 'bob'])
    expect(await store.identities.remove(left?.id ?? '', 'ann')).toBe('removed')
  })
})

onEachEngine('sessions', (start) => {
  test('a session ends by idleness, by age, by suspension and when it is ended', async () => {
    const { store } = await start()
    await make(store, 'ann')
    await store.sessions.add(sessionRow('one', 'ann'), 'h1', bounds)
    await store.sessions.add(sessionRow('two', 'ann', 960), 'h2', bounds)
    await store.sessions.add(sessionRow('three', 'ann', 970), 'h3', bounds)
    expect(await store.sessions.find('h1', bounds)).toEqual({
      ...sessionRow('one', 'ann'),
      role: 'user',
    })
    expect(await store.sessions.find('h1', { ...bounds, nowMs: 1_049 })).not.toBeNull()
    expect(await store.sessions.find('h1', { ...bounds, nowMs: 1_050 })).toBeNull()
    await store.sessions.used('one', 1_400)
    expect(await store.sessions.find('h1', { ...bounds, nowMs: 1_449 })).toMatchObject({
      usedAt: 1_400,
      address: '192.0.2.1',
    })
    expect(await store.sessions.find('h1', { ...bounds, nowMs: 1_450 })).toBeNull()
    const ids = async () => (await store.sessions.ofAccount('ann', bounds)).map(({ id }) => id)
    expect(await ids()).toEqual(['three', 'two', 'one'])
    expect(await store.sessions.end('two', 'bob')).toBe(false)
    expect(await store.sessions.end('two', 'ann')).toBe(true)
    expect(await store.sessions.endAll('ann', 'one')).toBe(1)
    expect(await ids()).toEqual(['one'])
    await store.people.change('ann', { suspendedAt: 5 })
    await store.people.change('ann', { suspendedAt: null })
    expect(await ids()).toEqual([])
    // The next one to begin removes those that have ended.
    await store.sessions.add(sessionRow('four', 'ann'), 'h4', bounds)
    await store.sessions.add(sessionRow('five', 'ann', 5_000), 'h5', { ...bounds, nowMs: 5_000 })
    await store.sessions.endByHash('h5')
    expect(await ids()).toEqual([])
  })
})

onEachEngine('letting people in', (start) => {
  test('a one-time link makes an admin once, of however many that use it', async () => {
    const { store, open } = await start()
    const other = await open()
    await make(store, 'ann')
    expect(await store.people.hasAdmin()).toBe(false)
    await store.signIns.addLink('late', 'ann', 1, 50)
    expect(await store.signIns.useLink('late', 50)).toBeNull()
    await store.signIns.addLink('l', 'ann', 51, 100)
    const used = await Promise.all([store, other].map(({ signIns }) => signIns.useLink('l', 60)))
    expect(used.filter((account) => account !== null)).toEqual(['ann'])
    expect(await store.people.find('ann')).toMatchObject({ role: 'admin' })
    expect(await store.signIns.useLink('l', 61)).toBeNull()
    expect(await store.signIns.useLink('unknown', 61)).toBeNull()
  })

  test('a state is taken once, and swept when it has expired', async () => {
    const { store } = await start()
    const state = { id: 's1', identifier: 'state:1', value: '{}', createdAt: 1, expiresAt: 10 }
    await store.signIns.addState(state)
    const taken = await Promise.all([1, 2, 3].map(() => store.signIns.takeState('state:1')))
    expect(taken.filter((each) => each !== null)).toEqual([state])
    await store.signIns.addState(state)
    await store.signIns.addState({
      ...state,
      id: 's2',
      identifier: 'state:2',
      createdAt: 10,
      expiresAt: 20,
    })
    expect(await store.signIns.takeState('state:1')).toBeNull()
  })
})

onEachEngine('invitations', (start) => {
  test('an invitation is used once, and not where it is revoked or late', async () => {
    const { store } = await start()
    const invite = async (id: string, createdAt: number) =>
      store.invitations.add(
        {
          id,
          note: 'for the team',
          role: 'auditor',
          groups: ['default'],
          createdBy: 'ann',
          createdAt,
          expiresAt: 100,
          revokedAt: null,
          usedAt: null,
          usedBy: null,
        },
        `hash ${id}`,
      )
    for (const [index, id] of ['one', 'two', 'three'].entries()) await invite(id, index)
    const join = (id: string, code: string, at: number) =>
      store.people.create({ ...person(id), createdAt: at }, identity(id), `hash ${code}`)
    expect(await join('late', 'one', 100)).toBe(false)
    expect(await store.people.find('late')).toBeNull()
    const both = await Promise.all([join('ann', 'one', 50), join('bob', 'one', 50)])
    expect(both.toSorted()).toEqual([false, true])
    expect(await store.invitations.revoke('one', 60)).toBe('used')
    expect(await store.invitations.revoke('two', 60)).toBe('revoked')
    expect(await store.invitations.revoke('nine', 60)).toBe('missing')
    expect(await join('cid', 'two', 50)).toBe(false)
    const listed = await store.invitations.list({ limit: 2 })
    expect(listed.map(({ id }) => id)).toEqual(['three', 'two'])
    expect(await store.invitations.list({ before: { at: 1, id: 'two' }, limit: 2 })).toMatchObject([
      { id: 'one', usedAt: 50, usedBy: both[0] ? 'ann' : 'bob', groups: ['default'] },
    ])
    expect(await store.invitations.find('hash two')).toMatchObject({ id: 'two', revokedAt: 60 })
    // The third is neither used nor revoked, and expires at 100.
    expect((await store.groupUses.read(99)).invitations).toEqual(new Map([['default', 1]]))
    expect((await store.groupUses.read(100)).invitations).toEqual(new Map())
  })

  test('who and what names a group is counted, deleted people left out', async () => {
    const { store } = await start()
    for (const [id, groups] of [
      ['ann', ['one', 'two']],
      ['bob', ['one', 'two']],
      ['cid', ['two']],
      ['dan', null],
      ['eve', ['one']],
    ] as const)
      await store.people.create({ ...person(id), groups }, identity(id), null)
    await store.people.remove('eve', 5)
    await store.keys.insert(keyRow({ group: 'two' }))
    expect(await store.groupUses.read(1)).toEqual({
      peopleOfAll: 1,
      people: new Map([
        ['one', 2],
        ['two', 3],
      ]),
      invitations: new Map(),
      keys: new Map([['two', 1]]),
    })
  })
})
