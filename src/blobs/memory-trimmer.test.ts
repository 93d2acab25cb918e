// Tests that memory is given back when it has grown, and less often if much of it is in use.

import { expect, test } from 'bun:test'
import { MemoryTrimmer } from './memory-trimmer.ts'

/** A process of 140 MB that keeps every byte it handles until memory is given back. */
function processOf(liveBytes: number, kept = 1) {
  let resident = 140_000_000
  let collected = 0
  const trimmer = new MemoryTrimmer({
    collect() {
      collected++
      resident = 140_000_000
    },
    residentBytes: () => resident,
    liveBytes: () => liveBytes,
  })
  const pass = (bytes: number) => {
    let most = resident
    for (let left = bytes; left > 0; left -= 65_536) {
      resident += 65_536 * kept
      trimmer.passed(65_536)
      most = Math.max(most, resident)
    }
    return { collected, most }
  }
  return pass
}

test('whatever passes, memory does not grow by more than 50 MB', () => {
  const { collected, most } = processOf(1_000_000)(2_000_000_000)
  expect(most).toBeLessThan(190_000_000)
  expect(collected).toBeGreaterThan(40)
})

test('nothing is done where the runtime keeps memory low by itself', () => {
  expect(processOf(1_000_000, 0)(2_000_000_000).collected).toBe(0)
})

test('where much is in use four times as much may gather', () => {
  const { collected, most } = processOf(50_000_000)(2_000_000_000)
  expect(collected).toBeWithin(8, 12)
  expect(most).toBeLessThan(360_000_000)
})

test('a process that is small is let be', () => {
  let [resident, collected] = [80_000_000, 0]
  const trimmer = new MemoryTrimmer({
    collect: () => void collected++,
    residentBytes: () => resident,
    liveBytes: () => 1_000_000,
  })
  for (; resident < 150_000_000; resident += 1_000_000) trimmer.passed(5_000_000)
  expect(collected).toBe(0)
  for (; resident < 160_000_000; resident += 1_000_000) trimmer.passed(5_000_000)
  expect(collected).toBeGreaterThan(0)
})
