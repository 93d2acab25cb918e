// Tests money and counts as text: rounding, and that no digits are made up.

import { expect, test } from 'bun:test'
import {
  briefMoney,
  briefTime,
  decimalText,
  duration,
  exactMoney,
  isAmount,
  nanoOfUnits,
  percent,
  providerAmount,
  rateText,
  shortCount,
  shortDuration,
  shortId,
  shortMoney,
  unitsOfNano,
} from './format.ts'

test('money has two decimals from 1 up and four significant digits below', () => {
  const shown = (nano: string, down = false) => shortMoney(nano, 'USD', 'en', down)
  expect(shown('0')).toBe('$0.00')
  expect(shown('1234567890000')).toBe('$1,234.57')
  expect(shown('-2500000000')).toBe('−$2.50')
  expect(shown('23500')).toBe('$0.0000235')
  expect(shown('123456789')).toBe('$0.1235')
  expect(shown('1')).toBe('$0.000000001')
  expect(shown('999999999')).toBe('$1.00')
  expect(shown('500000000')).toBe('$0.50')
})

test('a balance is never shown larger than it is', () => {
  const shown = (nano: string) => shortMoney(nano, 'USD', 'en', true)
  expect(shown('99999060000')).toBe('$99.99')
  expect(shown('999999999')).toBe('$0.9999')
})

test('a balance is shortened without rounding it up', () => {
  const shown = (nano: string) => briefMoney(nano, 'USD', 'en')
  expect(shown('9999999000000')).toBe('$9,999.99')
  expect(shown('25000000000000')).toBe('$25.00\u00a0K')
  expect(shown('999999999000000')).toBe('$999.99\u00a0K')
  expect(shown('1239999000000000')).toBe('$1.23\u00a0M')
  expect(shown('-12345678900000000000')).toBe('−$12.34\u00a0B')
})

test('exact money has every digit and at least two decimals', () => {
  expect(exactMoney('99999060000', 'USD', 'en')).toBe('$99.99906')
  expect(exactMoney('-1000000000', 'CNY', 'zh-CN')).toBe('−¥1.00')
  expect(exactMoney('1', 'POINTS', 'en')).toBe('POINTS\u00a00.000000001')
})

test('counts are short from ten thousand on', () => {
  expect(shortCount(9_999, 'en')).toBe('9,999')
  expect(shortCount(12_420, 'en')).toBe('12.4\u00a0K')
  expect(shortCount(3_100_000, 'en')).toBe('3.1\u00a0M')
})

test('numbers of a column have the same decimals, those of an axis as few as they need', () => {
  const shown = (pad: boolean) => [
    shortCount(61_000_000, 'en', pad),
    duration(6_000, 'en', pad),
    ...[0, 0.004, 0.0514, 0.35, 1].map((ratio) => percent(ratio, 'en', pad)),
  ]
  const nbsp = (texts: readonly string[]) => texts.map((text) => text.replace(' ', '\u00a0'))
  expect(shown(true)).toEqual(
    nbsp(['61.0 M', '6.0 s', '0 %', '0.40 %', '5.14 %', '35.0 %', '100 %']),
  )
  expect(shown(false)).toEqual(nbsp(['61 M', '6 s', '0 %', '0.4 %', '5.14 %', '35 %', '100 %']))
})

test('less than all is never shown as all', () => {
  const shown = (ratio: number) => percent(ratio, 'en', true).replace('\u00a0', ' ')
  expect([0.9996, 0.99999, 0.999, 0.9984].map(shown)).toEqual([
    '99.9 %',
    '99.9 %',
    '99.9 %',
    '99.8 %',
  ])
})

test('short ids still differ', () => {
  expect(shortId('key_VW8fRgeR5NHTREET')).toBe('key_VW8f…REET')
  expect(shortId('default')).toBe('default')
  const ids = ['req_01a210828fe40001056746008f23', 'req_01a210828fe50001056747008f23']
  expect(ids.map(shortId)).toEqual(['req_…10828fe4…', 'req_…10828fe5…'])
})

test.each([
  ['12.5', '12500000000'],
  ['100', '100000000000'],
  ['0.000000001', '1'],
  ['0', '0'],
  ['9007199.254740993', '9007199254740993'],
])('%s units are %s nano-units, and the other way round', (units, nano) => {
  expect(nanoOfUnits(units)).toBe(nano)
  expect(unitsOfNano(nano)).toBe(units)
})

test('rates of tokens are grouped as other numbers, and have one decimal', () => {
  expect([96.34, 3402, 0].map((rate) => rateText(rate, 'en'))).toEqual(['96.3', '3,402.0', '0.0'])
  expect(rateText(3402.5, 'zh-CN')).toBe('3,402.5')
  expect(shortDuration(1234.567, 'en')).toBe('1,234.57\u00a0ms')
})

test('a time in a column has the year only if that is not the present one, in its zone', () => {
  const nowMs = Date.parse('2026-12-31T23:30:00Z')
  const shown = (at: string, locale = 'en', zone = 'UTC') => briefTime(at, nowMs, locale, zone)
  expect(shown('2026-11-28T09:04:05Z')).toBe('Nov 28, 09:04:05')
  expect(shown('2026-11-28T09:04:05Z', 'zh-CN')).toBe('11月28日 09:04:05')
  expect(shown('2025-11-28T09:04:05Z')).toBe('Nov 28, 2025, 09:04:05')
  expect(shown('2026-11-28T09:04:05Z', 'en', 'Asia/Shanghai')).toBe('Nov 28, 2026, 17:04:05')
})

test('an amount lies within its bounds and is written in plain digits', () => {
  const credit = { least: '0', isAboveLeast: true, most: '9223372036', decimals: 9 }
  const taken = (text: string, bounds = credit) => isAmount(text, bounds)
  for (const text of ['0.000000001', ' 12.5 ', '1000000000', '9223372036', '9223372036.000000000'])
    expect(taken(text), text).toBeTrue()
  const refused = ['', '0', '0.0', '-1', '+1', '1e2', '1,000', '.5', '5.', '1.0000000001', '1.2.3']
  for (const text of [...refused, '9223372036.000000001', '99999999999999999999'])
    expect(taken(text), text).toBeFalse()
  const offer = { least: '1', isAboveLeast: false, most: '10000', decimals: 2 }
  expect(['1', '10000.00', '0.99', '10000.01', '1.005'].map((text) => taken(text, offer))).toEqual([
    true,
    true,
    false,
    false,
    false,
  ])
  expect(decimalText('9999999.99', 'en')).toBe('9,999,999.99')
})

test('an amount at a provider is grouped and keeps its decimals', () => {
  expect(providerAmount('2391.50', 'en')).toBe('2,391.50')
  expect(providerAmount('99999999.99', 'zh-CN')).toBe('99,999,999.99')
  expect(providerAmount('500', 'en')).toBe('500')
})
