// Tests message history when its process is killed and when its disk is full: requests are served, and money is
// correct.

import { Database } from 'bun:sqlite'
import { afterAll, expect, test } from 'bun:test'
import { spawnSync } from 'node:child_process'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openHistory } from '../../src/store/open.ts'
import { makeDirectory } from '../contract/databases.ts'
import { eventually } from '../support/clients.ts'
import { type ServerProcess, startServer } from '../support/server-process.ts'

const place = makeDirectory()
const small = join(place.path, 'small')
mkdirSync(small)
const isMounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', small]).status === 0
if (!isMounted) console.log('left out: a full disk, which needs a file system that may be mounted')
afterAll(() => {
  if (isMounted) spawnSync('umount', ['-l', small])
  place.remove()
})

const secret = 'sk-test-0123456789abcdef'

function start(dataDir: string): Promise<ServerProcess> {
  const file = join(dataDir, 'tollgate.yaml')
  const key = { name: 'test', account: 'ann', secret }
  writeFileSync(
    file,
    JSON.stringify({
      history: { mode: 'full' },
      keys: [key],
      accounts: { ann: { credit: '1000' } },
    }),
  )
  return startServer(dataDir, { words: ['--config', file] })
}

async function ask(server: ServerProcess, said: string) {
  const reply = await fetch(`${server.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'sandbox/chat', messages: [{ role: 'user', content: said }] }),
  })
  await reply.text()
  return { status: reply.status, requestId: reply.headers.get('x-request-id') ?? '' }
}

async function metric(server: ServerProcess, name: string): Promise<number> {
  const text = await (await fetch(`${server.url}/metrics`)).text()
  return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1])
}

test('kill -9 between requests and their history leaves a file that is whole', async () => {
  const dataDir = join(place.path, 'killed')
  mkdirSync(dataDir)
  let server = await start(dataDir)
  const first = await ask(server, 'a first question')
  const history = openHistory({ dataDir, databaseUrl: null })
  await eventually(async () => (await history.find('ann', first.requestId)) ?? undefined)
  const many = Array.from({ length: 40 }, (_, at) => ask(server, `question ${at} `.repeat(500)))
  await Promise.race(many)
  await server.kill()
  await Promise.allSettled(many)
  await history.close()
  const file = new Database(join(dataDir, 'history.db'))
  expect(file.query('PRAGMA integrity_check').get()).toEqual({ integrity_check: 'ok' })
  expect(file.query('PRAGMA foreign_key_check').all()).toEqual([])
  const sums = `SELECT (SELECT bytes FROM history_total) AS counted,
    (SELECT coalesce(sum(size), 0) FROM history_message) + (SELECT coalesce(sum(size), 0) FROM history_blob) AS kept`
  const { counted, kept } = file.query(sums).get() as { counted: number; kept: number }
  expect(counted).toBe(kept)
  file.close()
  server = await start(dataDir)
  const again = await ask(server, 'after that')
  const reopened = openHistory({ dataDir, databaseUrl: null })
  await eventually(async () => (await reopened.find('ann', again.requestId)) ?? undefined)
  expect(await reopened.find('ann', first.requestId)).not.toBeNull()
  await reopened.close()
  await server.kill()
}, 60_000)

test.if(isMounted)(
  'on a full disk history is dropped and counted, and requests are answered',
  async () => {
    const dataDir = join(place.path, 'full')
    mkdirSync(dataDir)
    writeFileSync(join(small, 'history.db'), '')
    symlinkSync(join(small, 'history.db'), join(dataDir, 'history.db'))
    const server = await start(dataDir)
    const noise = () =>
      Buffer.from(crypto.getRandomValues(new Uint8Array(60_000))).toString('base64url')
    const dropped = await eventually(async () => {
      expect((await ask(server, `${noise()}.`)).status).toBe(200)
      return (await metric(server, 'tollgate_history_dropped_total')) || undefined
    })
    expect(dropped).toBeGreaterThan(0)
    await server.said('message history could not be written')
    expect((await ask(server, 'hello')).status).toBe(200)
    await eventually(async () =>
      (await metric(server, 'tollgate_history_queue_bytes')) === 0 ? true : undefined,
    )
    expect((await fetch(`${server.url}/readyz`)).status).toBe(200)
    await server.kill()
  },
  60_000,
)
