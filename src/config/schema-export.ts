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
    description: 'Address of the HTTP interface; it may be in a private network.',
  }),
  database: key(name, 'Database of the table.', 'default'),
  table: key(
    name,
    'Table for the records; tollgate export ddl prints its definition.',
    'tollgate_usage',
  ),
  user: key(text(), 'User that inserts.', 'default'),
  password: secretText().meta({ description: 'Password of the user.' }),
})

const s3 = section({
  ...bucketKeys({
    endpoint: 'Address of the store; left out: Amazon S3 in the region.',
    accessKeyId: 'Id of the access key, which must be allowed to put objects.',
  }),
  prefix: key(text(), 'Prefix of the names of all files.', 'usage/'),
})

export const usageExport = section({
  clickhouse: key(clickhouse, 'ClickHouse table to which every record is sent.'),
  s3: key(s3, 'S3-compatible bucket to which every record is sent, in files.'),
  intervalMs: key(wholeNumber(100, 3_600_000), 'Pause between two checks for new records.', 10_000),
  holdDays: key(
    wholeNumber(1, 365),
    'Days that records are kept beyond keepDays while a destination does not accept them.',
    7,
  ),
})
