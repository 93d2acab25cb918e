// Tests message history over the control API: who owns it, who may read it, and that deleting and exporting cover all
// of it.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadConfiguration } from '../../src/admin/configuration.ts'
import { deletePerson } from '../../src/admin/people.ts'
import { entryOf } from '../../src/history/document.ts'
import { makeKeys } from '../../src/history/sealed.ts'
import type { HistoryMessage } from '../../src/store/history.ts'
import { adminOf } from '../support/admin.ts'
import { type ControlStage, controlStage, manager, person } from '../support/control.ts'

const config = await loadConfiguration({ flags: {}, env: {} })
let history = { ...config.history, maxDays: 90 }
const keys = await makeKeys()
const ann = person('ann')
const bob = person('bob')
const root = person('root', 'admin')
const picture = Buffer.concat([
  Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'),
  crypto.getRandomValues(new Uint8Array(300)),
])
const startedAt = Date.now() - 60_000
let stage: ControlStage

beforeAll(async () => {
  stage = await controlStage({ services: { config: () => ({ ...config, history }) } })
  for (const id of ['ann', 'bob', 'root']) {
    await stage.store.accounts.ensure(id, 1)
    await add(id, `${id}-1`, `a question of ${id}`)
  }
  await add('ann', 'ann-2', 'a sealed question', { mode: 'sealed' })
  await add('ann', 'ann-3', `data:image/png;base64,${picture.toString('base64')}`)
})
afterAll(() => stage.close())

async function add(account: string, id: string, said: string, head: Partial<HistoryMessage> = {}) {
  const bytes = (value: unknown) => new TextEncoder().encode(JSON.stringify(value))
  const entry = await entryOf({
    head: {
      requestId: `req_${id}`,
      account,
      keyId: `key_${account}`,
      keyName: 'first',
      model: 'gpt',
      operation: 'chat',
      stream: false,
      at: startedAt + Number(id.at(-1)),
      status: 200,
      mode: 'full',
      requestBytes: 10,
      replyBytes: 10,
      parameters: ['model'],
      truncated: false,
      expiresAt: startedAt + 86_400_000,
      ...head,
      format: 'openai-chat',
    },
    publicKey: keys.publicKey,
    request: bytes({ said }),
    reply: bytes({ answer: `to ${id}` }),
    files: [],
    sent: [{ channel: 'main', format: 'openai-chat', body: bytes({ upstream: id }) }],
  })
  await stage.store.history.add([entry])
}

const get = (as: Parameters<ControlStage['send']>[0], path: string) => stage.send(as, 'GET', path)

test('an account sees its own messages alone, and reads what it asked and was answered', async () => {
  const list = await get(ann, '/api/history?limit=2')
  expect(list.json.items.map(({ requestId }: HistoryMessage) => requestId)).toEqual([
    'req_ann-3',
    'req_ann-2',
  ])
  const rest = await get(ann, `/api/history?limit=2&cursor=${list.json.next}`)
  expect(rest.json).toMatchObject({
    items: [{ requestId: 'req_ann-1', hasBody: true }],
    next: null,
  })
  expect((await get(ann, '/api/history?account=bob')).status).toBe(404)
  const { json } = await get(ann, '/api/history/req_ann-1')
  expect(json).toMatchObject({
    requestId: 'req_ann-1',
    withheld: false,
    body: { request: { said: 'a question of ann' }, reply: { answer: 'to ann-1' } },
  })
  expect(json.body.sent).toBeUndefined()
  for (const [method, path] of [
    ['GET', '/api/history/req_bob-1'],
    ['DELETE', '/api/history/req_bob-1'],
    ['GET', '/api/history/req_none'],
    ['GET', `/api/history/req_bob-1/blobs/${'0'.repeat(64)}`],
  ] as const) {
    expect((await stage.send(ann, method, path)).status).toBe(404)
  }
  expect((await get(bob, '/api/history/req_bob-1')).json.body.request).toEqual({
    said: 'a question of bob',
  })
})

test('a search is of the own bodies that are not sealed', async () => {
  const found = async (as: typeof ann, text: string) =>
    (await get(as, `/api/history?text=${encodeURIComponent(text)}`)).json.items.map(
      ({ requestId }: HistoryMessage) => requestId,
    )
  expect(await found(ann, 'QUESTION of')).toEqual(['req_ann-1'])
  expect(await found(ann, 'sealed question')).toEqual([])
  expect(await found(root, 'question of')).toEqual(['req_root-1'])
  expect((await get(manager(null, ['read']), '/api/history?text=a')).status).toBe(400)
})

test('an admin reads the bodies of others only where the configuration allows it, and each reading is noted', async () => {
  const plain = await get(root, '/api/history/req_ann-1')
  expect(plain.json).toMatchObject({ withheld: true, body: null, blobs: [] })
  expect((await get(root, '/api/admin/history/req_ann-1')).status).toBe(403)
  expect((await get(ann, '/api/admin/history/req_ann-1')).status).toBe(403)
  history = { ...history, adminReads: true }
  const read = await get(root, '/api/admin/history/req_ann-1')
  expect(read.json.body).toEqual({
    request: { said: 'a question of ann' },
    reply: { answer: 'to ann-1' },
    sent: [{ channel: 'main', format: 'openai-chat', request: { upstream: 'ann-1' } }],
  })
  expect((await get(ann, '/api/admin/history/req_ann-1')).status).toBe(403)
  const sealed = await get(root, '/api/admin/history/req_ann-2')
  expect(sealed.json).toMatchObject({ body: null, sealed: { wrappedKey: expect.any(String) } })
  history = { ...history, adminReads: false }
  const events = await get(root, '/api/events?action=inspectHistory')
  expect(events.json.items).toContainEqual(
    expect.objectContaining({ actor: 'account root', target: { id: 'req_ann-1' } }),
  )
})

test('a blob is served to its account, in a way that no browser runs', async () => {
  const { json } = await get(ann, '/api/history/req_ann-3')
  const [{ id, type }] = json.blobs
  expect([type, json.body.request.said]).toEqual(['image/png', `data:image/png;base64,blob:${id}`])
  const path = `/api/history/req_ann-3/blobs/${id}`
  const reply = await stage.reply(ann, path, {})
  expect(Buffer.from(await reply.arrayBuffer()).equals(picture)).toBe(true)
  expect(reply.headers.get('content-type')).toBe('image/png')
  expect(reply.headers.get('content-security-policy')).toContain('sandbox')
  expect((await get(root, path)).status).toBe(404)
  expect((await get(ann, path.replace('ann-3', 'ann-1'))).status).toBe(404)
})

test('a choice is checked, versioned, and held to what the operator allows', async () => {
  const before = await get(ann, '/api/me/history')
  expect(before.json).toEqual({
    account: 'ann',
    mode: null,
    retentionDays: null,
    publicKey: null,
    revision: 0,
    inForce: { mode: 'off', retentionDays: 30 },
    allowed: { mode: 'full', retentionDays: 90 },
  })
  const put = (body: object, headers = {}) =>
    stage.send(ann, 'PUT', '/api/me/history', { body, headers })
  const wrong: readonly (readonly [object, string])[] = [
    [{ mode: 'everything' }, 'mode'],
    [{ mode: 'sealed' }, 'publicKey'],
    [{ mode: 'sealed', publicKey: 'abc' }, 'publicKey'],
    [{ mode: 'full', retentionDays: 0 }, 'retentionDays'],
    [{ mode: 'full', retentionDays: 91 }, 'retentionDays'],
    [{ mode: 'full', account: 'bob' }, 'account'],
  ]
  for (const [body, field] of wrong) {
    const { status, json } = await put(body)
    expect([status, JSON.stringify(json)]).toEqual([400, expect.stringContaining(field)])
  }
  const chosen = { mode: 'sealed', publicKey: keys.publicKey, retentionDays: 7 }
  const after = await put(chosen)
  expect(after).toMatchObject({
    status: 200,
    json: { ...chosen, revision: 1, inForce: { mode: 'sealed', retentionDays: 7 } },
  })
  const etag = after.headers.get('etag') ?? ''
  expect((await put({ mode: 'off' }, { 'if-match': '"0"' })).status).toBe(412)
  expect((await put({ mode: 'off' }, { 'if-match': etag })).json.inForce.mode).toBe('off')
  history = { ...history, maxMode: 'metadata' }
  expect((await put({ mode: 'full' })).status).toBe(400)
  expect(
    (
      await stage.send(manager(null, ['write']), 'PUT', '/api/me/history', {
        body: { mode: 'off' },
      })
    ).status,
  ).toBe(400)
  expect(
    (
      await stage.send(person('eve', 'auditor'), 'PUT', '/api/me/history', {
        body: { mode: 'off' },
      })
    ).status,
  ).toBe(403)
})

test('all data of an account is a ZIP that other programs read, with nothing of others in it', async () => {
  const reply = await stage.reply(ann, '/api/me/export', {})
  expect(reply.headers.get('content-type')).toBe('application/zip')
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-export-'))
  try {
    const file = join(folder, 'all.zip')
    writeFileSync(file, new Uint8Array(await reply.arrayBuffer()))
    const python = `import json,sys,zipfile
z = zipfile.ZipFile(sys.argv[1]); bad = z.testzip()
print(json.dumps({"bad": bad, "files": {n: (z.read(n).decode() if n.endswith("ndjson") else len(z.read(n))) for n in z.namelist()}}))`
    const run = Bun.spawnSync(['python3', '-c', python, file])
    const { bad, files } = JSON.parse(run.stdout.toString())
    expect(bad).toBeNull()
    const [, , , blob = ''] = Object.keys(files)
    expect(files[blob]).toBe(picture.length)
    const rows = files['history.ndjson']
      .trim()
      .split('\n')
      .map((line: string) => JSON.parse(line))
    expect(rows).toMatchObject([
      { requestId: 'req_ann-3' },
      { requestId: 'req_ann-2', body: null, sealed: { content: expect.any(String) } },
      { requestId: 'req_ann-1', body: { request: { said: 'a question of ann' } } },
    ])
    expect(JSON.stringify(files)).not.toContain('bob')
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test('an account deletes one message, those of a time, or all of them; its own alone', async () => {
  await add('ann', 'ann-4', 'to be deleted')
  expect((await stage.send(ann, 'DELETE', '/api/history/req_ann-4')).status).toBe(204)
  expect((await stage.send(ann, 'DELETE', '/api/history/req_ann-4')).status).toBe(404)
  const until = new Date(startedAt + 2).toISOString()
  const some = await stage.send(ann, 'DELETE', `/api/history?until=${until}`)
  expect(some).toMatchObject({ status: 200, json: { deleted: 1 } })
  expect((await stage.send(ann, 'DELETE', '/api/history?account=bob')).status).toBe(404)
  expect((await stage.send(ann, 'DELETE', '/api/history')).status).toBe(400)
  expect((await stage.send(ann, 'DELETE', '/api/history?all=true')).json).toEqual({ deleted: 2 })
  expect((await get(ann, '/api/history')).json.items).toEqual([])
  expect((await get(bob, '/api/history')).json.items).toHaveLength(1)
  expect(stage.crashes).toEqual([])
})

test('with a person go the messages of the account and what it had chosen', async () => {
  const { store } = stage
  const id = 'zoe'
  const about = { name: 'Zoe', email: null, emailVerified: false, createdAt: 1 }
  const zoe = { ...about, id, role: 'user', groups: null } as const
  const identity = {
    ...about,
    id: 'i',
    issuer: 'https://one.example',
    subject: id,
    account: id,
    usedAt: 1,
  }
  await store.people.create(zoe, identity, null)
  await add(id, 'zoe-1', 'a last question')
  await store.historySettings.put({
    account: id,
    mode: 'full',
    retentionDays: null,
    publicKey: null,
    revision: 0,
  })
  await deletePerson(adminOf(store), { id })
  expect(await store.history.find(null, 'req_zoe-1')).toBeNull()
  expect(await store.historySettings.find(id)).toBeNull()
})
