// Tests every documented operation with generated requests: each is answered in time, as documented, and never with a
// failure.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { runCommand } from '../support/command-line.ts'
import { faultsOf, type Scene, seed } from '../support/fuzz.ts'
import { type Gateway, startGateway } from '../support/gateway.ts'
import { Described, type JsonObject } from '../support/openapi.ts'

type Caller = 'nobody' | 'a key that calls models' | 'a user' | 'an admin'
type Fields = Readonly<Record<string, string>>

let gateway: Gateway
let scene: Scene
/** How each caller authenticates. */
const fields = new Map<Caller, Fields>()

beforeAll(async () => {
  gateway = await startGateway()
  fields.set('nobody', {})
  fields.set('a key that calls models', { authorization: `Bearer ${gateway.key}` })
  const admin = { cookie: await adminCookie() }
  fields.set('an admin', admin)
  const scopes = ['read', 'write']
  const manager = await made('/api/management-keys', { name: 'a', account: 'default', scopes })
  fields.set('a user', { authorization: `Bearer ${manager['secret']}` })
  const key = await made('/api/keys', { name: 'a', account: 'default', group: 'default' })
  const other = await made('/api/keys', { name: 'b', account: 'other', group: 'default' })
  const invitation = await made('/api/invitations', {})
  const document = await fetch(`${gateway.url}/openapi.json`)
  const described = new Described((await document.json()) as JsonObject)
  const ids = [manager, key, other, invitation].map(({ id }) => String(id))
  for (const id of ['createResponse', 'createVideo']) {
    const { path, body } = described.operation(id)
    const reply = await gateway.post(path, body?.get('application/json')?.example)
    const { id: name } = (await reply.json()) as JsonObject
    ids.push(String(name), reply.headers.get('x-request-id') ?? '')
  }
  scene = { described, ids: [...ids, 'default', 'other', 'sandbox/chat'] }
})
afterAll(async () => {
  await gateway.stop()
  expect(gateway.stderr).not.toContain('internal error')
})

/** By the link that makes its user an administrator. */
async function adminCookie(): Promise<string> {
  const { out } = await runCommand(['admin', 'link', '--json', '--data', gateway.dataDir], '/')
  const { pathname, search } = new URL(JSON.parse(out).url)
  const reply = await fetch(gateway.url + pathname + search, { redirect: 'manual' })
  const [cookie = ''] = (reply.headers.get('set-cookie') ?? '').split(';')
  return cookie
}

/** The entries that an admin makes. */
async function made(path: string, body: JsonObject): Promise<JsonObject> {
  const reply = await fetch(gateway.url + path, {
    method: 'POST',
    headers: { ...fields.get('an admin'), 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  expect([path, reply.status]).toEqual([path, 201])
  return (await reply.json()) as JsonObject
}

/** The key comes last, since exporting what it leaves behind takes longer each time. */
const callers: readonly Caller[] = ['nobody', 'a user', 'an admin', 'a key that calls models']

test.each(callers)(
  `every operation, asked by %s (seed ${seed})`,
  async (caller) => {
    const faults = await faultsOf(scene, scene.described.operations, (sent, signal) =>
      fetch(gateway.url + sent.path, {
        method: sent.method,
        headers: { ...sent.headers, ...fields.get(caller) },
        ...(sent.body !== null && { body: sent.body }),
        redirect: 'manual',
        signal,
      }),
    )
    expect(faults).toEqual([])
  },
  600_000,
)
