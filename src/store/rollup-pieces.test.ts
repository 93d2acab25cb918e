// Tests that the pieces of any span cover it without a gap, and that only folded parts are read as totals.

import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { evenSpansOf, piecesOf, runsOf } from './rollup-pieces.ts'

const quarterMs = 900_000
const hourMs = 4 * quarterMs
const dayMs = 24 * hourMs
const widths = [dayMs, hourMs]

test('pieces follow one upon the other, within their spans, by the longest times there are', () => {
  const made = fc.record({
    cuts: fc.uniqueArray(fc.integer({ min: 0, max: 2_000 }), { minLength: 2, maxLength: 40 }),
    folded: fc.integer({ min: 0, max: 2_000 }),
  })
  fc.assert(
    fc.property(made, ({ cuts, folded }) => {
      const edges = cuts.sort((one, other) => one - other).map((cut) => cut * quarterMs)
      const times = { cuts: edges.slice(0, -1), until: edges.at(-1) ?? 0 }
      const pieces = piecesOf(times, widths, folded * quarterMs)
      const all = pieces.flatMap((list, level) =>
        list.map((each) => ({ ...each, width: widths[level] ?? quarterMs })),
      )
      const sorted = all.sort((one, other) => one.since - other.since)
      let at = edges[0] ?? 0
      for (const { span, since, until, width } of sorted) {
        expect(since).toBe(at)
        expect([since % width, until % width]).toEqual([0, 0])
        expect(since >= (edges[span] ?? 0) && until <= (edges[span + 1] ?? 0)).toBe(true)
        expect(width === quarterMs || until <= folded * quarterMs).toBe(true)
        at = until
      }
      expect(at).toBe(times.until)
    }),
  )
})

test('a day by the clocks of Shanghai is hours, and a week has days within', () => {
  const midnight = Date.parse('2026-03-01T16:00:00Z')
  const times = { cuts: [midnight], until: midnight + 7 * dayMs }
  const pieces = piecesOf(times, widths, midnight + 7 * dayMs)
  const lengths = pieces.map((list, level) =>
    list.map(({ since, until }) => (until - since) / (widths[level] ?? quarterMs)),
  )
  expect(lengths).toEqual([[6], [8, 16], []])
  const days = { cuts: [midnight, midnight + dayMs], until: midnight + 2 * dayMs }
  const [, hours = []] = piecesOf(days, widths, midnight + 2 * dayMs)
  expect(hours).toHaveLength(2)
  expect(runsOf(hours)).toEqual([{ since: midnight, until: midnight + 2 * dayMs }])
})

test('even spans tell of each moment which one it is in, and uneven ones are told apart', () => {
  const made = fc.record({
    start: fc.integer({ min: 0, max: 500 }),
    width: fc.integer({ min: 1, max: 6 }),
    short: fc.integer({ min: 0, max: 5 }),
    count: fc.integer({ min: 2, max: 20 }),
    span: fc.integer({ min: 0, max: 9 }),
    end: fc.integer({ min: 0, max: 5 }),
  })
  fc.assert(
    fc.property(made, ({ start, width, short, count, span, end }) => {
      const cut = (place: number) => start + place * width
      const pieces = Array.from({ length: count }, (_, place) => ({
        span: span + place,
        since: cut(place) + (place === 0 ? short % width : 0),
        until: cut(place + 1) - (place === count - 1 && count > 2 ? end % width : 0),
      }))
      const even = evenSpansOf(pieces)
      if (even === null) throw new Error('even spans were not taken for even')
      for (const piece of pieces) {
        for (let at = piece.since; at < piece.until; at += 1) {
          expect(Math.floor((at - even.origin) / even.widthMs)).toBe(piece.span)
        }
      }
    }),
  )
  const at = (...edges: number[]) =>
    edges.slice(1).map((until, span) => ({ span, since: edges[span] ?? 0, until }))
  expect(evenSpansOf(at(0, 4, 8, 11, 15))).toBeNull()
  expect(evenSpansOf(at(0, 4))).toBeNull()
  const apart = [...at(0, 4, 8), { span: 3, since: 12, until: 16 }]
  expect(evenSpansOf(apart)).toBeNull()
})
