// Tests people, their sessions and identities, one-time links and invitations, as use cases.

import { expect, test } from 'bun:test'
import { onEachEngine } from '../../test/contract/engines.ts'
import { adminOf, allPages, nowMs } from '../../test/support/admin.ts'
import { hashToken } from '../identity/session-cookie.ts'
import type { Store } from '../store/store.ts'
import { readInput } from './input.ts'
import { deletePerson, resumePerson, showPerson, suspendPerson, updatePerson } from './people.ts'
import { listPeople } from './people-list.ts'
import {
  createInvitation,
  createSignInLink,
  endSession,
  endSessions,
  listIdentities,
  listInvitations,
  listSessions,
  revokeInvitation,
  unlinkIdentity,
} from './sign-in.ts'

async function make(store: Store, id: string, role: 'user' | 'admin' = 'user') {
  const about = { name: id, email: null, emailVerified: false, createdAt: 1 }
  await store.people.create(
    { ...about, id, role, groups: ['default'] },
    {
      ...about,
      id: `identity_${id}`,
      issuer: 'https://one.example',
      subject: id,
      account: id,
      usedAt: 1,
    },
    null,
  )
}

async function signIn(store: Store, account: string, id: string, at: number) {
  const row = { id, account, createdAt: at, usedAt: at, address: null, client: null }
  await store.sessions.add(row, `hash of ${id}`, { nowMs, idleMs: 1e9, longestMs: 1e9 })
}

onEachEngine('people', (start) => {
  test('are listed page by page whatever they are called, and shown to their owner alone', async () => {
    const { store } = await start()
    const admin = adminOf(store)
    const names = ['ann', 'b o b', 'ci:d', 'dän', 'eve', 'fay']
    for (const id of names) await make(store, id)
    const pages = await allPages(
      async (page) => listPeople(admin, await readInput('listPeople', page)),
      3,
    )
    expect(pages.map((page) => page.map(({ id }) => id))).toEqual([
      ['fay', 'eve', 'dän'],
      ['ci:d', 'b o b', 'ann'],
    ])
    expect(pages[0]?.[0]).toMatchObject({ status: 'active', identities: [{ subject: 'fay' }] })
    expect(await showPerson(admin, { id: 'ann', owner: 'ann' })).toMatchObject({ id: 'ann' })
    await expect(showPerson(admin, { id: 'ann', owner: 'ci:d' })).rejects.toMatchObject({
      refusal: 'not_found',
    })
    await expect(listPeople(admin, { sort: 'newest', cursor: 'rubbish' })).rejects.toMatchObject({
      refusal: 'invalid',
      field: 'cursor',
    })
  })

  test('are changed by who read them last, and never to no admin at all', async () => {
    const { store } = await start()
    const admin = adminOf(store)
    await make(store, 'ann', 'admin')
    await make(store, 'bob')
    await store.deployment.rememberGroups(['default', 'team'])
    const changed = await updatePerson(admin, {
      id: 'bob',
      groups: ['team'],
      role: 'auditor',
      revision: 1,
    })
    expect(changed).toMatchObject({ groups: ['team'], role: 'auditor', revision: 2 })
    const refusals: readonly [() => Promise<unknown>, object][] = [
      [() => updatePerson(admin, { id: 'bob', name: 'x', revision: 1 }), { refusal: 'stale' }],
      [() => updatePerson(admin, { id: 'bob', name: 'x', owner: 'ann' }), { refusal: 'not_found' }],
      [
        () => updatePerson(admin, { id: 'bob', groups: ['tean'] }),
        { refusal: 'invalid', field: 'groups[0]' },
      ],
      [() => updatePerson(admin, { id: 'ann', role: 'user' }), { refusal: 'conflict' }],
      [() => suspendPerson(admin, { id: 'ann' }), { refusal: 'conflict' }],
      [() => deletePerson(admin, { id: 'ann' }), { refusal: 'conflict' }],
      [() => deletePerson(admin, { id: 'zoe' }), { refusal: 'not_found' }],
      [() => readInput('updatePerson', { id: 'bob', role: 'king' }), { field: 'role' }],
      [() => readInput('updatePerson', { id: 'bob', groups: 'team' }), { field: 'groups' }],
    ]
    for (const [work, refusal] of refusals) await expect(work()).rejects.toMatchObject(refusal)
    expect(await suspendPerson(admin, { id: 'bob' })).toMatchObject({ status: 'suspended' })
    expect(await resumePerson(admin, { id: 'bob' })).toMatchObject({
      status: 'active',
      suspendedAt: null,
    })
    await deletePerson(admin, { id: 'bob' })
    await deletePerson(admin, { id: 'bob' })
    expect(await showPerson(admin, { id: 'bob' })).toMatchObject({
      status: 'deleted',
      identities: [],
    })
  })
})

onEachEngine('ways in', (start) => {
  test('sessions are listed and ended one by one or all but one, never those of others', async () => {
    const { store } = await start()
    const admin = adminOf(store)
    await make(store, 'ann')
    for (const [index, id] of ['one', 'two', 'three'].entries())
      await signIn(store, 'ann', id, nowMs - index)
    const ids = async () =>
      (await listSessions(admin, { account: 'ann' })).items.map(({ id }) => id)
    expect(await ids()).toEqual(['one', 'two', 'three'])
    await expect(endSession(admin, { account: 'bob', id: 'one' })).rejects.toMatchObject({
      refusal: 'not_found',
    })
    await endSession(admin, { account: 'ann', id: 'one' })
    expect(await endSessions(admin, { account: 'ann', except: 'two' })).toEqual({ ended: 1 })
    expect(await ids()).toEqual(['two'])
    expect(await endSessions(admin, { account: 'ann', except: null })).toEqual({ ended: 1 })
  })

  test('an identity is unlinked by a sign-in of just now, but never the last', async () => {
    const { store } = await start()
    const admin = adminOf(store)
    await make(store, 'ann')
    const [first] = await store.identities.ofAccount('ann')
    if (first === undefined) throw new Error('no identity')
    await store.identities.add({
      ...first,
      id: 'second',
      issuer: 'https://two.example',
      createdAt: 2,
    })
    await signIn(store, 'ann', 'fresh', nowMs - 60_000)
    await signIn(store, 'ann', 'old', nowMs - 3_600_000)
    const unlink = (id: string, session: string) =>
      unlinkIdentity(admin, { account: 'ann', id, session })
    await expect(unlink('second', 'old')).rejects.toMatchObject({ refusal: 'forbidden' })
    await expect(unlink('second', 'gone')).rejects.toMatchObject({ refusal: 'forbidden' })
    await expect(unlink('third', 'fresh')).rejects.toMatchObject({ refusal: 'not_found' })
    await unlink('second', 'fresh')
    await expect(unlink('identity_ann', 'fresh')).rejects.toMatchObject({ refusal: 'conflict' })
    expect((await listIdentities(admin, { account: 'ann' })).items).toMatchObject([
      { subject: 'ann' },
    ])
  })
})

onEachEngine('links and invitations', (start) => {
  test('a link is made for the account default, or another that is there and open', async () => {
    const { store } = await start()
    const admin = adminOf(store)
    const made = await createSignInLink(admin, { minutes: 60 })
    expect(made).toMatchObject({ account: 'default', expiresAt: '2027-01-15T09:00:00.000Z' })
    const token = new URL(made.path, 'http://x').searchParams.get('token') ?? ''
    expect(await store.signIns.useLink(hashToken(token), nowMs + 3_600_000)).toBeNull()
    expect(await store.signIns.useLink(hashToken(token), nowMs + 1)).toBe('default')
    await expect(createSignInLink(admin, { account: 'ann', minutes: 60 })).rejects.toMatchObject({
      refusal: 'not_found',
      field: 'account',
    })
    await make(store, 'ann')
    await suspendPerson(admin, { id: 'ann' })
    await expect(createSignInLink(admin, { account: 'ann', minutes: 60 })).rejects.toMatchObject({
      refusal: 'conflict',
    })
    await expect(readInput('createSignInLink', { minutes: 14 })).rejects.toMatchObject({
      field: 'minutes',
    })
    await expect(readInput('createSignInLink', { minutes: 1_441 })).rejects.toMatchObject({
      field: 'minutes',
    })
  })

  test('an invitation shows its code once, and what became of it', async () => {
    const { store } = await start()
    const admin = adminOf(store)
    const input = await readInput('createInvitation', { note: 'for ann', role: 'auditor' })
    const { code, ...made } = await createInvitation(admin, input)
    expect(made).toMatchObject({ status: 'open', role: 'auditor', createdBy: 'op', groups: null })
    expect(await store.invitations.find(hashToken(code))).toMatchObject({ id: made.id })
    const listed = await listInvitations(admin, {})
    expect(listed).toEqual({ items: [made], next: null })
    expect(JSON.stringify(listed)).not.toContain(code)
    await revokeInvitation(admin, { id: made.id })
    expect((await listInvitations(admin, {})).items).toMatchObject([{ status: 'revoked' }])
    await expect(revokeInvitation(admin, { id: 'none' })).rejects.toMatchObject({
      refusal: 'not_found',
    })
    const later = adminOf(store, { nowMs: nowMs + 8 * 86_400_000 })
    await createInvitation(adminOf(store, { nowMs: nowMs + 1 }), { ...input, days: 7 })
    expect((await listInvitations(later, { limit: 1 })).items).toMatchObject([
      { status: 'expired' },
    ])
  })
})
