// Tests that two nodes are considered alike despite their own settings, and different if key or configuration differ.

import { expect, test } from 'bun:test'
import { loadConfiguration } from '../admin/configuration.ts'
import { alikeOf } from './alike.ts'

const load = async (flags: Record<string, string>, env: Record<string, string> = {}) =>
  alikeOf(
    '1.0.0',
    await loadConfiguration({ flags, env: { ENCRYPTION_KEY: 'k'.repeat(16), ...env } }),
  )

test('the own folder, port and database are no difference; a key and a channel are', async () => {
  const one = await load({ data: '/tmp/a', port: '1' })
  const alike = await load({ data: '/tmp/b', port: '2' }, { DATABASE_URL: 'postgres://b/b' })
  expect(alike).toEqual(one)
  const channel = await load({ data: '/tmp/a' }, { OPENAI_API_KEY: 'sk-other' })
  expect(channel.encryptionKey).toBe(one.encryptionKey)
  const key = await load({ data: '/tmp/a' }, { ENCRYPTION_KEY: 'l'.repeat(16) })
  expect(key.encryptionKey).not.toBe(one.encryptionKey)
  const address = await load({ data: '/tmp/a' }, { PUBLIC_URL: 'https://a.example' })
  expect(address.configuration).not.toBe(one.configuration)
  expect(JSON.stringify(address)).not.toContain('kkkk')
})
