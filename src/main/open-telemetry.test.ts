// Tests how numbers in OpenTelemetry's variables are read.

import { expect, test } from 'bun:test'
import { numberIn } from './open-telemetry.ts'

test.each([
  [undefined, null],
  ['', null],
  [' ', null],
  ['abc', null],
  ['0', 0],
  ['0.25', 0.25],
  ['5000', 5_000],
])('%p is %p', (text, value) => {
  expect(numberIn(text)).toBe(value)
})
