// Tests the network of an address, however the address is written.

import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { networkOf } from './network.ts'

describe('a network', () => {
  const cases: readonly (readonly [string | null, string])[] = [
    ['192.0.2.7', '192.0.2.0/24'],
    ['192.0.2.255', '192.0.2.0/24'],
    ['::ffff:192.0.2.7', '192.0.2.0/24'],
    ['::FFFF:c000:207', '192.0.2.0/24'],
    ['0:0:0:0:0:ffff:192.0.2.7', '192.0.2.0/24'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['2001:0DB8:0000:0000:ffff:ffff:ffff:ffff', '2001:db8:0:0::/64'],
    ['2001:db8:0:1::', '2001:db8:0:1::/64'],
    ['::1', '0:0:0:0::/64'],
    ['::', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    [null, 'unknown'],
    ['', 'unknown'],
    ['gateway.example', 'unknown'],
    ['192.0.2', 'unknown'],
  ]
  for (const [address, network] of cases) {
    test(`of ${address} is ${network}`, () => {
      expect(networkOf(address)).toBe(network)
    })
  }

  test('is one for every address within a /64, whatever way it is written', () => {
    const group = fc.integer({ min: 0, max: 0xffff })
    fc.assert(
      fc.property(
        fc.array(group, { minLength: 4, maxLength: 4 }),
        fc.array(group, { minLength: 4, maxLength: 4 }),
        (prefix, host) => {
          const groups = [...prefix, ...host]
          const plain = groups.map((each) => each.toString(16)).join(':')
          const padded = groups
            .map((each) => each.toString(16).padStart(4, '0').toUpperCase())
            .join(':')
          const first = `${prefix.map((each) => each.toString(16)).join(':')}:0:0:0:1`
          expect(networkOf(padded)).toBe(networkOf(plain))
          expect(networkOf(plain)).toBe(networkOf(first))
        },
      ),
    )
  })
})
