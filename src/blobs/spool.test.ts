// Tests that payloads come back unchanged wherever they are stored, that no file of them remains, and that nothing is
// read past the end.

import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import { Buffer } from 'node:buffer'
import { mkdtempSync, readdirSync, readlinkSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { MediaFault } from '../vendors/media.ts'
import { createSpools } from './spool.ts'

const root = mkdtempSync(join(tmpdir(), 'tollgate-spool-'))
let folder = ''
let count = 0
beforeEach(() => {
  folder = join(root, String(count++), 'tmp')
})
afterAll(() => rmSync(root, { recursive: true }))

const plenty = 1_000_000_000

/** Files below the folder that this process has open. */
function openFiles(): number {
  return readdirSync('/proc/self/fd').filter((file) => {
    try {
      return readlinkSync(`/proc/self/fd/${file}`).startsWith(folder)
    } catch {
      // The descriptor that listed the others.
      return false
    }
  }).length
}

test('what was put in comes out, in any pieces and from any place', () => {
  const spools = createSpools(folder)
  const piece = fc.tuple(
    fc.nat(255),
    fc.oneof(fc.nat(100), fc.integer({ min: 20_000, max: 90_000 })),
  )
  fc.assert(
    fc.property(
      fc.array(fc.array(piece, { maxLength: 5 }), { maxLength: 4 }),
      fc.nat(),
      fc.nat(),
      (payloads, from, length) => {
        const spool = spools.open(plenty)
        const keepers = payloads.map((_, at) => spool.keeper(`type/${at}`))
        const wanted = payloads.map((pieces) =>
          Buffer.concat(pieces.map(([byte, size]) => Buffer.alloc(size, byte))),
        )
        // A piece of each by turns.
        for (let at = 0; at < 5; at++)
          for (const [index, pieces] of payloads.entries()) {
            const [byte, size] = pieces[at] ?? [0, 0]
            keepers[index]?.push(Buffer.alloc(size, byte))
          }
        for (const [index, keeper] of keepers.entries()) {
          const payload = keeper.end()
          const bytes = wanted[index] ?? Buffer.alloc(0)
          expect(payload.type).toBe(`type/${index}`)
          expect(payload.size).toBe(bytes.length)
          expect(Buffer.from(payload.read(0, payload.size)).equals(bytes)).toBe(true)
          const start = bytes.length === 0 ? 0 : from % bytes.length
          const end = start + (length % (bytes.length - start + 1))
          expect(Buffer.from(payload.read(start, end)).equals(bytes.subarray(start, end))).toBe(
            true,
          )
        }
        expect(spools.usedBytes).toBeLessThanOrEqual(
          wanted.reduce((sum, each) => sum + each.length, 0),
        )
        spool.close()
        expect(spools.usedBytes).toBe(0)
      },
    ),
    { numRuns: 60 },
  )
  expect(openFiles()).toBe(0)
})

test('files have no name, and are closed with their spool', () => {
  const spool = createSpools(folder).open(plenty)
  for (let each = 0; each < 3; each++) {
    const keeper = spool.keeper('a/b')
    keeper.push(Buffer.alloc(100_000, each))
    expect(keeper.end().size).toBe(100_000)
  }
  expect(readdirSync(folder)).toEqual([])
  expect(openFiles()).toBe(3)
  spool.close()
  spool.close()
  expect(openFiles()).toBe(0)
})

test('many small payloads do not add up in memory', () => {
  const spools = createSpools(folder)
  const spool = spools.open(plenty)
  const kept = Array.from({ length: 40 }, (_, at) => {
    const keeper = spool.keeper('a/b')
    keeper.push(Buffer.alloc(60_000, at))
    return keeper.end()
  })
  expect(spools.usedBytes).toBeGreaterThan(40 * 60_000 - 400_000)
  for (const [at, payload] of kept.entries())
    expect(Buffer.from(payload.read(0, 60_000)).equals(Buffer.alloc(60_000, at))).toBe(true)
  spool.close()
})

describe('the bound', () => {
  test('holds for all spools together, and room comes back', () => {
    const spools = createSpools(folder)
    const first = spools.open(300_000)
    const second = spools.open(300_000)
    first.keeper('a/b').push(Buffer.alloc(200_000))
    const keeper = second.keeper('a/b')
    const refused = () => keeper.push(Buffer.alloc(200_000))
    expect(refused).toThrow(MediaFault)
    expect(refused).toThrow('uploads.maxSpoolBytes')
    second.close()
    first.close()
    expect(spools.usedBytes).toBe(0)
    const third = spools.open(300_000)
    third.keeper('a/b').push(Buffer.alloc(300_000))
    third.close()
  })

  test('is reported as what it is: nobody else would have room for it either', () => {
    try {
      createSpools(folder).open(1_000).keeper('a/b').push(Buffer.alloc(100_000))
      expect.unreachable()
    } catch (error) {
      expect(error).toBeInstanceOf(MediaFault)
      expect((error as MediaFault).fault.kind).toBe('no_room')
    }
  })
})

test('after the end nothing is read or written: the file may be another request’s by then', () => {
  const spools = createSpools(folder)
  const spool = spools.open(plenty)
  const keeper = spool.keeper('a/b')
  keeper.push(Buffer.alloc(100_000, 1))
  const payload = keeper.end()
  const late = spool.keeper('a/b')
  spool.close()
  const other = spools.open(plenty).keeper('a/b')
  other.push(Buffer.alloc(100_000, 2))
  expect(() => payload.read(0, 10)).toThrow('closed')
  expect(() => keeper.push(Buffer.alloc(100_000))).toThrow('closed')
  expect(() => late.push(Buffer.alloc(100_000))).toThrow('closed')
  expect(other.end().read(0, 1)[0]).toBe(2)
})
