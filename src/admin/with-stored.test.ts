// Tests entries of the store together with the file: which takes precedence, and what is left out.

import { expect, test } from 'bun:test'
import { createSecretBox } from '../identity/secret-box.ts'
import type { StoredItem } from '../store/configuration.ts'
import { encryptSecrets } from './channel-secrets.ts'
import { loadConfiguration } from './configuration.ts'
import { withStored } from './with-stored.ts'

const box = createSecretBox(new Uint8Array(32), 'stored configuration')
const declared = await loadConfiguration({ flags: {}, env: {} })

function item(kind: StoredItem['kind'], id: string, document: StoredItem['document']): StoredItem {
  return { kind, id, document, revision: 1, changedAt: 1, actor: 'op' }
}
const sandbox = { vendor: 'sandbox', models: ['sandbox/chat'] }

test('entries of the store count where the file says nothing of their name', () => {
  const items = [
    item('group', 'default', { multiplier: '2' }),
    item('group', 'paid', {}),
    item('model', '__proto__', { context: 5 }),
    item('channel', 'own', { ...sandbox, groups: ['paid'], key: undefined }),
  ]
  const config = withStored(declared, items, box)
  expect(config.groups['default']).toMatchObject({ multiplier: '2', origin: 'stored' })
  expect(config.models['__proto__']).toMatchObject({ context: 5, kind: null })
  expect(config.channels).toMatchObject([
    { id: 'own', origin: 'stored', weight: 1, models: { 'sandbox/chat': 'sandbox/chat' } },
  ])
  expect(config.leftOut).toEqual([])
  const file = {
    ...declared,
    groups: { default: { id: 'default', multiplier: '3', models: ['*'], limits: {} } },
    channels: [{ ...config.channels[0], id: 'own', origin: 'file', weight: 9 } as const],
  } as unknown as typeof declared
  const both = withStored(file, items, box)
  expect(both.groups['default']?.multiplier).toBe('3')
  expect(both.channels.map(({ weight }) => weight)).toEqual([9])
})

test('what does not fit is left out alone, and shows no secret', () => {
  const other = createSecretBox(new Uint8Array(32).fill(1), 'stored configuration')
  const secret = 'sk-vendor-0123456789'
  const keyed = encryptSecrets('key', { ...sandbox, key: secret }, box)
  const items = [
    item('channel', 'key', keyed),
    item('channel', 'lost', { ...sandbox, groups: ['gone'] }),
    item('channel', 'odd', { vendor: 'nobody' }),
    item('channel', 'well', sandbox),
  ]
  expect(JSON.stringify(keyed)).not.toContain(secret)
  expect(withStored(declared, items, box).channels.map(({ id, key }) => [id, key])).toEqual([
    ['key', secret],
    ['well', null],
  ])
  const config = withStored(declared, items, other)
  expect(config.channels.map(({ id }) => id)).toEqual(['well'])
  expect(config.leftOut.map(({ id, problem }) => [id, problem.split(':')[0]])).toEqual([
    ['key', 'its secrets were encrypted with another encryption key, or for another channel'],
    ['lost', 'groups[0]'],
    ['odd', 'vendor'],
  ])
})

test('a secret opens only in its own channel, and as its own member', () => {
  const headers = { Authorization: 'sk-b' }
  const own = encryptSecrets('own', { ...sandbox, key: 'sk-a', headers }, box)
  const foreign = { ...sandbox, key: own.key }
  const turned = { ...sandbox, key: Object(own.headers).Authorization }
  const items = [item('channel', 'own', own), item('channel', 'else', foreign)]
  const config = withStored(declared, [...items, item('channel', 'turned', turned)], box)
  expect(config.channels.map(({ id, key }) => [id, key])).toEqual([['own', 'sk-a']])
  expect(config.leftOut.map(({ id }) => id)).toEqual(['else', 'turned'])
})

test('secrets that an earlier version stored, bound to no channel, still open', () => {
  const items = [item('channel', 'own', { ...sandbox, key: { encrypted: box.encrypt('sk-a') } })]
  expect(withStored(declared, items, box).channels.map(({ key }) => key)).toEqual(['sk-a'])
})
