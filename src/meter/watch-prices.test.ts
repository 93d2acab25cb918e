// Tests that a card set by another process takes effect here soon, and that an outage changes nothing.

import { expect, test } from 'bun:test'
import { memoryPrices, priceRow } from '../../test/support/price-table.ts'
import type { PriceRow } from '../store/ledger.ts'
import { watchPrices } from './watch-prices.ts'

/** A promise and the functions that settle it. */
const event = <T>() => Promise.withResolvers<T>()

test('new versions are passed on whole, after an outage too, which is reported once', async () => {
  const table = memoryPrices()
  await table.append([priceRow({ version: 0, model: 'a' })])
  let notified = event<readonly PriceRow[]>()
  const errors: unknown[] = []
  let failed = event<unknown>()
  let refuses = true
  const watch = watchPrices(table, await table.all(), {
    onChange(rows) {
      if (refuses) throw new Error('not taken')
      notified.resolve(rows)
    },
    onError(error) {
      errors.push(error)
      failed.resolve(error)
    },
    pollMs: 1,
  })
  await table.append([priceRow({ version: 0, model: 'b' })])
  expect(await failed.promise).toEqual(new Error('not taken'))
  refuses = false
  expect((await notified.promise).map(({ model }) => model)).toEqual(['a', 'b'])

  failed = event()
  notified = event()
  table.broken = new Error('away')
  expect(await failed.promise).toEqual(new Error('away'))
  table.broken = null
  await table.append([priceRow({ version: 0, model: 'c' })])
  expect((await notified.promise).length).toBe(3)
  expect(errors.length).toBe(2)
  watch.close()
})

test('once closed it tells nothing of what it was reading', async () => {
  const table = memoryPrices()
  const reading = event<void>()
  const rows = event<readonly PriceRow[]>()
  let calls = 0
  const watch = watchPrices(
    {
      ...table,
      newest: async () => 1,
      all: () => {
        reading.resolve()
        return rows.promise
      },
    },
    [],
    {
      onChange: () => {
        calls++
      },
      onError: (error) => {
        throw error
      },
      pollMs: 1,
    },
  )
  await reading.promise
  watch.close()
  rows.resolve([priceRow({ version: 1, model: 'a' })])
  await rows.promise
  await Promise.resolve()
  expect(calls).toBe(0)
})
