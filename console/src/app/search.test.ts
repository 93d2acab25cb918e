// Tests parameters of addresses: an invalid one never reaches a page.

import { expect, test } from 'bun:test'
import { list, oneOf, parseSearch, searchOf, stringifySearch, time, wholeNumber } from './search.ts'

const search = searchOf({ since: time, range: oneOf('1h', '24h'), model: list, most: wholeNumber })

test('what an address says is read by its kind', () => {
  const given = { since: '2026-11-25T00:00:00Z', range: '24h', model: 'a,b%2Cc', most: '12' }
  expect(search(given)).toEqual({
    since: '2026-11-25T00:00:00Z',
    range: '24h',
    model: ['a', 'b,c'],
    most: 12,
  })
})

test('what is broken stands as undefined, so that the router does not take it from the address; what is not there is left out', () => {
  expect(search({ since: 'yesterday', range: '9y', other: 'x' })).toStrictEqual({
    since: undefined,
    range: undefined,
  } as never)
})

test('a list has the empty value too, and of too many values the first', () => {
  for (const model of [[''], ['', 'a'], ['%none', '%', 'a,b']])
    expect(search(parseSearch(stringifySearch({ model })))).toEqual({ model })
  const many = Array.from({ length: 51 }, (_, at) => `m${at}`)
  expect(search({ model: many })).toEqual({ model: many.slice(0, 50) })
  expect(search({ model: '' })).toStrictEqual({ model: undefined } as never)
})
