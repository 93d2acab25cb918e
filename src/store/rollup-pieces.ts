// Splits a period among the tables of totals: whole days and hours where they are folded, quarter-hours for the rest.

import { quarterMs } from './rollup-table.ts'

/** A part of one span. */
export interface Piece {
  readonly span: number
  readonly since: number
  readonly until: number
}

interface Times {
  /** Where spans begin, ascending; each ends where the next begins. */
  readonly cuts: readonly number[]
  readonly until: number
}

/**
 * For each unit of time, from the longest to the shortest, the folded pieces; last those to be read by quarter-hour.
 */
export function piecesOf(
  { cuts, until }: Times,
  widths: readonly number[],
  foldedUntil: number,
): readonly (readonly Piece[])[] {
  const pieces: Piece[][] = [...widths, quarterMs].map(() => [])
  const split = (span: number, since: number, end: number, level: number) => {
    if (since >= end) return
    const width = widths[level]
    if (width === undefined) {
      pieces[level]?.push({ span, since, until: end })
      return
    }
    const first = Math.ceil(since / width) * width
    const last = Math.floor(Math.min(end, foldedUntil) / width) * width
    if (first >= last) {
      split(span, since, end, level + 1)
      return
    }
    split(span, since, first, level + 1)
    pieces[level]?.push({ span, since: first, until: last })
    split(span, last, end, level + 1)
  }
  cuts.forEach((since, span) => split(span, since, cuts[span + 1] ?? until, 0))
  return pieces
}

/** Merges adjacent pieces. */
export function runsOf(pieces: readonly Piece[]): Omit<Piece, 'span'>[] {
  const runs: { since: number; until: number }[] = []
  for (const { since, until } of pieces) {
    const last = runs.at(-1)
    if (last?.until === since) last.until = until
    else runs.push({ since, until })
  }
  return runs
}

/**
 * If the pieces are consecutive spans of equal length (the first and the last may be shorter), returns how to number
 * them: the span of a moment is `floor((at - origin) / widthMs)`. Null otherwise.
 */
export function evenSpansOf(
  pieces: readonly Piece[],
): { readonly origin: number; readonly widthMs: number } | null {
  const [first, second] = pieces
  const last = pieces.at(-1)
  if (first === undefined || second === undefined || last === undefined) return null
  const widthMs = second.until - second.since
  const origin = second.since - second.span * widthMs
  const isEven = pieces.every(({ span, since, until }, place) => {
    const begins = origin + span * widthMs
    const isWhole = since === begins && until === begins + widthMs
    const isFirst = place === 0 && until === begins + widthMs && since > begins
    return (
      isWhole ||
      isFirst ||
      (place === pieces.length - 1 && since === begins && until < begins + widthMs)
    )
  })
  return isEven && last.span - first.span === pieces.length - 1 ? { origin, widthMs } : null
}
