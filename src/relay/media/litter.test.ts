// Memory is taken back after so many bytes, and less often where much is in use.

import { expect, test } from 'bun:test'
import { Litter } from './litter.ts'

function litterOf(liveBytes: number) {
  let collected = 0
  const litter = new Litter({ collect: () => void collected++, liveBytes: () => liveBytes })
  return (bytes: number) => {
    for (let left = bytes; left > 0; left -= 65_536) litter.passed(65_536)
    return collected
  }
}

test('every 32 MiB where little is in use', () => {
  const passed = litterOf(1_000_000)
  expect(passed(33_000_000)).toBe(0)
  expect(passed(1_000_000)).toBe(1)
  expect(passed(10 * 33_554_432)).toBe(11)
})

test('after four times what is in use', () => {
  const passed = litterOf(100_000_000)
  expect(passed(34_000_000)).toBe(1)
  expect(passed(399_000_000)).toBe(1)
  expect(passed(2_000_000)).toBe(2)
})
