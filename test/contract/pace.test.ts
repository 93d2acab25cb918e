// Tests how often something may be requested, on both engines.

import { expect, test } from 'bun:test'
import { eventually } from '../support/clients.ts'
import { onEachEngine } from './engines.ts'

onEachEngine('pace', (start) => {
  test('so many uses at once, on whichever process, then evenly', async () => {
    const { store, open } = await start()
    const other = await open()
    const take = (each: number, subject = 'ann', spanMs = 3_600_000) =>
      (each % 2 === 0 ? store : other).pace.take(subject, { count: 5, spanMs })
    const waits = await Promise.all(Array.from({ length: 20 }, (_, each) => take(each)))
    expect(waits.filter((wait) => wait === 0)).toHaveLength(5)
    for (const wait of waits.filter((each) => each > 0)) {
      expect(wait).toBeGreaterThan(600_000)
      expect(wait).toBeLessThanOrEqual(720_000)
    }
    expect(await take(0, 'bob')).toBe(0)
    await store.pace.prune()
    expect(await take(0)).toBeGreaterThan(0)
    expect(await take(0, 'soon over', 5)).toBe(0)
    await eventually(async () => {
      await store.pace.prune()
      return (await take(1, 'soon over', 5)) === 0 || undefined
    })
  })
})
