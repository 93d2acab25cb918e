// Usage records for a data warehouse: JSON objects with the ledger's column names, and the ClickHouse table for them.

import type { ClickHouseSettings } from '../config/types.ts'
import { type UsageColumn, type UsageRow, usageColumns } from './usage-row.ts'

/** One line with its line end. Amounts are text, because a number would lose digits; the time is in UTC. */
export function lineOf(row: UsageRow): string {
  const document: Record<string, unknown> = {}
  for (const { field, name, kind } of usageColumns) {
    const value = row[field]
    if (kind === 'money') document[name] = String(value)
    else if (kind === 'json') document[name] = value === null ? null : JSON.stringify(value)
    else document[name] = value
  }
  document['at'] = new Date(row.at).toISOString()
  return `${JSON.stringify(document)}\n`
}

const types: Readonly<Record<UsageColumn['kind'], string>> = {
  text: 'String',
  textOrNull: 'Nullable(String)',
  count: 'Int64',
  countOrNull: 'Nullable(Int64)',
  small: 'Int32',
  time: 'Int64',
  timeOrNull: 'Nullable(Int64)',
  flag: 'Bool',
  money: 'Int64',
  json: 'Nullable(String)',
}

type Named = Pick<ClickHouseSettings, 'database' | 'table'>

/** The statement that inserts lines. */
export function insertInto({ database, table }: Named): string {
  return `INSERT INTO \`${database}\`.\`${table}\` FORMAT JSONEachRow`
}

/** Repeated records become one when parts are merged, or earlier in queries with FINAL; a record never changes. */
export function tableOf({ database, table }: Named): string {
  const columns = usageColumns.map(({ field, name, kind }) => {
    const type = field === 'at' ? "DateTime64(3, 'UTC')" : types[kind]
    return `  \`${name}\` ${type}`
  })
  return `CREATE TABLE IF NOT EXISTS \`${database}\`.\`${table}\` (
${columns.join(',\n')}
) ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMM(\`at\`)
ORDER BY (\`at\`, \`request_id\`)
SETTINGS non_replicated_deduplication_window = 1000;
`
}
