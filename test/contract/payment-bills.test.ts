// Tests which process compares a provider's bill, on both engines.

import { expect, test } from 'bun:test'
import { onEachEngine } from './engines.ts'

onEachEngine('bills of providers', (start) => {
  test('one process has a bill, another takes it over in time, and nobody once it was compared', async () => {
    const { store, open } = await start()
    const nodes = [store, await open(), await open()]
    const bill = { provider: 'alipay', day: '2026-11-22' } as const
    const takes = (nowMs: number) =>
      Promise.all(nodes.map((node) => node.bills.take(bill, nowMs, nowMs + 10)))
    const count = async (nowMs: number) => (await takes(nowMs)).filter((each) => each).length
    expect(await count(100)).toBe(1)
    expect(await count(109)).toBe(0)
    expect(await count(110)).toBe(1)
    await store.bills.again(bill, 111, 9)
    expect(await count(120)).toBe(1)
    await store.bills.done(bill, 121, 3)
    await store.bills.again(bill, 122, 2)
    expect(await store.bills.differing(121)).toEqual([{ ...bill, comparedAt: 122, differences: 2 }])
    expect(await count(1_000)).toBe(0)
    expect(await store.bills.take({ ...bill, day: '2026-11-23' }, 1, 2)).toBeTrue()
    expect(await store.bills.take({ ...bill, provider: 'wechatpay' }, 1, 2)).toBeTrue()
  })
})
