// Tests that channels made at run time serve real requests in every process, survive a kill, and are overridden by the
// file.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createManagementKey } from '../../src/admin/management-keys.ts'
import { openStore } from '../../src/store/open.ts'
import { adminOf } from '../support/admin.ts'
import { eventually } from '../support/clients.ts'
import { run, type ServerProcess, startServer } from '../support/server-process.ts'
import { chatReply, json, startUpstream, type Upstream, until } from '../support/upstream.ts'

const first = 'vendor-secret-one-0123456789'
const second = 'vendor-secret-two-0123456789'
const modelKey = 'sk-test-0123456789abcdef'

let upstream: Upstream
let server: ServerProcess
let manager: string
const said: string[] = []

/** What the file contains beside what every start needs. */
function write(dataDir: string, more: object = {}): string {
  const file = join(dataDir, 'tollgate.yaml')
  const config = {
    accounts: { default: { credit: '1000' } },
    keys: [{ name: 'test', secret: modelKey }],
    models: { '*': { prices: { input: '1', output: '2' } } },
    server: { drainDelayMs: 0 },
    ...more,
  }
  writeFileSync(file, JSON.stringify(config))
  return file
}

async function start(dataDir: string, workers: number): Promise<ServerProcess> {
  const words = ['--config', join(dataDir, 'tollgate.yaml'), '--workers', String(workers)]
  return startServer(dataDir, { words, env: { LOG_LEVEL: 'info' } })
}

beforeAll(async () => {
  upstream = await startUpstream()
  upstream.on('*', [json(200, chatReply('Hello'))])
  const probe = await startServer()
  await probe.kill()
  write(probe.dataDir)
  server = await start(probe.dataDir, 2)
  const store = await openStore({ dataDir: server.dataDir, databaseUrl: null })
  const scopes = ['read' as const, 'write' as const]
  const input = { name: 'ci', account: null, scopes }
  manager = (await createManagementKey(adminOf(store, { nowMs: Date.now() }), input)).secret
  await store.close()
})
afterAll(async () => {
  await server.kill()
  server.remove()
  await upstream.close()
})

async function manage(method: string, path: string, body?: object) {
  const reply = await fetch(server.url + path, {
    method,
    headers: { authorization: `Bearer ${manager}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const text = await reply.text()
  said.push(text)
  return { status: reply.status, json: text === '' ? null : JSON.parse(text) }
}

/** On a separate connection, so that any of the processes may accept it. */
async function call(model: string): Promise<number> {
  const reply = await fetch(`${server.url}/v1/chat/completions`, {
    method: 'POST',
    keepalive: false,
    headers: { authorization: `Bearer ${modelKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello' }] }),
  })
  await reply.arrayBuffer()
  return reply.status
}

/** In every process, since it is asked many times. */
async function answers(model: string, status: number): Promise<void> {
  await eventually(async () => {
    const all = await Promise.all(Array.from({ length: 12 }, () => call(model)))
    return all.every((each) => each === status) || undefined
  }, 5_000)
}

test('a stored channel serves in both processes, with both keys', async () => {
  const made = await manage('POST', '/api/channels', {
    id: 'main',
    vendor: 'openai',
    baseUrl: upstream.url,
    models: ['own-model', 'picky', 'slow'],
    costMultiplier: '0.5',
    keys: [
      { name: 'one', key: first },
      { name: 'two', key: second },
    ],
  })
  expect(made.status).toBe(201)
  await answers('own-model', 200)
  await eventually(async () => {
    await call('own-model')
    const used = new Set(
      upstream.of('own-model').map(({ headers }) => headers.get('authorization')),
    )
    return used.size === 2 || undefined
  })
  const preview = await manage('POST', '/api/routing/preview', {
    model: 'own-model',
    group: 'default',
  })
  expect(preview.json).toMatchObject({
    channels: [
      { channel: 'main', key: 'one' },
      { channel: 'main', key: 'two' },
    ],
    leftOut: [],
  })
})

test('what a vendor asks of its list price is what its requests are said to cost', async () => {
  const row = await eventually(async () => {
    const { json: list } = await manage(
      'GET',
      '/api/requests?limit=1&statusClass=2xx&model=own-model',
    )
    return list.items[0]
  })
  expect(BigInt(row.chargeNano)).toBeGreaterThan(0n)
  expect(BigInt(row.vendorCostNano) * 2n).toBe(BigInt(row.chargeNano))
  const { json: shown } = await manage('GET', '/api/channels/main')
  const { hour, quarters } = shown as {
    hour: { requests: number }
    quarters: { since: string; requests: number; successPercent: number | null }[]
  }
  expect(quarters).toHaveLength(4)
  expect(hour.requests).toBeGreaterThan(0)
  expect(quarters.reduce((sum, { requests }) => sum + requests, 0)).toBe(hour.requests)
  for (const { requests, successPercent } of quarters)
    expect(successPercent).toBe(requests === 0 ? null : 100)
  const starts = quarters.map(({ since }) => Date.parse(since))
  expect(starts.map((start) => start - (starts[0] ?? 0))).toEqual([
    0, 900_000, 1_800_000, 2_700_000,
  ])
})

test('a key that its vendor refuses is set aside, and the other serves on', async () => {
  upstream.on('picky', [
    (turn) =>
      turn.request.headers.get('authorization') === `Bearer ${first}`
        ? json(401, { error: { message: 'no such key' } })(turn)
        : json(200, chatReply('Hello'))(turn),
  ])
  await answers('picky', 200)
  const shown = await eventually(async () => {
    await call('picky')
    const { json: view } = await manage('GET', '/api/channels/main')
    return view.keys[0].state === 'refused' ? view : undefined
  })
  expect(shown).toMatchObject({
    state: 'ok',
    keys: [{ name: 'one' }, { name: 'two', state: 'in use' }],
  })
})

test('a draining channel takes nothing new, and what runs ends as it would', async () => {
  const released = Promise.withResolvers<void>()
  upstream.on('slow', [until(released.promise), json(200, chatReply('Hello'))])
  const running = call('slow')
  await eventually(() => upstream.of('slow')[0])
  const drained = await manage('POST', '/api/channels/main/state', { state: 'draining' })
  expect(drained.json.state).toBe('draining')
  const { json: operations } = await manage('GET', '/api/operations')
  expect(operations.channels).toMatchObject([{ id: 'main', state: 'draining' }])
  expect(operations.alerts).not.toContainEqual(expect.objectContaining({ subject: 'main' }))
  await answers('own-model', 404)
  const left = await manage('POST', '/api/routing/preview', {
    model: 'own-model',
    group: 'default',
  })
  expect(left.json).toMatchObject({
    channels: [],
    leftOut: [{ channel: 'main', reason: 'is draining' }],
  })
  released.resolve()
  expect(await running).toBe(200)
  await manage('POST', '/api/channels/main/state', { state: 'enabled' })
  await answers('own-model', 200)
})

test('the command line makes, changes, lists and removes one, and servers follow', async () => {
  const { dataDir } = server
  const words = ['--vendor', 'sandbox', '--models', 'sandbox/reasoning', '--set', '{"weight": 3}']
  await run(dataDir, 'channel', 'create', 'by-hand', ...words)
  await answers('sandbox/reasoning', 200)
  await run(dataDir, 'channel', 'update', 'by-hand', '--state', 'disabled', '--priority', '4')
  const listed: readonly { id: string }[] = JSON.parse(
    await run(dataDir, 'channel', 'list', '--json'),
  )
  expect(listed.find(({ id }) => id === 'by-hand')).toMatchObject({
    origin: 'stored',
    disabled: true,
    weight: 3,
    priority: 4,
  })
  expect(JSON.stringify(listed)).not.toContain(first)
  await expect(run(dataDir, 'channel', 'update', 'by-hand', '--weight', '-1')).rejects.toThrow(
    '--weight',
  )
  await run(dataDir, 'channel', 'delete', 'by-hand')
  await answers('sandbox/reasoning', 404)
})

test('kill -9 after a change keeps it; no secret is in the folder, the replies or the log', async () => {
  await manage('POST', '/api/groups', { id: 'paid', multiplier: '3' })
  const changed = await manage('PATCH', '/api/channels/main', { groups: ['default', 'paid'] })
  expect(changed.status).toBe(200)
  const { dataDir, stderr } = server
  await server.kill()
  server = await start(dataDir, 1)
  await answers('own-model', 200)
  expect((await manage('GET', '/api/channels/main')).json.groups).toEqual(['default', 'paid'])
  await manage('GET', '/api/channels')
  await manage('GET', '/api/channels/main/versions')
  await manage('GET', '/api/channels/export')
  expect((await manage('GET', '/api/events')).json.items.length).toBeGreaterThan(0)
  const files = readdirSync(dataDir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => readFileSync(join(parentPath, name), 'latin1'))
  for (const text of [...files, ...said, stderr, server.stderr]) {
    expect([text.includes(first), text.includes(second)]).toEqual([false, false])
  }
})

test('the file stands above the store, and what does not fit stops nothing', async () => {
  const { dataDir } = server
  await manage('POST', '/api/channels', {
    id: 'other',
    vendor: 'sandbox',
    models: ['sandbox/chat'],
  })
  await server.kill()
  const store = await openStore({ dataDir, databaseUrl: null })
  const gone = { kind: 'group', id: 'paid', document: null, changedAt: 1, actor: 'op' } as const
  expect(await store.configuration.change([gone], await store.configuration.revision())).toBe(true)
  await store.close()
  server = await start(dataDir, 1)
  await server.said('does not all fit')
  await answers('sandbox/chat', 200)
  expect(await call('own-model')).toBe(404)
  const { json: list } = await manage('GET', '/api/channels')
  expect(list.items).toMatchObject([
    { id: 'main', state: 'disabled', problem: 'groups[1]: unknown group; expected one of default' },
    { id: 'other', origin: 'stored', problem: null },
  ])
  const declared = { id: 'main', vendor: 'sandbox', models: ['sandbox/completion'] }
  write(dataDir, { channels: [declared] })
  const shown = await eventually(async () => {
    const { json: view } = await manage('GET', '/api/channels/main')
    return view.origin === 'file' ? view : undefined
  })
  expect(shown).toMatchObject({ overridden: true, vendor: 'sandbox', problem: null })
  await answers('sandbox/chat', 200)
  expect((await manage('PATCH', '/api/channels/main', { weight: 2 })).status).toBe(409)
})
