// Converts answers of the statistics API to charts: buckets, series with colours by rank, numbers for heights.

import type { Shape } from '../api/client.ts'
import type { Bucket, Series, SeriesColour } from './series.ts'

type Statistics = Shape<'Statistics'>
type Group = Readonly<Record<string, string>>

/** This many series have a separate colour; all others together are one. */
export const mostColours = 6

/** The series of all groups that are not shown separately. */
export const otherId = '…'

/** Distinguishes groups, as series and as rows: their values by dimension. */
export function groupId(group: Group, by: readonly string[]): string {
  return by.length > 0 && Object.keys(group).length === 0
    ? otherId
    : by.map((dimension) => group[dimension] ?? '').join('\n')
}

/** Each interval ends where the next begins. */
export function bucketsOf({ intervals, until }: Statistics): readonly Bucket[] {
  return intervals.map((start, index) => ({ start, end: intervals[index + 1] ?? until }))
}

/** Heights only: amounts stay text. */
export function pointsOf(points: Statistics['total']): readonly (number | null)[] {
  return points.values ?? points.valuesNano?.map(Number) ?? []
}

/**
 * Colours that stay while filters change: a group keeps the colour of its rank in the whole range, `ranked`; other
 * shown groups get the free colours.
 */
export function coloursOf(
  ranked: readonly string[],
  shown: readonly string[],
): ReadonlyMap<string, SeriesColour> {
  const colours = new Map<string, SeriesColour>()
  const free = new Set<SeriesColour>([1, 2, 3, 4, 5, 6])
  for (const [index, id] of ranked.slice(0, mostColours).entries()) {
    const colour = (index + 1) as SeriesColour
    if (!shown.includes(id)) continue
    colours.set(id, colour)
    free.delete(colour)
  }
  for (const id of shown) {
    if (colours.has(id)) continue
    const [colour = 'other'] = id === otherId ? [] : free
    colours.set(id, colour)
    free.delete(colour)
  }
  return colours
}

interface Named {
  readonly statistics: Statistics
  readonly colours: ReadonlyMap<string, SeriesColour>
  readonly nameOf: (group: Group) => string
  /** The name of the only series if nothing is grouped. */
  readonly allName: string
  readonly otherName: string
}

export function seriesOf(named: Named): readonly Series[] {
  const { statistics, colours, nameOf, allName, otherName } = named
  const { by, series, total, metric } = statistics
  if (by.length === 0) {
    const colour = metric === 'errors' || metric === 'errorRate' ? 'danger' : 1
    return [{ id: '', name: allName, colour, values: pointsOf(total) }]
  }
  const ids = series.map(({ group }) => groupId(group, by))
  return series.map(({ group, ...points }, index) => {
    const id = ids[index] ?? ''
    // Failures of the gateway have the same colour everywhere.
    const isFailed = by.length === 1 && group['statusClass'] === '5xx'
    return {
      id,
      name: id === otherId ? otherName : nameOf(group),
      colour: isFailed ? 'danger' : (colours.get(id) ?? 'other'),
      values: pointsOf(points),
    }
  })
}
