// Tests two servers on one PostgreSQL: what is made at one takes effect at the other, which decrypts its secrets with
// the same key.

import { expect, test } from 'bun:test'
import { createManagementKey } from '../../src/admin/management-keys.ts'
import { openStore } from '../../src/store/open.ts'
import { makeSchema, testDatabaseUrl } from '../contract/databases.ts'
import { adminOf } from '../support/admin.ts'
import { eventually } from '../support/clients.ts'
import { type ServerProcess, startServer } from '../support/server-process.ts'
import { chatReply, json, startUpstream } from '../support/upstream.ts'

const secret = 'vendor-secret-one-0123456789'

async function managementKey(databaseUrl: string): Promise<string> {
  const store = await openStore({ dataDir: '', databaseUrl })
  const scopes = ['read' as const, 'write' as const]
  const admin = adminOf(store, { nowMs: Date.now() })
  const made = await createManagementKey(admin, { name: 'ci', account: null, scopes })
  await store.close()
  return made.secret
}

async function models(server: ServerProcess, key: string): Promise<readonly string[]> {
  const reply = await fetch(`${server.url}/v1/models`, {
    headers: { authorization: `Bearer ${key}` },
  })
  const { data } = (await reply.json()) as { readonly data: readonly { readonly id: string }[] }
  return data.map(({ id }) => id)
}

if (testDatabaseUrl !== null) {
  const url = testDatabaseUrl
  test('a channel made at one server serves at the other', async () => {
    const schema = await makeSchema(url)
    const upstream = await startUpstream()
    upstream.on('*', [json(200, chatReply('Hello'))])
    const env = { DATABASE_URL: schema.url, ENCRYPTION_KEY: 'the same for every node' }
    const one = await startServer(undefined, { env })
    const other = await startServer(undefined, { env })
    try {
      const [key = ''] = /sk-tg-[0-9A-Za-z]{38}/.exec(one.stdout) ?? []
      const manager = await managementKey(schema.url)
      const made = await fetch(`${one.url}/api/channels`, {
        method: 'POST',
        headers: { authorization: `Bearer ${manager}`, 'content-type': 'application/json' },
        body: JSON.stringify({
          id: 'main',
          vendor: 'openai',
          baseUrl: upstream.url,
          key: secret,
          models: ['gpt-4o-mini'],
        }),
      })
      expect(made.status).toBe(201)
      await eventually(async () =>
        (await models(other, key)).join() === 'gpt-4o-mini' ? true : undefined,
      )
      const reply = await fetch(`${other.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hi' }] }),
      })
      expect(reply.status).toBe(200)
      expect(upstream.requests.at(-1)?.headers.get('authorization')).toBe(`Bearer ${secret}`)
    } finally {
      await Promise.all([one.kill(), other.kill()])
      one.remove()
      other.remove()
      await upstream.close()
      await schema.drop()
    }
  })
}
