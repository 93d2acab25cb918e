// Selects the tables from which a query's totals are read: those by day and hour where one dimension suffices,
// otherwise those by quarter-hour, and those of tagged requests where it asks for tags.

import type { Session, Value } from './engine.ts'
import { dimensions, tagDimension } from './rollup-columns.ts'
import { facetFor, facetTables, foldedUntil } from './rollup-facets.ts'
import { type Piece, piecesOf, runsOf } from './rollup-pieces.ts'
import type { RollupDimension, RollupFilter } from './rollup-table.ts'
import { cleanText } from './text.ts'

const allDimensions = [...dimensions, tagDimension]

interface Question {
  readonly cuts: readonly number[]
  readonly until: number
  readonly filter: RollupFilter
  readonly by: readonly RollupDimension[]
}

/** One table of totals, with the part of the period that is read from it. */
export interface Source {
  readonly table: string
  /** The table's columns of the subject and of the time. */
  readonly of: string
  readonly at: string
  /** The table of subjects, and the columns of its unique index. */
  readonly subjects: string
  readonly unique: readonly string[]
  /** The SQL expression of a dimension's value, in terms of `source`. */
  readonly columnOf: (dimension: RollupDimension) => string
  /** `-`: its totals are subtracted, because those of another source include them. */
  readonly sign: '' | '-'
  /** Begins with `WHERE`; conditions on `source`, the table of subjects. */
  readonly where: { readonly sql: string; readonly values: readonly Value[] }
  /** Whether a query needs most rows of a time, so that an index by time is best. */
  readonly isTimeFirst: boolean
  readonly pieces: readonly Piece[]
  /** The same time as `pieces`, without the division into spans. */
  readonly runs: readonly Omit<Piece, 'span'>[]
}

/** At least one. Reads the folded time first: totals read after that still include it, as folding only adds to them. */
export async function sourcesOf(session: Session, question: Question): Promise<Source[]> {
  const { by, filter, cuts, until } = question
  const asked = [...by, ...filtered(filter)]
  const facet = facetFor(asked)
  const folded = facet === null ? 0 : await foldedUntil(session)
  const tables = facetTables.filter((each) => facet !== null && (facet.isOfAll || !each.isOfAll))
  const widths = tables.map(({ widthMs }) => widthMs)
  const pieces = piecesOf({ cuts, until }, widths, folded)
  const piecesIn = (place: number) => {
    const found = pieces[place] ?? []
    return { pieces: found, runs: runsOf(found) }
  }
  const sources: Source[] = []
  if (facet !== null) {
    const subjects = {
      of: 'facet',
      subjects: 'usage_facet',
      unique: ['dimension', 'account', 'value'],
      columnOf: (dimension: RollupDimension) =>
        dimension === 'account' ? 'source.account' : 'source.value',
      sign: '' as const,
    }
    const whose = facet.isOfAll ? `source.account = ''` : `source.account <> ''`
    const where = conditions(
      filter,
      subjects.columnOf,
      ['source.dimension = ?', whose],
      [facet.dimension],
    )
    for (const [place, { table, at }] of tables.entries()) {
      sources.push({ ...subjects, table, at, where, isTimeFirst: false, ...piecesIn(place) })
    }
  }
  const quarters = quarterSourcesOf(filter, asked)
  sources.push(...quarters.map((each) => ({ ...each, ...piecesIn(tables.length) })))
  const used = sources.filter((source) => source.pieces.length > 0)
  return used.length > 0 ? used : sources.slice(-quarters.length)
}

type Totals = Omit<Source, 'pieces' | 'runs'>

/**
 * Requests without a tag have no totals of their own: they are all requests less the tagged ones, which are therefore
 * subtracted under the empty tag.
 */
function quarterSourcesOf(filter: RollupFilter, asked: readonly RollupDimension[]): Totals[] {
  if (!asked.includes('tag')) return [plainSource(filter, asked)]
  const { tag, ...others } = filter
  const tagged = taggedSource(filter, columnOf, '')
  if (tag !== undefined && !tag.includes('')) return [tagged]
  return [
    tagged,
    plainSource(others, asked),
    taggedSource(others, (each) => (each === 'tag' ? noTag : columnOf(each)), '-'),
  ]
}

const noTag = `CAST('' AS TEXT)`

function plainSource(filter: RollupFilter, asked: readonly RollupDimension[]): Totals {
  const isOfAll = asked.every((each) => each !== 'account' && each !== 'key')
  const whose = isOfAll ? `source.account = ''` : `source.account <> ''`
  return {
    table: isOfAll ? 'usage_quarter_all' : 'usage_quarter',
    of: 'series',
    at: 'quarter',
    subjects: 'usage_series',
    unique: dimensions.map(({ name }) => name),
    columnOf: (each) => (each === 'tag' ? noTag : columnOf(each)),
    sign: '',
    where: conditions(filter, columnOf, [whose], []),
    isTimeFirst: filtered(filter).length === 0,
  }
}

function taggedSource(
  filter: RollupFilter,
  expressionOf: Source['columnOf'],
  sign: Source['sign'],
): Totals {
  return {
    table: 'usage_tagged_quarter',
    of: 'series',
    at: 'quarter',
    subjects: 'usage_tagged_series',
    unique: allDimensions.map(({ name }) => name),
    columnOf: expressionOf,
    sign,
    where: conditions(filter, columnOf, [`source.account <> ''`], []),
    isTimeFirst: filtered(filter).length === 0,
  }
}

function conditions(
  filter: RollupFilter,
  nameOf: Source['columnOf'],
  first: readonly string[],
  firstValues: readonly Value[],
): Source['where'] {
  const parts = [...first]
  const values = [...firstValues]
  for (const dimension of filtered(filter)) {
    const wanted = padded((filter[dimension] ?? []).map(cleanText))
    parts.push(`${nameOf(dimension)} IN (${wanted.map(() => '?').join(', ')})`)
    values.push(...wanted)
  }
  return { sql: `WHERE ${parts.join(' AND ')}`, values }
}

function filtered(filter: RollupFilter): RollupDimension[] {
  return allDimensions.map(({ field }) => field).filter((field) => filter[field] !== undefined)
}

/** Pads to a power of two, so that few prepared statements are needed. */
function padded(wanted: readonly string[]): string[] {
  const length = 2 ** Math.ceil(Math.log2(Math.max(1, wanted.length)))
  return Array.from({ length }, (_, at) => wanted[Math.min(at, wanted.length - 1)] ?? '')
}

/** In terms of `source`, the table of subjects. */
export function columnOf(dimension: RollupDimension): string {
  const found = allDimensions.find(({ field }) => field === dimension)
  if (found === undefined) throw new RangeError(`${dimension} is no dimension of the totals`)
  return `source.${found.name}`
}
