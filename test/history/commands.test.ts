// Tests `tollgate history` beside a running server, and that deleted messages leave nothing in the data folder.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openStore } from '../../src/store/open.ts'
import { eventually } from '../support/clients.ts'
import { program } from '../support/command-line.ts'
import { type Gateway, startGateway } from '../support/gateway.ts'

const folder = mkdtempSync(join(tmpdir(), 'tollgate-history-'))
const picture = Buffer.concat([
  Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'),
  crypto.getRandomValues(new Uint8Array(400)),
])
let gateway: Gateway

beforeAll(async () => {
  gateway = await startGateway({ config: { history: { mode: 'full' } } })
})
afterAll(async () => {
  rmSync(folder, { recursive: true })
  await gateway.stop()
})

function tollgate(...words: readonly string[]) {
  const { stdout, stderr, exitCode } = Bun.spawnSync([program, ...words, '--data', gateway.dataDir])
  return { code: exitCode, out: stdout.toString(), said: stderr.toString() }
}

function json(...words: readonly string[]) {
  const { code, out, said } = tollgate(...words, '--json')
  expect([code, said]).toEqual([0, ''])
  return JSON.parse(out)
}

async function ask(said: unknown, model = 'sandbox/chat') {
  const reply = await gateway.post('/v1/chat/completions', {
    model,
    messages: [{ role: 'user', content: said }],
  })
  await reply.text()
  const requestId = reply.headers.get('x-request-id') ?? ''
  expect(reply.status).toBe(200)
  return requestId
}

async function kept(requestId: string): Promise<void> {
  const store = await openStore({ dataDir: gateway.dataDir, databaseUrl: null })
  try {
    await eventually(async () => (await store.history.find(null, requestId)) ?? undefined, 5_000)
  } finally {
    await store.close()
  }
}

test('messages are listed, searched, shown, exported and deleted', async () => {
  const first = await ask('a question about zebras')
  const second = await ask('another one', 'sandbox/reasoning')
  await kept(first)
  await kept(second)
  const ids = (...words: readonly string[]) =>
    json(...words).map(({ requestId }: { requestId: string }) => requestId)
  expect(ids('history', 'list')).toEqual([second, first])
  expect(ids('history', 'list', '--model', 'sandbox/chat')).toEqual([first])
  expect(ids('history', 'search', 'ZEBRAS')).toEqual([first])
  expect(tollgate('history', 'list').out).toContain('sandbox/reasoning')
  const shown = json('history', 'show', first)
  expect(shown.body.request.messages).toEqual([
    { role: 'user', content: 'a question about zebras' },
  ])
  expect(shown.body.reply.choices[0].message.content).toContain('zebras')
  const file = join(folder, 'all.zip')
  json('history', 'export', 'default', file)
  expect(Bun.spawnSync(['python3', '-m', 'zipfile', '-t', file]).exitCode).toBe(0)
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(json('history', 'delete', first)).toEqual({ deleted: 1 })
  expect(tollgate('history', 'show', first).said).toContain('`tollgate history list` lists them')
  expect(tollgate('history', 'delete').said).toContain('--account is missing')
  const unknown = join(folder, 'unknown.zip')
  for (const words of [
    ['export', 'nobody', unknown],
    ['delete', '--account', 'nobody'],
  ]) {
    const { code, said } = tollgate('history', ...words)
    expect([code, said]).toEqual([1, expect.stringContaining('there is no account "nobody"')])
  }
  expect(existsSync(unknown)).toBe(false)
  expect(tollgate('history', 'delete', second, '--account', 'default').code).toBe(2)
  expect(json('history', 'delete', '--account', 'default')).toEqual({ deleted: 1 })
  expect(ids('history', 'list')).toEqual([])
})

test('what is sealed is opened with the file that keygen wrote', async () => {
  const file = join(folder, 'keys.json')
  const { publicKey } = json('history', 'keygen', file)
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(tollgate('history', 'keygen', file).code).toBe(1)
  expect(tollgate('history', 'set', 'default', 'sealed').said).toContain('public-key')
  json('history', 'set', 'default', 'sealed', '--public-key', publicKey)
  const requestId = await eventually(async () => {
    const id = await ask('a sealed question')
    await kept(id)
    return json('history', 'show', id).mode === 'sealed' ? id : undefined
  })
  expect(tollgate('history', 'show', requestId).said).toContain('--secret-key')
  expect(json('history', 'show', requestId).body).toBeNull()
  const opened = json('history', 'show', requestId, '--secret-key', file)
  expect(opened.body.request.messages[0].content).toBe('a sealed question')
  const other = join(folder, 'other.json')
  json('history', 'keygen', other)
  expect(tollgate('history', 'show', requestId, '--secret-key', other).said).toContain(
    'sealed to another key',
  )
  // One of 64 keys begins with a dash.
  const dashed = `-${publicKey.slice(1)}`
  expect(json('history', 'set', 'default', 'sealed', '--public-key', dashed)).toMatchObject({
    publicKey: dashed,
  })
  json('history', 'set', 'default', 'full')
})

test("a key's own mode stands above its account's", async () => {
  const made = (mode: string) =>
    json(
      'key',
      'create',
      '--account',
      'default',
      '--group',
      'default',
      '--name',
      mode,
      '--history',
      mode,
    )
  for (const mode of ['off', 'metadata']) {
    const { secret } = made(mode)
    const headers = { authorization: `Bearer ${secret}` }
    const body = { model: 'sandbox/chat', messages: [{ role: 'user', content: 'by a key' }] }
    const requestId = await eventually(async () => {
      const reply = await gateway.post('/v1/chat/completions', body, { headers })
      await reply.text()
      return reply.status === 200 ? (reply.headers.get('x-request-id') ?? '') : undefined
    })
    // Entries from before are written first.
    await kept(await ask('after it'))
    const listed = json('history', 'list').find(
      (each: { requestId: string }) => each.requestId === requestId,
    )
    expect(listed?.mode).toBe(mode === 'off' ? undefined : mode)
  }
})

test('S17 S26 prompts are in no log, and nothing of a deleted message is in any file', async () => {
  const canary = crypto.randomUUID()
  const url = `data:image/png;base64,${picture.toString('base64')}`
  const model = `sandbox/chat+tokens=${1_000 + Math.floor(Math.random() * 9_000)}`
  const requestId = await eventually(async () => {
    const id = await ask(
      [
        { type: 'text', text: canary },
        { type: 'image_url', image_url: { url } },
      ],
      model,
    )
    await kept(id)
    return json('history', 'show', id).mode === 'full' ? id : undefined
  })
  const store = await openStore({ dataDir: gateway.dataDir, databaseUrl: null })
  const { content } = (await store.history.find(null, requestId)) ?? {}
  await store.close()
  const traces = [
    Buffer.from(content ?? '').subarray(20, 60),
    picture.subarray(30, 90),
    Buffer.from(canary),
  ]
  const files = () =>
    readdirSync(gateway.dataDir, { recursive: true, encoding: 'utf8' })
      .map((name) => join(gateway.dataDir, name))
      .filter((path) => statSync(path).isFile())
      .filter((path) => traces.some((trace) => readFileSync(path).includes(trace)))
  expect(files().length).toBeGreaterThan(0)
  expect(json('history', 'delete', '--account', 'default').deleted).toBeGreaterThan(0)
  expect(files()).toEqual([])
  expect(gateway.stderr).not.toContain(canary)
  expect(existsSync(join(gateway.dataDir, 'history.db'))).toBe(true)
})
