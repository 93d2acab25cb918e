// The audit of hourly totals: the rows of one hour added up again, for every account, key, model, channel, group and status.

import type { Session } from './engine.ts'
import type { Findings } from './findings.ts'
import type { UsageRow } from './usage-row.ts'

const hourMs = 3_600_000

/** As they are kept: counts as text too, so that a wrong one cannot be too large to read. */
const selectHour = `SELECT account, key_id AS key, model, channel, group_id AS "group", status,
  CAST(requests AS TEXT) AS requests, CAST(input_tokens AS TEXT) AS "inputTokens",
  CAST(output_tokens AS TEXT) AS "outputTokens", CAST(charge_nano AS TEXT) AS "chargeNano",
  CAST(writeoff_nano AS TEXT) AS "writeoffNano", CAST(vendor_cost_nano AS TEXT) AS "vendorCostNano"
  FROM usage_hour WHERE hour = ?`

interface KeptHour {
  readonly account: string
  readonly key: string
  readonly model: string
  readonly channel: string
  readonly group: string
  readonly status: number
  readonly requests: string
  readonly inputTokens: string
  readonly outputTokens: string
  readonly chargeNano: string
  readonly writeoffNano: string
  readonly vendorCostNano: string
}

interface Sums {
  requests: number
  inputTokens: bigint
  outputTokens: bigint
  chargeNano: bigint
  writeoffNano: bigint
  vendorCostNano: bigint
}

interface HourCheck {
  /** Whether the row begins another hour than the rows added since the last `close`. */
  isPast(row: UsageRow): boolean
  add(row: UsageRow): void
  /** Holds what was added against what is kept for that hour. */
  close(): Promise<void>
  /** Closes the last hour, and names kept hours that no row was in. */
  end(): Promise<void>
}

/** Rows are added in the order of their time; one hour's groups are in memory at once. */
export function createHourCheck(session: Session, findings: Findings): HourCheck {
  let hour: number | null = null
  let groups = new Map<string, Sums>()
  const seen = new Set<number>()

  async function close(): Promise<void> {
    if (hour === null) return
    seen.add(hour)
    await compare(session, hour, groups, findings)
    hour = null
    groups = new Map()
  }

  return {
    isPast: (row) => hour !== null && hourOf(row.at) !== hour,
    add(row) {
      hour = hourOf(row.at)
      addTo(groups, row)
    },
    close,
    async end() {
      await close()
      const sql = 'SELECT DISTINCT hour FROM usage_hour ORDER BY hour'
      for (const kept of await session.query<{ readonly hour: number }>(sql, [])) {
        if (!seen.has(kept.hour)) await compare(session, kept.hour, new Map(), findings)
      }
    },
  }
}

function hourOf(at: number): number {
  return Math.floor(at / hourMs) * hourMs
}

/** JSON, so that no name can be taken for two. */
function nameOf(row: KeptHour): string {
  return JSON.stringify([row.account, row.key, row.model, row.channel, row.group, row.status])
}

function addTo(groups: Map<string, Sums>, row: UsageRow): void {
  const name = JSON.stringify([
    row.account,
    row.key,
    row.modelAsked,
    row.channel ?? '',
    row.group,
    row.status,
  ])
  let sums = groups.get(name)
  if (sums === undefined) {
    sums = {
      requests: 0,
      inputTokens: 0n,
      outputTokens: 0n,
      chargeNano: 0n,
      writeoffNano: 0n,
      vendorCostNano: 0n,
    }
    groups.set(name, sums)
  }
  sums.requests += 1
  sums.inputTokens += BigInt(row.input)
  sums.outputTokens += BigInt(row.output)
  sums.chargeNano += row.chargeNano
  sums.writeoffNano += row.writeoffNano
  sums.vendorCostNano += row.vendorCostNano
}

const measures = [
  'requests',
  'inputTokens',
  'outputTokens',
  'chargeNano',
  'writeoffNano',
  'vendorCostNano',
] as const

async function compare(
  session: Session,
  hour: number,
  groups: ReadonlyMap<string, Sums>,
  findings: Findings,
): Promise<void> {
  const missing = new Map(groups)
  const subject = (name: string) => `${new Date(hour).toISOString()} ${name}`
  for (const kept of await session.query<KeptHour>(selectHour, [hour])) {
    const name = nameOf(kept)
    const sums = groups.get(name)
    missing.delete(name)
    if (sums === undefined) {
      findings.add('hour', subject(name), `has a total of ${kept.requests} requests, and no row`)
      continue
    }
    const wrong = measures.filter((measure) => kept[measure] !== String(sums[measure]))
    if (wrong.length > 0) {
      const differences = wrong.map(
        (measure) => `${measure} ${kept[measure]}, rows make ${sums[measure]}`,
      )
      findings.add('hour', subject(name), differences.join('; '))
    }
  }
  for (const [name, sums] of missing) {
    findings.add('hour', subject(name), `has ${sums.requests} rows, and no total`)
  }
}
