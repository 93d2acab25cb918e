// The section of the file that says where usage records are exported to.

import { z } from 'zod'
import { baseUrlExpected, isBaseUrl } from './rules.ts'
import { bucketKeys } from './schema-media.ts'
import { checkedText, key, secretText, section, text, wholeNumber } from './schema-parts.ts'

/** A name that is written into SQL statements unquoted. */
const name = z
  .string('expected a name')
  .regex(
    /^[A-Za-z_]\w{0,126}$/,
    'expected a name of letters, digits and _ that begins with no digit',
  )

const clickhouse = section({
  url: checkedText(baseUrlExpected, isBaseUrl).meta({
    description: 'Address of its HTTP interface; it may lie in the own network.',
  }),
  database: key(name, 'The database that the table is in.', 'default'),
  table: key(name, 'The table; tollgate export ddl says how it is made.', 'tollgate_usage'),
  user: key(text(), 'Who inserts.', 'default'),
  password: secretText().meta({ description: "The user's password." }),
})

const s3 = section({
  ...bucketKeys({
    endpoint: "Address of the store; left out: Amazon's, by region.",
    accessKeyId: 'Id of the key that writes.',
  }),
  prefix: key(text(), 'Stands before the name of each file.', 'usage/'),
})

export const usageExport = section({
  clickhouse: key(clickhouse, 'A table of ClickHouse that gets every record.'),
  s3: key(s3, 'A bucket that gets every record, in files.'),
  intervalMs: key(
    wholeNumber(100, 3_600_000),
    'How long after a look for new records the next one follows.',
    10_000,
  ),
  holdDays: key(
    wholeNumber(1, 365),
    'How long records stay past their time while a destination does not take them.',
    7,
  ),
})
