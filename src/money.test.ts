// Amounts are read and printed exactly, and rounding goes one way.

import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { ceilDiv, formatUnits, maxNano, nanoPerUnit, parseUnits } from './money.ts'

const nano = fc.bigInt({ min: 0n, max: maxNano })

describe('decimals', () => {
  test('what is printed is read back, to the nano', () => {
    fc.assert(fc.property(nano, (amount) => expect(parseUnits(formatUnits(amount))).toBe(amount)))
  })

  test('digits mean what they say', () => {
    const digits = (max: number) =>
      fc.array(fc.nat(9), { minLength: 1, maxLength: max }).map((list) => list.join(''))
    fc.assert(
      fc.property(digits(9), digits(9), (units, fraction) => {
        const moved = BigInt(`${units}${fraction}`) * 10n ** BigInt(9 - fraction.length)
        expect(parseUnits(`${units}.${fraction}`)).toBe(moved)
        expect(parseUnits(units)).toBe(BigInt(units) * nanoPerUnit)
      }),
    )
  })

  test('a debt is printed with its sign, and without zeros at the end', () => {
    fc.assert(
      fc.property(nano, (amount) => {
        const text = formatUnits(amount)
        expect(text).toMatch(/^\d+(\.\d*[1-9])?$/)
        expect(formatUnits(-amount)).toBe(amount === 0n ? '0' : `-${text}`)
      }),
    )
    expect([formatUnits(-3_500_000_000n), formatUnits(123_000n)]).toEqual(['-3.5', '0.000123'])
  })

  test.each([
    '',
    '-1',
    '+1',
    '1.',
    '.5',
    '1e3',
    ' 1',
    '1 ',
    '1,5',
    '0x10',
    '1.0000000001',
    '9223372036.854775808',
    '99999999999',
    'NaN',
    '1\n',
    '１',
  ])('%j is refused', (text) => {
    expect(parseUnits(text)).toBeNull()
  })

  test('the largest amount the database can hold is read', () => {
    expect(parseUnits('9223372036.854775807')).toBe(maxNano)
  })
})

test('a quotient is rounded up to the least whole number that covers it', () => {
  fc.assert(
    fc.property(
      fc.bigInt({ min: 0n, max: maxNano * 1_000_000n }),
      fc.bigInt({ min: 1n, max: 10n ** 18n }),
      (dividend, divisor) => {
        const quotient = ceilDiv(dividend, divisor)
        expect(quotient * divisor >= dividend).toBe(true)
        expect(quotient === 0n || (quotient - 1n) * divisor < dividend).toBe(true)
      },
    ),
  )
})
