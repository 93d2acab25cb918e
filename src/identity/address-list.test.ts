// Tests which addresses a list contains.

import { expect, test } from 'bun:test'
import { AddressList } from './address-list.ts'

const list = new AddressList(['10.0.0.0/8', '192.0.2.7', '2001:db8::/32', '::1'])

test.each(['10.255.0.1', '192.0.2.7', '2001:db8:ffff::1', '::1'])('it has %s', (address) => {
  expect(list.has(address)).toBe(true)
})

test.each(['11.0.0.1', '192.0.2.8', '2001:db9::1', '::2', 'unknown', ''])(
  'it does not have %p',
  (address) => {
    expect(list.has(address)).toBe(false)
  },
)

test('a range of nothing but its prefix has every address of its kind, and none of the other', () => {
  const all = new AddressList(['0.0.0.0/0'])
  expect(all.has('203.0.113.9')).toBe(true)
  expect(all.has('2001:db8::1')).toBe(false)
})
