// Tests to which key a refused secret belongs: whole or in part, whatever the state of the key.

import { expect, test } from 'bun:test'
import { keyRow } from '../../test/contract/store.ts'
import { configured } from '../../test/support/configured-key.ts'
import { recogniseKey } from './recognise.ts'
import { createSecret, hashSecret, startOf } from './secret.ts'

const secrets = Array.from({ length: 4 }, () => createSecret())
const [one = '', before = '', disabled = '', closed = ''] = secrets
const row = (id: string, secret: string, change = {}) =>
  keyRow({ id, hash: hashSecret(secret), start: startOf(secret), ...change })

const content = {
  configured: [],
  stored: [
    row('one', one, { previous: { hash: hashSecret(before), until: 500 }, expiresAt: 1_000 }),
    row('disabled', disabled, { disabledAt: 1 }),
    row('closed', closed, { account: 'gone' }),
  ],
  closed: ['gone'],
}

test.each([
  [one, 0, 'one', 'valid'],
  [one, 1_000, 'one', 'expired'],
  [before, 499, 'one', 'valid'],
  [before, 500, 'one', 'expired'],
  [disabled, 0, 'disabled', 'disabled'],
  [closed, 0, 'closed', 'closed'],
  [one.slice(0, 14), 0, 'one', 'damaged'],
  [`${one}x`, 0, 'one', 'damaged'],
])('%#: a secret at %d is of a key in its state', (secret, nowMs, keyId, state) => {
  expect(recogniseKey(content, secret, nowMs)).toMatchObject({ keyId, state })
})

test('of a configured secret no more than the first 12 characters are compared', () => {
  const secret = 'sk-bob-01234'.padEnd(30, '5')
  const keys = { ...content, configured: [configured(secret, { name: 'bob' })] }
  const found = (shown: string) => recogniseKey(keys, shown, 0)
  const damaged = { keyId: 'config:bob', state: 'damaged' }
  // Right and wrong guesses of the next characters look alike.
  for (const shown of ['sk-bob-01234', 'sk-bob-012345', 'sk-bob-01234x', `${secret}x`])
    expect(found(shown)).toMatchObject(damaged)
  expect(found('sk-bob-0123')).toBeNull()
  expect(found('sk-bob-0123x')).toBeNull()
  expect(found(secret)).toMatchObject({ keyId: 'config:bob', state: 'valid' })
})

test('what is too short, unknown, or begins as two keys do, is nobody’s', () => {
  expect(recogniseKey(content, one.slice(0, 13), 0)).toBeNull()
  expect(recogniseKey(content, createSecret(), 0)).toBeNull()
  const twin = row('twin', createSecret(), { start: startOf(one) })
  const both = { ...content, stored: [...content.stored, twin] }
  expect(recogniseKey(both, one.slice(0, 20), 0)).toBeNull()
  expect(recogniseKey(both, one, 0)).toMatchObject({ keyId: 'one' })
})
