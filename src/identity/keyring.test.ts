// Tests the keyring: who is found, who is not, and when a change takes effect.

import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { configured } from '../../test/support/configured-key.ts'
import { type KeyRow, unrestrictedKey } from '../store/keys.ts'
import { createKeyring } from './keyring.ts'
import type { KeyPrincipal, Keyring } from './principal.ts'
import { createSecret, hashSecret } from './secret.ts'

function stored(secret: string, change: Partial<KeyRow> = {}): KeyRow {
  return {
    ...unrestrictedKey,
    id: 'key_1',
    name: 'laptop',
    account: 'ann',
    group: 'default',
    hash: hashSecret(secret),
    hint: '',
    createdAt: 0,
    ...change,
  }
}

function principalOf(keyring: Keyring, secret: string): KeyPrincipal {
  const found = keyring.find(secret, 1)
  if (found === null) throw new Error('not found')
  return found
}

describe('the keyring', () => {
  test('finds a stored key with all it carries, again and again', () => {
    const secret = createSecret()
    const row = stored(secret, { models: ['gpt-*'], requestsPerMinute: 60, concurrentRequests: 0 })
    const keyring = createKeyring({ configured: [], stored: [row] })
    for (let round = 0; round < 3; round += 1) {
      expect(keyring.find(secret, 1)).toEqual({
        kind: 'key',
        keyId: 'key_1',
        keyName: 'laptop',
        account: 'ann',
        group: 'default',
        models: ['gpt-*'],
        deniedModels: null,
        addresses: null,
        expiresAt: null,
        limits: { requestsPerMinute: 60, concurrentRequests: 0 },
        historyMode: null,
        showCost: false,
      })
    }
  })

  test('finds a configured key of any form, also a long one, or one that begins like ours', () => {
    const secrets = ['sixteen-letters!', 'sk-tg-of-my-own-form', `x${'é'.repeat(3000)}`]
    for (const secret of secrets) {
      const keyring = createKeyring({ configured: [configured(secret)], stored: [] })
      expect(keyring.find(secret, 1)?.keyId).toBe('config:bench')
      expect(keyring.find(`${secret}x`, 1)).toBeNull()
    }
  })

  test('does not find unknown, mistyped, empty or endless secrets', () => {
    const secret = createSecret()
    const keyring = createKeyring({ configured: [], stored: [stored(secret)] })
    const others = [
      createSecret(),
      `${secret.slice(0, -1)}_`,
      '',
      'x'.repeat(1_000_000),
      hashSecret(secret),
    ]
    for (const other of others) expect(keyring.find(other, 1)).toBeNull()
  })

  test('leaves out disabled keys of both kinds', () => {
    const [one, two] = [createSecret(), createSecret()]
    const keyring = createKeyring({
      configured: [configured(one, { disabled: true })],
      stored: [stored(two, { disabledAt: 5 })],
    })
    expect(keyring.size).toBe(0)
    expect(keyring.find(one, 1)).toBeNull()
    expect(keyring.find(two, 1)).toBeNull()
  })

  test('a key ends at its time, also one that was found before', () => {
    const secret = createSecret()
    const keyring = createKeyring({ configured: [], stored: [stored(secret, { expiresAt: 100 })] })
    expect(keyring.find(secret, 99)?.keyId).toBe('key_1')
    expect(keyring.find(secret, 100)).toBeNull()
    expect(keyring.find(secret, 99)?.keyId).toBe('key_1')
  })

  test('the secret before a rotation works until its time, or the key ends before', () => {
    const [now, before] = [createSecret(), createSecret()]
    const previous = { hash: hashSecret(before), until: 100 }
    const keyring = createKeyring({ configured: [], stored: [stored(now, { previous })] })
    expect(keyring.find(before, 99)).toEqual({ ...principalOf(keyring, now), expiresAt: 100 })
    expect(keyring.find(before, 100)).toBeNull()
    expect(keyring.find(now, 100)?.keyId).toBe('key_1')
    keyring.patch({ changed: [stored(now, { previous, expiresAt: 50 })], removed: [], closed: [] })
    expect(keyring.find(before, 50)).toBeNull()
    keyring.patch({ changed: [stored(now, { previous, disabledAt: 1 })], removed: [], closed: [] })
    expect(keyring.find(before, 50)).toBeNull()
  })

  test('a change counts at once, for the half that was given', () => {
    const [one, two, three] = [createSecret(), createSecret(), createSecret()]
    const keyring = createKeyring({ configured: [configured(one)], stored: [stored(two)] })
    expect(keyring.find(two, 1)?.account).toBe('ann')
    keyring.patch({ changed: [stored(three)], removed: [], closed: [] })
    expect(keyring.find(two, 1)).toBeNull()
    expect(keyring.find(three, 1)?.account).toBe('ann')
    expect(keyring.find(one, 1)?.account).toBe('bench')
    keyring.configure([])
    expect(keyring.find(one, 1)).toBeNull()
    expect(keyring.find(three, 1)?.account).toBe('ann')
  })

  test('a patched keyring finds what one made anew from the same rows finds', () => {
    const secrets = Array.from({ length: 6 }, () => createSecret())
    const declared = configured(createSecret(), {
      account: 'bob',
      spendLimit: { amount: '1', period: 'day', timeZone: null },
    })
    const limit = { amountNano: 5n, period: 'day' as const, timeZone: null }
    const action = fc.record({
      id: fc.constantFrom('key_1', 'key_2'),
      secret: fc.constantFrom(...secrets),
      account: fc.constantFrom('ann', 'bob'),
      what: fc.constantFrom('put', 'put', 'rotate', 'disable', 'limit', 'remove', 'close', 'open'),
    })
    fc.assert(
      fc.property(fc.array(action, { maxLength: 12 }), (actions) => {
        const keyring = createKeyring({ configured: [declared], stored: [] })
        const rows = new Map<string, KeyRow>()
        const closed = new Set<string>()
        for (const { id, secret, account, what } of actions) {
          const before = rows.get(id) ?? stored(secret, { id, account })
          const taken = [...rows.values()].some(
            (row) => row.hash === hashSecret(secret) || row.previous?.hash === hashSecret(secret),
          )
          if (what === 'close') closed.add(account)
          else if (what === 'open') closed.delete(account)
          else if (what === 'remove') rows.delete(id)
          else if (what !== 'put' && !rows.has(id)) continue
          else if (what === 'disable') rows.set(id, { ...before, disabledAt: 1 })
          else if (what === 'limit') rows.set(id, { ...before, spendLimit: limit })
          else if (taken) continue
          else if (what === 'put') rows.set(id, stored(secret, { id, account }))
          else {
            const previous = { hash: before.hash, until: 100 }
            rows.set(id, { ...before, hash: hashSecret(secret), previous })
          }
          const left = rows.get(id)
          keyring.patch({
            changed: left === undefined ? [] : [left],
            removed: left === undefined ? [id] : [],
            closed: [...closed],
          })
          const content = {
            configured: [declared],
            stored: [...rows.values()],
            closed: [...closed],
          }
          const anew = createKeyring(content)
          for (const each of [...secrets, declared.secret])
            expect(keyring.find(each, 1)).toEqual(anew.find(each, 1))
          expect(new Map(keyring.spendLimits)).toEqual(new Map(anew.spendLimits))
          expect(keyring.size).toBe(anew.size)
          expect(new Set(keyring.content.stored)).toEqual(new Set(rows.values()))
        }
      }),
    )
  })

  test('the configured key wins over a stored one with its secret', () => {
    const secret = createSecret()
    const keyring = createKeyring({ configured: [configured(secret)], stored: [stored(secret)] })
    expect(keyring.find(secret, 1)?.account).toBe('bench')
  })

  test('a flood of bad keys leaves memory where it was', () => {
    const keyring = createKeyring({ configured: [configured('sixteen-letters!')], stored: [] })
    const flood = (from: number) => {
      for (let index = from; index < from + 200_000; index += 1) {
        if (keyring.find(`bad-key-${index}-${'x'.repeat(200)}`, 1) !== null)
          throw new Error('found')
      }
      Bun.gc(true)
      return process.memoryUsage().heapUsed
    }
    const before = flood(0)
    // If they were kept, they would take over 40 MB.
    expect(flood(200_000) - before).toBeLessThan(5_000_000)
  })
})
