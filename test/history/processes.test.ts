// Tests message history of several serving processes on one store, on each engine.

import { describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openStore } from '../../src/store/open.ts'
import { makeSchema, testDatabaseUrl } from '../contract/databases.ts'
import { eventually } from '../support/clients.ts'
import { startServer } from '../support/server-process.ts'

const secret = 'sk-test-0123456789abcdef'
const engines = ['sqlite', ...(testDatabaseUrl === null ? [] : ['postgres'])]

describe.each(engines)('two processes on %s', (engine) => {
  test('what each serves is kept, and deleted for both', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'tollgate-history-'))
    const schema =
      engine === 'postgres' && testDatabaseUrl !== null ? await makeSchema(testDatabaseUrl) : null
    const databaseUrl = schema?.url ?? null
    const file = join(dataDir, 'tollgate.yaml')
    const key = { name: 'test', account: 'ann', secret }
    const config = {
      history: { mode: 'full' },
      keys: [key],
      accounts: { ann: { credit: '10' } },
      server: { drainDelayMs: 0 },
    }
    writeFileSync(file, JSON.stringify(config))
    const server = await startServer(dataDir, {
      words: ['--config', file, '--workers', '2'],
      env: databaseUrl === null ? {} : { DATABASE_URL: databaseUrl },
    })
    const store = await openStore({ dataDir, databaseUrl })
    try {
      const ask = async () => {
        const reply = await fetch(`${server.url}/v1/chat/completions`, {
          method: 'POST',
          headers: {
            authorization: `Bearer ${secret}`,
            'content-type': 'application/json',
            connection: 'close',
          },
          body: JSON.stringify({
            model: 'sandbox/chat',
            messages: [{ role: 'user', content: 'Hi' }],
          }),
        })
        await reply.text()
        return reply.headers.get('x-request-id') ?? ''
      }
      const asked = await Promise.all(Array.from({ length: 24 }, ask))
      const kept = async () => (await store.history.list({ limit: 100 })).items
      await eventually(async () => ((await kept()).length === asked.length ? true : undefined))
      expect((await kept()).map(({ requestId }) => requestId).sort()).toEqual(asked.sort())
      // The end of a request's id identifies its process.
      expect(new Set(asked.map((id) => id.slice(-10))).size).toBe(2)
      expect(await store.history.remove({ account: 'ann' }, Date.now())).toBe(asked.length)
      const metrics = await (await fetch(`${server.url}/metrics`)).text()
      expect(metrics).toMatch(/^tollgate_history_dropped_total\{worker="\d"\} 0$/m)
    } finally {
      await store.close()
      server.signal('SIGTERM')
      expect(await server.exited).toBe(0)
      server.remove()
      await schema?.drop()
      rmSync(dataDir, { recursive: true, force: true })
    }
  }, 60_000)
})
