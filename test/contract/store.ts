// The contract that every store must meet on every engine; store.test.ts runs it on each.

import { afterEach, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { emptyRow } from '../../src/history/row.ts'
import { type KeyRow, unrestrictedKey } from '../../src/store/keys.ts'
import type { Settlement } from '../../src/store/ledger.ts'
import { RowRefused, type Store } from '../../src/store/store.ts'
import type { UsageRow } from '../../src/store/usage-row.ts'

export interface Opened {
  readonly store: Store
  /** A second store on the same data, as another process would have. */
  open(): Promise<Store>
  /** Closes all and removes the data. */
  dispose(): Promise<void>
}

export function keyRow(change: Partial<KeyRow> = {}): KeyRow {
  return {
    ...unrestrictedKey,
    id: 'key_1',
    name: 'laptop',
    account: 'ann',
    group: 'default',
    hash: 'a'.repeat(64),
    hint: 'sk-tg-…abcd',
    createdAt: 1_763_700_000_000,
    ...change,
  }
}

export function usageRow(change: Partial<UsageRow> = {}): UsageRow {
  return {
    ...emptyRow,
    requestId: 'req_1',
    at: 1_763_700_000_000,
    account: 'ann',
    key: 'key_1',
    keyName: 'laptop',
    group: 'default',
    operation: 'chat',
    modelAsked: 'gpt-4o-mini',
    modelServed: 'gpt-4o-mini-2024-07-18',
    channel: 'main',
    vendor: 'openai',
    attempts: 1,
    stream: true,
    input: 10,
    cachedInput: 3,
    output: 20,
    reasoning: 5,
    usageSource: 'reported',
    ttftMs: 120,
    durationMs: 900,
    status: 200,
    ...change,
  }
}

/** A finished request of a node that leases nothing. */
export function settlement(change: Partial<Settlement> = {}): Settlement {
  return {
    node: 'no-node',
    epoch: 1,
    row: usageRow(),
    fromLeaseNano: 0n,
    capNano: null,
    idempotency: null,
    ...change,
  }
}

/** Settles rows that cost nothing. */
export async function append(store: Store, rows: readonly UsageRow[]): Promise<void> {
  await store.settlements.settle(rows.map((row) => settlement({ row })))
}

const failed: Partial<UsageRow> = {
  modelServed: null,
  channel: null,
  vendor: null,
  attempts: 0,
  stream: false,
  usageSource: 'none',
  ttftMs: null,
  status: 503,
  errorCode: 'service_unavailable',
  errorCause: 'every channel is down',
}

/** Every field of a row except money, which settling sets. */
const fullRow: Partial<UsageRow> = {
  cacheWrite: 1,
  cacheWrite1h: 2,
  audioInput: 3,
  audioOutput: 4,
  imageInput: 5,
  imageOutput: 6,
  units: { 'image/1024x1024': 2, second: 12.5 },
  usageSource: 'drained',
  priceVersion: 3_000_000_000,
  multiplierPpm: 1_500_000,
  vendorCostNano: 9_223_372_036_854_775_807n,
  failedAttempts: [{ channel: 'other', kind: 'timeout', costNano: '12' }],
  clientAddress: '2001:db8::7',
  clientRequestId: 'order-17',
  traceId: '4bf92f3577b34da6a3ce929d0e0e4736',
}

/** Runs the contract; `make` gives an empty store each time. */
export function storeContract(engine: Store['engine'], make: () => Promise<Opened>): void {
  describe(`the store on ${engine}`, () => {
    let opened: Opened | null = null
    const start = async () => {
      opened = await make()
      return opened.store
    }
    afterEach(async () => {
      await opened?.dispose()
      opened = null
    })

    test('says which engine it is and that it is there', async () => {
      const store = await start()
      expect(store.engine).toBe(engine)
      await store.ping()
    })

    keyTests(start)
    accountTests(start)
    usageTests(start)
    foreignTextTests(start)
    listTests(start)

    test('two stores on the same data see each other', async () => {
      const store = await start()
      const other = await opened?.open()
      if (other === undefined) throw new Error('not opened')
      await store.accounts.ensure('ann', 1)
      const before = await other.keys.revision()
      await store.keys.insert(keyRow())
      expect(await other.keys.revision()).toBeGreaterThan(before)
      expect(await other.keys.all()).toEqual([keyRow()])
      await append(other, [usageRow()])
      expect(await store.usage.list({ limit: 10 })).toEqual([usageRow()])
    })
  })
}

function keyTests(start: () => Promise<Store>): void {
  test('keys come back as they went in, oldest first', async () => {
    const store = await start()
    await store.accounts.ensure('ann', 1)
    const plain = keyRow()
    const full = keyRow({
      id: 'key_0',
      name: 'o\'hara \u{1F511} -- "x"',
      hash: 'b'.repeat(64),
      createdAt: plain.createdAt + 1,
      expiresAt: 4_102_444_800_000,
      disabledAt: 1_763_700_000_001,
      models: ['gpt-4o*', 'a"b\\c'],
      requestsPerMinute: 60,
      tokensPerMinute: 3_000_000_000,
      concurrentRequests: 0,
    })
    await store.keys.insert(full)
    await store.keys.insert(plain)
    expect(await store.keys.all()).toEqual([plain, full])
  })

  test('a key is disabled once, and keeps the time', async () => {
    const store = await start()
    await store.accounts.ensure('ann', 1)
    await store.keys.insert(keyRow())
    expect(await store.keys.disable('key_1', 5)).toBe(true)
    expect(await store.keys.disable('key_1', 9)).toBe(true)
    expect(await store.keys.disable('key_2', 9)).toBe(false)
    expect((await store.keys.all())[0]?.disabledAt).toBe(5)
  })

  test('a removed key is gone', async () => {
    const store = await start()
    await store.accounts.ensure('ann', 1)
    await store.keys.insert(keyRow())
    expect(await store.keys.remove('key_1')).toBe(true)
    expect(await store.keys.remove('key_1')).toBe(false)
    expect(await store.keys.all()).toEqual([])
  })

  test('the revision grows with each change and stands still without', async () => {
    const store = await start()
    await store.accounts.ensure('ann', 1)
    const seen = [await store.keys.revision()]
    await store.keys.insert(keyRow())
    seen.push(await store.keys.revision())
    await store.keys.disable('key_1', 5)
    seen.push(await store.keys.revision())
    await store.keys.remove('key_1')
    seen.push(await store.keys.revision())
    expect(seen.every((value, index) => index === 0 || value > (seen[index - 1] ?? 0))).toBe(true)
    await store.keys.all()
    expect(await store.keys.revision()).toBe(seen.at(-1) ?? -1)
  })

  test('a key of an unknown account, or with a taken hash, is refused', async () => {
    const store = await start()
    await expect(store.keys.insert(keyRow())).rejects.toBeInstanceOf(RowRefused)
    await store.accounts.ensure('ann', 1)
    await store.keys.insert(keyRow())
    await expect(store.keys.insert(keyRow({ id: 'key_2' }))).rejects.toBeInstanceOf(RowRefused)
    expect(await store.keys.all()).toHaveLength(1)
  })
}

function accountTests(start: () => Promise<Store>): void {
  test('an account is made with its wallet', async () => {
    const store = await start()
    expect(await store.journal.wallet('zoe')).toBeNull()
    await store.accounts.ensure('zoe', 2)
    const empty = { account: 'zoe', postedNano: 0n, leasedNano: 0n, heldNano: 0n }
    expect(await store.journal.wallet('zoe')).toEqual(empty)
  })

  test('an account is made once, whoever is first', async () => {
    const store = await start()
    const made = await Promise.all(Array.from({ length: 8 }, () => store.accounts.ensure('ann', 1)))
    expect(made.filter((each) => each)).toHaveLength(1)
  })

  test('an account is made once', async () => {
    const store = await start()
    expect(await store.accounts.ensure('zoe', 2)).toBe(true)
    expect(await store.accounts.ensure('ann', 1)).toBe(true)
    expect(await store.accounts.ensure('ann', 9)).toBe(false)
    expect(await store.accounts.ensure('Bob', 3)).toBe(true)
    expect(await store.accounts.all()).toEqual([
      { id: 'Bob', createdAt: 3 },
      { id: 'ann', createdAt: 1 },
      { id: 'zoe', createdAt: 2 },
    ])
  })
}

function usageTests(start: () => Promise<Store>): void {
  test('usage comes back as it went in; numbers are numbers', async () => {
    const store = await start()
    const large = usageRow({ requestId: 'req_2', input: 9_007_199_254_740_991, ...failed })
    const full = usageRow({ requestId: 'req_3', ...fullRow })
    await append(store, [usageRow(), large, full])
    expect(await store.usage.list({ limit: 10 })).toEqual([full, large, usageRow()])
  })

  test('a request appended again changes nothing', async () => {
    const store = await start()
    await append(store, [usageRow()])
    await append(store, [usageRow({ output: 999 }), usageRow({ requestId: 'req_2' })])
    const outputs = (await store.usage.list({ limit: 10 })).map((row) => row.output)
    expect(outputs).toEqual([20, 20])
  })

  test('an append of nothing, and one of 1,000 rows', async () => {
    const store = await start()
    await append(store, [])
    const rows = Array.from({ length: 1000 }, (_, index) =>
      usageRow({ requestId: `req_${index}`, at: 1_763_700_000_000 + index }),
    )
    await append(store, rows)
    expect(await store.usage.list({ limit: 1000 })).toEqual(rows.toReversed())
  })

  test('one row that cannot be kept refuses the whole append, and says so', async () => {
    const store = await start()
    const bad = [
      usageRow({ requestId: 'bad', output: Number.NaN }),
      usageRow({ requestId: 'bad', output: 1.5 }),
      usageRow({ requestId: 'bad', status: Number.POSITIVE_INFINITY }),
      usageRow({ requestId: 'bad', durationMs: Number.NaN }),
      usageRow({ requestId: 'bad', chargeNano: -1n }),
      usageRow({ requestId: 'bad', vendorCostNano: 9_223_372_036_854_775_808n }),
      usageRow({ requestId: 'bad', account: undefined as unknown as string }),
      usageRow({ requestId: '' }),
      usageRow({ requestId: 'a\0b' }),
      usageRow({ requestId: 'bad', usageSource: 'guessed' as 'counted' }),
    ]
    for (const row of bad) {
      const refused = append(store, [usageRow(), row])
      await expect(refused).rejects.toBeInstanceOf(RowRefused)
    }
    expect(await store.usage.list({ limit: 10 })).toEqual([])
  })

  test('fractions of a millisecond are rounded', async () => {
    const store = await start()
    await append(store, [usageRow({ at: 1000.6, ttftMs: 0.4, durationMs: 12.5 })])
    const [row] = await store.usage.list({ limit: 1 })
    expect([row?.at, row?.ttftMs, row?.durationMs]).toEqual([1001, 0, 13])
  })
}

function foreignTextTests(start: () => Promise<Store>): void {
  test('NUL, half a surrogate pair and endless text are kept as the engine can', async () => {
    const store = await start()
    await append(store, [
      usageRow({ modelAsked: 'a\0b', modelServed: 'x\uD800y', errorCause: 'z'.repeat(100_000) }),
    ])
    const [row] = await store.usage.list({ limit: 1, model: 'a\0b' })
    expect(row?.modelAsked).toBe('a\uFFFDb')
    expect(row?.modelServed).toBe('x\uFFFDy')
    expect(row?.errorCause).toBe('z'.repeat(1024))
  })

  test('any text of a client is kept and found, never read as SQL', async () => {
    const store = await start()
    let count = 0
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'binary', maxLength: 50 }), async (model) => {
        count += 1
        const requestId = `req_${count}`
        await append(store, [usageRow({ requestId, at: count, modelAsked: model })])
        const [row] = await store.usage.list({ limit: 1, model, since: count })
        expect(row?.requestId).toBe(requestId)
        expect(row?.modelAsked).toBe(model.toWellFormed().replaceAll('\0', '\uFFFD'))
      }),
      { numRuns: 200 },
    )
  })
}

function listTests(start: () => Promise<Store>): void {
  const rows = [
    usageRow({ requestId: 'a', at: 100 }),
    usageRow({ requestId: 'b', at: 200, account: 'bob', key: 'key_2' }),
    usageRow({ requestId: 'c', at: 200, modelAsked: 'o4' }),
    usageRow({ requestId: 'd', at: 300, key: 'key_2' }),
  ]

  test('the list is newest first, bounded and filtered', async () => {
    const store = await start()
    await append(store, rows)
    const ids = async (filter: Omit<Parameters<Store['usage']['list']>[0], 'limit'>) =>
      (await store.usage.list({ limit: 10, ...filter })).map((row) => row.requestId).join('')
    expect(await ids({})).toBe('dcba')
    expect((await store.usage.list({ limit: 2 })).map((row) => row.requestId).join('')).toBe('dc')
    expect(await ids({ account: 'ann' })).toBe('dca')
    expect(await ids({ key: 'key_2' })).toBe('db')
    expect(await ids({ model: 'o4' })).toBe('c')
    expect(await ids({ since: 200 })).toBe('dcb')
    expect(await ids({ until: 200 })).toBe('a')
    expect(await ids({ status: 503 })).toBe('')
    expect(await ids({ status: 200, since: 200, until: 300 })).toBe('cb')
    expect(await ids({ account: 'ann', key: 'key_2', since: 301 })).toBe('')
    expect(await ids({ before: { at: 200, requestId: 'c' } })).toBe('ba')
  })

  test('a row is found by its id, for its own account only', async () => {
    const store = await start()
    await append(store, rows)
    expect(await store.usage.find('bob', 'b')).toEqual(rows[1] ?? null)
    expect(await store.usage.find('ann', 'b')).toBeNull()
    expect(await store.usage.find('ann', 'z')).toBeNull()
  })

  test('pages put together are the whole list', async () => {
    const store = await start()
    await append(store, rows)
    const paged: UsageRow[] = []
    for (;;) {
      const last = paged.at(-1)
      const before = last && { at: last.at, requestId: last.requestId }
      const page = await store.usage.list({ limit: 1, ...(before && { before }) })
      if (page.length === 0) break
      paged.push(...page)
    }
    expect(paged).toEqual([...(await store.usage.list({ limit: 10 }))])
  })
}
