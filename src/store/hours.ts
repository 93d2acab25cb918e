// Hourly totals of usage: the one table of what they are told apart by and what is added up. Settling adds to them, the
// audit adds them up again.

import type { Divided } from './divide.ts'
import type { Bulk, Engine, Value } from './engine.ts'
import type { HourFilter, HourRow, HourTable } from './ledger.ts'
import { cleanText } from './text.ts'
import type { UsageRow } from './usage-row.ts'

interface Dimension {
  readonly name: string
  readonly field: keyof HourRow
  readonly type: 'text' | 'bigint' | 'integer'
  readonly of: (row: UsageRow) => string | number
}

/** In the order in which totals are locked. */
const dimensions: readonly Dimension[] = [
  { name: 'account', field: 'account', type: 'text', of: ({ account }) => cleanText(account) },
  { name: 'hour', field: 'hour', type: 'bigint', of: ({ at }) => hourOf(at) },
  { name: 'key_id', field: 'key', type: 'text', of: ({ key }) => cleanText(key) },
  { name: 'model', field: 'model', type: 'text', of: ({ modelAsked }) => cleanText(modelAsked) },
  {
    name: 'channel',
    field: 'channel',
    type: 'text',
    of: ({ channel }) => cleanText(channel ?? ''),
  },
  { name: 'group_id', field: 'group', type: 'text', of: ({ group }) => cleanText(group) },
  { name: 'status', field: 'status', type: 'integer', of: ({ status }) => status },
]

interface Sum {
  readonly name: string
  readonly field: keyof HourRow
  readonly money?: true
  readonly of: (divided: Divided) => bigint
}

/** The number of requests comes first. */
const sums: readonly Sum[] = [
  { name: 'requests', field: 'requests', of: () => 1n },
  { name: 'input_tokens', field: 'inputTokens', of: ({ row }) => BigInt(row.input) },
  { name: 'output_tokens', field: 'outputTokens', of: ({ row }) => BigInt(row.output) },
  { name: 'charge_nano', field: 'chargeNano', money: true, of: ({ chargeNano }) => chargeNano },
  {
    name: 'writeoff_nano',
    field: 'writeoffNano',
    money: true,
    of: ({ writeoffNano }) => writeoffNano,
  },
  {
    name: 'vendor_cost_nano',
    field: 'vendorCostNano',
    money: true,
    of: ({ row }) => row.vendorCostNano,
  },
]

const hourMs = 3_600_000

/** The first moment of the hour. */
export function hourOf(at: number): number {
  return Math.floor(Math.round(at) / hourMs) * hourMs
}

const columns = [...dimensions, ...sums].map(({ name }) => name).join(', ')
const types = [...dimensions.map(({ type }) => type), ...sums.map(() => 'bigint')]

const addUp = `ON CONFLICT (${dimensions.map(({ name }) => name).join(', ')}) DO UPDATE SET
  ${sums.map(({ name }) => `${name} = usage_hour.${name} + excluded.${name}`).join(', ')}`

/** Adds to the totals that are there; each total at most once in a call. */
export const addHours: Bulk = {
  sqlite: `INSERT INTO usage_hour (${columns}) VALUES (${types.map(() => '?').join(', ')}) ${addUp}`,
  postgres: `INSERT INTO usage_hour (${columns})
    SELECT * FROM unnest(${types.map((type, at) => `$${at + 1}::${type}[]`).join(', ')})
    ORDER BY ${dimensions.map((_, at) => at + 1).join(', ')} ${addUp}`,
}

export interface HourTotal {
  readonly dimensions: readonly (string | number)[]
  /** In the order of the columns. */
  readonly sums: bigint[]
}

/** In `HourTotals.byName`; no cleaned text has a NUL in it. */
export function nameOf(values: HourTotal['dimensions']): string {
  return values.join('\0')
}

/** Adds up rows, so that each total is touched once. */
export class HourTotals {
  readonly byName = new Map<string, HourTotal>()

  add(divided: Divided): void {
    const total = this.totalOf(divided.row)
    for (let at = 0; at < sums.length; at += 1) {
      total.sums[at] = (total.sums[at] ?? 0n) + (sums[at]?.of(divided) ?? 0n)
    }
  }

  /** For `addHours`. */
  values(): Value[][] {
    return [...this.byName.values()].map((total) => [...total.dimensions, ...total.sums])
  }

  private totalOf(row: UsageRow): HourTotal {
    const values = dimensions.map(({ of }) => of(row))
    const name = nameOf(values)
    let total = this.byName.get(name)
    if (total === undefined) {
      total = { dimensions: values, sums: sums.map(() => 0n) }
      this.byName.set(name, total)
    }
    return total
  }
}

/** As kept: sums as text, for money would lose its last digits as a number, and a wrong count may be too large for one. */
export type KeptHour = Readonly<Record<keyof HourRow, string | number>>

export const selectHours = `SELECT ${[
  ...dimensions.map(({ name, field }) => `${name} AS "${field}"`),
  ...sums.map(({ name, field }) => `CAST(${name} AS TEXT) AS "${field}"`),
].join(', ')} FROM usage_hour`

export function dimensionsOf(kept: KeptHour): readonly (string | number)[] {
  return dimensions.map(({ field }) => kept[field])
}

/** Where a kept total is not what its rows make, in words: `requests 3, rows make 2`. */
export function differences(kept: KeptHour, total: HourTotal): readonly string[] {
  return sums.flatMap(({ field }, at) =>
    kept[field] === String(total.sums[at])
      ? []
      : [`${field} ${kept[field]}, rows make ${total.sums[at]}`],
  )
}

export function hourTable(engine: Engine): HourTable {
  return {
    async list(filter) {
      const { where, values } = conditions(filter)
      const kept = await engine.query<KeptHour>(
        `${selectHours}${where} ORDER BY hour, account, key_id, model, channel, group_id, status`,
        values,
      )
      return kept.map(hourRowOf)
    },
  }
}

function hourRowOf(kept: KeptHour): HourRow {
  const counted = sums.map(({ field, money }) => {
    const text = String(kept[field])
    return [field, money ? BigInt(text) : Number(text)] as const
  })
  return { ...kept, ...Object.fromEntries(counted) } as unknown as HourRow
}

function conditions(filter: HourFilter): { where: string; values: Value[] } {
  const where: string[] = []
  const values: Value[] = []
  const wanted: Readonly<Record<string, unknown>> = { ...filter }
  for (const { name, field } of dimensions) {
    const value = wanted[field]
    if (typeof value !== 'string') continue
    where.push(`${name} = ?`)
    values.push(cleanText(value))
  }
  if (filter.since !== undefined) {
    where.push('hour >= ?')
    values.push(filter.since)
  }
  if (filter.until !== undefined) {
    where.push('hour < ?')
    values.push(filter.until)
  }
  return { where: where.length === 0 ? '' : ` WHERE ${where.join(' AND ')}`, values }
}
