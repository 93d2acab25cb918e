// A record of a request as it leaves to a warehouse: a JSON object under the names of the ledger's columns, and the table that
// takes it.

import type { ClickHouseSettings } from '../config/types.ts'
import { type UsageColumn, type UsageRow, usageColumns } from './usage-row.ts'

/** With a line's end. Amounts are text, since a number would lose their last digits; the time is UTC. */
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

/** What takes lines. */
export function insertInto({ database, table }: Named): string {
  return `INSERT INTO \`${database}\`.\`${table}\` FORMAT JSONEachRow`
}

/** Records that come twice become one when parts are merged, and with FINAL before that; one never changes. */
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
