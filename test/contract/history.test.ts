// The contract of message history and of the accounts' choices of what is kept.

import { expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import type { HistoryEntry, HistoryMessage } from '../../src/store/history.ts'
import { openHistory } from '../../src/store/open.ts'
import { makeDirectory } from './databases.ts'
import { type Bench, onEachEngine } from './engines.ts'

const nowMs = 1_800_000_000_000
const dayMs = 86_400_000

function message(id: string, change: Partial<HistoryMessage> = {}): HistoryMessage {
  return {
    requestId: `req_${id}`,
    account: 'ann',
    keyId: 'key_1',
    keyName: 'first',
    model: 'gpt',
    operation: 'chat',
    format: 'openai-chat',
    stream: false,
    at: nowMs,
    status: 200,
    mode: 'full',
    requestBytes: 10,
    replyBytes: 20,
    parameters: ['model', 'messages'],
    truncated: false,
    expiresAt: nowMs + dayMs,
    wrappedKey: null,
    content: gzipSync(JSON.stringify({ request: `asked ${id}`, reply: 'said "Ünder"\n' })),
    ...change,
  }
}

function entry(
  id: string,
  change: Partial<HistoryMessage> = {},
  blobs: readonly string[] = [],
): HistoryEntry {
  return {
    message: message(id, change),
    blobs: blobs.map((text) => ({
      id: `hash of ${text}`,
      type: 'image/png',
      content: Buffer.from(text),
    })),
  }
}

function ids(page: { readonly items: readonly { readonly requestId: string }[] }): string[] {
  return page.items.map(({ requestId }) => requestId.slice(4))
}

type Start = () => Promise<Bench>

onEachEngine('message history', (start) => {
  keepingTests(start)
  searchTests(start)
  deletingTests(start)
  settingTests(start)
})

function keepingTests(start: Start): void {
  test('what is kept is found as it was, by its account alone or by whoever may see all', async () => {
    const { history } = (await start()).store
    await history.add([entry('1', {}, ['a picture'])])
    await history.add([entry('1', { model: 'other' })])
    const { content, ...head } = message('1')
    for (const account of ['ann', null]) {
      const found = await history.find(account, 'req_1')
      expect({ ...found, content: null }).toEqual({
        ...head,
        content: null,
        blobs: [{ id: 'hash of a picture', type: 'image/png', size: 9 }],
      })
      expect(Buffer.from(found?.content ?? '').equals(Buffer.from(content ?? ''))).toBe(true)
    }
    const blob = await history.blob('ann', 'hash of a picture')
    expect(Buffer.from(blob?.content ?? '').toString()).toBe('a picture')
    expect(await history.find('bob', 'req_1')).toBeNull()
    expect(await history.blob('bob', 'hash of a picture')).toBeNull()
  })

  test('a list is newest first, in pages, and of what is asked for', async () => {
    const { history } = (await start()).store
    const bare = { mode: 'metadata', content: null } as const
    await history.add([
      entry('1', { at: nowMs - 3 }),
      entry('2', { at: nowMs - 2, keyId: 'key_2', model: 'claude' }),
      entry('3', { at: nowMs - 2, ...bare }),
      entry('4', { account: 'bob' }),
    ])
    const list = (filter: object) => history.list({ limit: 10, ...filter })
    expect(ids(await list({}))).toEqual(['4', '3', '2', '1'])
    expect(ids(await list({ account: 'ann' }))).toEqual(['3', '2', '1'])
    expect(ids(await list({ key: 'key_2' }))).toEqual(['2'])
    expect(ids(await list({ model: 'claude' }))).toEqual(['2'])
    expect(ids(await list({ hasBody: false }))).toEqual(['3'])
    expect(ids(await list({ account: 'ann', hasBody: true }))).toEqual(['2', '1'])
    expect(ids(await list({ since: nowMs - 2, until: nowMs }))).toEqual(['3', '2'])
    const first = await list({ limit: 2 })
    expect(ids(first)).toEqual(['4', '3'])
    const second = await list({ limit: 2, before: first.next })
    expect(ids(second)).toEqual(['2', '1'])
    expect(second.next).toBeNull()
  })
}

function searchTests(start: Start): void {
  test('a search finds text in unsealed bodies whatever its case, and says where it went on', async () => {
    const { history } = (await start()).store
    const sealed = { mode: 'sealed', wrappedKey: Buffer.alloc(80) } as const
    await history.add([entry('1'), entry('2', sealed), entry('3', { account: 'bob' })])
    const search = (text: string) => history.list({ account: 'ann', text, limit: 10 })
    expect(ids(await search('üNDER"\n'))).toEqual(['1'])
    expect(ids(await search('ASKED 1'))).toEqual(['1'])
    expect(ids(await search('asked 3'))).toEqual([])
    const many = Array.from({ length: 1_100 }, (_, at) => entry(`m${at}`, { at: nowMs + 1 + at }))
    await history.add(many)
    const page = await search('asked 1')
    expect(page.items).toEqual([])
    const before = page.next ?? undefined
    expect(before).toBeDefined()
    const last = await history.list({ account: 'ann', text: 'asked 1', limit: 10, before })
    expect(ids(last)).toEqual(['1'])
    expect(last.next).toBeNull()
  })

  test('a page of a search ends where much was unpacked, however small it is as stored', async () => {
    const { history } = (await start()).store
    const content = gzipSync(Buffer.alloc(30_000_000, 'a'))
    const large = ['3', '4', '5'].map((id) => entry(id, { at: nowMs + Number(id), content }))
    await history.add([entry('1', { at: nowMs + 1 }), ...large])
    const search = { account: 'ann', text: 'asked 1', limit: 10 }
    const first = await history.list(search)
    expect([ids(first), first.next]).toEqual([[], { at: nowMs + 4, requestId: 'req_4' }])
    const second = await history.list({ ...search, before: first.next ?? undefined })
    expect([ids(second), second.next]).toEqual([['1'], null])
  })
}

function deletingTests(start: Start): void {
  test('a blob goes with the last message that uses it, and another account keeps its own', async () => {
    const { history } = (await start()).store
    await history.add([entry('1', {}, ['x']), entry('2', {}, ['x', 'y'])])
    await history.add([entry('3', { account: 'bob' }, ['x'])])
    expect(await history.remove({ account: 'bob', requestId: 'req_1' }, nowMs)).toBe(0)
    expect(await history.remove({ account: 'ann', requestId: 'req_1' }, nowMs)).toBe(1)
    expect(await history.blob('ann', 'hash of x')).not.toBeNull()
    expect(await history.remove({ account: 'ann' }, nowMs)).toBe(1)
    expect(await history.blob('ann', 'hash of x')).toBeNull()
    expect(await history.blob('ann', 'hash of y')).toBeNull()
    expect(await history.blob('bob', 'hash of x')).not.toBeNull()
    expect(await history.remove({ account: 'bob' }, nowMs)).toBe(1)
    expect(await history.clean(nowMs, 1e9)).toBe(0)
  })

  test('what was asked in a time that is deleted and is written later is not kept', async () => {
    const { history } = (await start()).store
    await history.remove({ account: 'ann', since: nowMs - 10, until: nowMs - 5 }, nowMs)
    await history.add([
      entry('1', { at: nowMs - 11 }),
      entry('2', { at: nowMs - 10 }),
      entry('3', { at: nowMs - 5 }),
      entry('4', { at: nowMs - 7, account: 'bob' }),
    ])
    expect(ids(await history.list({ limit: 10 })).sort()).toEqual(['1', '3', '4'])
    // A deletion does not affect requests made after it.
    await history.remove({ account: 'ann' }, nowMs)
    await history.add([entry('5', { at: nowMs }), entry('6', { at: nowMs + 1 })])
    expect(ids(await history.list({ account: 'ann', limit: 10 }))).toEqual(['6'])
  })

  test('what is past its time goes, then the oldest until all fit', async () => {
    const { history } = (await start()).store
    const many = Array.from({ length: 450 }, (_, at) =>
      entry(`m${at}`, { at: nowMs + at, content: gzipSync(Buffer.alloc(10)) }),
    )
    await history.add([entry('old', { expiresAt: nowMs }), ...many])
    const all = await history.clean(nowMs, 1e9)
    expect(await history.find('ann', 'req_old')).toBeNull()
    const left = await history.clean(nowMs, all - 1)
    expect(left).toBeLessThan(all)
    const kept = await history.list({ limit: 1_000 })
    expect(kept.items).toHaveLength(250)
    expect(ids(kept).at(-1)).toBe('m200')
    await history.shorten('ann', 100)
    await history.clean(nowMs + 400, 1e9)
    expect(ids(await history.list({ limit: 1_000 })).at(-1)).toBe('m301')
  })
}

function settingTests(start: Start): void {
  test('what an account wants kept changes only where nobody was faster, and servers hear of it', async () => {
    const { historySettings: settings } = (await start()).store
    expect(await settings.find('ann')).toBeNull()
    const wish = { account: 'ann', mode: 'full', retentionDays: 7, publicKey: null } as const
    const before = await settings.revision()
    expect(await settings.put({ ...wish, revision: 0 })).toBe(true)
    expect(await settings.put({ ...wish, revision: 0 })).toBe(false)
    expect(await settings.put({ ...wish, mode: 'metadata', revision: 1 })).toBe(true)
    expect(await settings.find('ann')).toEqual({ ...wish, mode: 'metadata', revision: 2 })
    expect(await settings.all()).toHaveLength(1)
    await settings.remove('ann')
    expect(await settings.all()).toEqual([])
    expect(await settings.revision()).toBe(before + 3)
  })
}

test('S26 what is deleted is in no file of the data folder any more', async () => {
  const directory = makeDirectory()
  const history = openHistory({ dataDir: directory.path, databaseUrl: null })
  const random = (size: number) => Buffer.from(crypto.getRandomValues(new Uint8Array(size)))
  const secret = random(9_000)
  const canary = random(64)
  const found = () =>
    readdirSync(directory.path).filter((name) => {
      const bytes = readFileSync(join(directory.path, name))
      return (
        bytes.includes(secret.subarray(100, 140)) ||
        bytes.includes(canary) ||
        bytes.includes('parameter-canary')
      )
    })
  try {
    const picture = { id: 'p', type: 'image/png', content: secret }
    const other = Array.from({ length: 40 }, (_, at) =>
      entry(`o${at}`, { account: 'bob', content: random(700) }),
    )
    await history.add(other.slice(0, 20))
    const own = message('1', { content: canary, parameters: ['parameter-canary'] })
    await history.add([{ message: own, blobs: [picture] }, ...other.slice(20)])
    expect(found().length).toBeGreaterThan(0)
    expect(await history.remove({ account: 'ann', requestId: 'req_1' }, nowMs)).toBe(1)
    expect(found()).toEqual([])
    expect((await history.list({ limit: 100 })).items).toHaveLength(40)
  } finally {
    await history.close()
    directory.remove()
  }
})
