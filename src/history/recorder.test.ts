// Tests the queue in front of the thread that writes history: it is bounded, and survives a failing thread or store.

import { afterEach, expect, test } from 'bun:test'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeDirectory, type TestDirectory } from '../../test/contract/databases.ts'
import { eventually } from '../../test/support/ledger-node.ts'
import { fileSchema } from '../config/schema.ts'
import { openHistory } from '../store/open.ts'
import { hasHistoryFile } from '../store/sqlite-history.ts'
import type { Exchange } from './document.ts'
import { createRecorder, type Recorder } from './recorder.ts'

const settings = { ...fileSchema.parse({}).history, queueBytes: 10_000 }
let directory: TestDirectory
let recorder: Recorder
let failures: string[] = []

afterEach(async () => {
  await recorder.close()
  directory.remove()
  failures = []
})

function open(script?: string): Recorder {
  directory = makeDirectory()
  recorder = createRecorder({
    store: { dataDir: directory.path, databaseUrl: null },
    settings: () => settings,
    anyKept: async () => hasHistoryFile(directory.path),
    onFailure: (reason, lost) => failures.push(`${lost}: ${reason}`),
    ...(script !== undefined && {
      script: new URL(`data:text/javascript,${encodeURIComponent(script)}`),
    }),
  })
  return recorder
}

function exchange(id: string, change: Partial<Exchange['head']> = {}): Exchange {
  return {
    head: {
      requestId: id,
      account: 'ann',
      keyId: 'k',
      keyName: 'k',
      model: 'm',
      operation: 'chat',
      format: 'openai-chat',
      stream: false,
      at: Date.now(),
      status: 200,
      mode: 'full',
      requestBytes: 2,
      replyBytes: 2,
      parameters: [],
      truncated: false,
      expiresAt: Date.now() + 1e6,
      ...change,
    },
    publicKey: null,
    request: new TextEncoder().encode(`{"said":"${id}"}`),
    reply: new TextEncoder().encode('not JSON'),
    files: [],
    sent: [],
  }
}

test('nothing is opened and no thread started until there is something to keep', async () => {
  open()
  await recorder.idle()
  expect(hasHistoryFile(directory.path)).toBe(false)
  expect(recorder.take(100)).toBe(true)
  recorder.add(exchange('1'), 100)
  await recorder.idle()
  expect(hasHistoryFile(directory.path)).toBe(true)
  expect(recorder.reading).toMatchObject({ queueBytes: 0, dropped: 0 })
  const history = openHistory({ dataDir: directory.path, databaseUrl: null })
  expect((await history.list({ limit: 10 })).items).toMatchObject([{ requestId: '1' }])
  await history.close()
})

test('room is given out until there is none, and comes back when what took it is written', async () => {
  open()
  expect(recorder.take(6_000)).toBe(true)
  expect(recorder.take(6_000)).toBe(false)
  expect(recorder.take(4_000)).toBe(true)
  recorder.give(4_000)
  recorder.drop()
  recorder.add(exchange('1'), 6_000)
  expect(recorder.reading).toMatchObject({ queueBytes: 6_000, dropped: 1 })
  await recorder.idle()
  expect(recorder.reading).toMatchObject({ queueBytes: 0, dropped: 1 })
})

test('what the store refuses is counted and told of, and the next is kept', async () => {
  open()
  // A folder in place of the file, so that it cannot be opened.
  mkdirSync(join(directory.path, 'history.db'))
  writeFileSync(join(directory.path, 'history.db', 'in-the-way'), '')
  recorder.take(10)
  recorder.add(exchange('1'), 10)
  await recorder.idle()
  expect(recorder.reading).toMatchObject({ queueBytes: 0, dropped: 1 })
  expect(failures[0]).toContain('history.db')
})

test('a thread that dies loses what it had, and another one goes on', async () => {
  open(`
    import { parentPort } from 'node:worker_threads'
    parentPort.on('message', ({ exchanges }) => {
      if (exchanges[0].head.requestId === 'bad') throw new Error('a mistake')
      parentPort.postMessage({ lost: 0, failure: null, diskBytes: 7 })
    })`)
  recorder.take(50)
  recorder.add(exchange('bad'), 50)
  await eventually('it is counted', () => recorder.reading.dropped === 1)
  expect(recorder.reading.queueBytes).toBe(0)
  expect(failures).toHaveLength(1)
  recorder.take(50)
  recorder.add(exchange('good'), 50)
  await recorder.idle()
  expect(recorder.reading).toEqual({ queueBytes: 0, dropped: 1, diskBytes: 7 })
})
