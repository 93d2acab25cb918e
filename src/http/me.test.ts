// Tests what callers may read about their account, by key or signed in.

import { expect, test } from 'bun:test'
import type { KeyPrincipal, Principal, SessionPrincipal } from '../identity/principal.ts'
import type { Reading } from '../operations/operation.ts'
import type { UsageFilter } from '../store/usage-filter.ts'
import { type MeRooms, readUsage } from './me.ts'

const key = { kind: 'key', keyId: 'key_1', account: 'ann' } as KeyPrincipal
const session: SessionPrincipal = {
  kind: 'session',
  sessionId: 'session_1',
  account: 'ann',
  role: 'user',
  signedInAt: 0,
}

function asked(principal: Principal, query: string) {
  const filters: UsageFilter[] = []
  const usage = {
    list: async (filter: UsageFilter) => {
      filters.push(filter)
      return []
    },
  }
  const me = { store: { usage }, currency: 'USD' } as unknown as MeRooms
  const url = new URL(`http://127.0.0.1/api/me/usage${query}`)
  return { filters, reading: { principal, url } as Reading, services: { me } }
}

test('both see the requests of their account, and no other', async () => {
  for (const principal of [key, session]) {
    const { filters, reading, services } = asked(principal, '')
    const { body } = await readUsage(reading, services)
    expect(JSON.parse(String(body))).toMatchObject({ object: 'list', data: [], has_more: false })
    expect(filters).toEqual([{ account: 'ann', limit: 51 }])
  }
})

test('its own key is what a key may ask for, and a session has none', async () => {
  const byKey = asked(key, '?key=me')
  await readUsage(byKey.reading, byKey.services)
  expect(byKey.filters).toEqual([{ account: 'ann', limit: 51, key: 'key_1' }])
  const signedIn = asked(session, '?key=me')
  await expect(readUsage(signedIn.reading, signedIn.services)).rejects.toMatchObject({
    detail: { param: 'key' },
  })
})
