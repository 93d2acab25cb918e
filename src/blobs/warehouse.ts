// The warehouses that usage records are exported to: a ClickHouse table, or files in a bucket.

import type { ClickHouseSettings, ExportSettings } from '../config/types.ts'
import { NotFetched, postBytes } from '../safe-fetch/safe-fetch.ts'
import { insertInto } from '../store/warehouse-table.ts'
import type { Dialer } from '../upstream/dial.ts'
import { type ArchiveFiles, filesInBucket } from './archive-files.ts'

/** The same records always make the same batch. */
export interface Batch {
  /** Derived from the content, with the day on which its first request began: `2026/11/23/...`. */
  readonly name: string
  /** Deduplication token: like the name, but new when the operator repeats an export lost at its destination. */
  readonly token: string
  /** One JSON object per line, compressed with gzip. */
  readonly content: Uint8Array
}

export interface Warehouse {
  readonly name: keyof Pick<ExportSettings, 'clickhouse' | 's3'>
  /** Resolves when the batch is stored durably. */
  put(batch: Batch): Promise<void>
}

/** The warehouse refuses a batch of this size; it may accept fewer records. */
export class BatchTooLarge extends Error {
  override readonly name = 'BatchTooLarge'
}

/** A warehouse that does not answer within this time counts as away. */
const answerMs = 60_000
const reasonBytes = 600

export function openWarehouses(
  { clickhouse, s3 }: ExportSettings,
  dialer: Dialer,
  withinMs = answerMs,
): readonly Warehouse[] {
  return [
    ...(clickhouse === null ? [] : [inClickHouse(clickhouse, dialer, withinMs)]),
    ...(s3 === null
      ? []
      : [inFiles(filesInBucket(s3, { folder: '', what: 'the export' }, withinMs))]),
  ]
}

function inFiles(files: ArchiveFiles): Warehouse {
  return { name: 's3', put: ({ name, content }) => files.put(`${name}.ndjson.gz`, content) }
}

/** Source: clickhouse.com, "HTTP interface", "INSERT INTO", "Deduplication strategies". */
function inClickHouse(settings: ClickHouseSettings, dialer: Dialer, timeoutMs: number): Warehouse {
  const { url, user, password } = settings
  const options = { dialer, maxBytes: reasonBytes, timeoutMs, home: new URL(url).origin }
  const fields = {
    'x-clickhouse-user': user,
    'x-clickhouse-key': password,
    'content-encoding': 'gzip',
    'content-type': 'application/x-ndjson',
  }
  return {
    name: 'clickhouse',
    async put({ token, content }) {
      const address = new URL(url)
      const parameters = {
        query: insertInto(settings),
        insert_deduplication_token: token,
        date_time_input_format: 'best_effort',
        // A table created for an older version takes the fields that it has columns for.
        input_format_skip_unknown_fields: '1',
        // The reply must mean that rows are written, not only buffered in memory.
        async_insert: '0',
        wait_end_of_query: '1',
      }
      for (const [parameter, value] of Object.entries(parameters))
        address.searchParams.set(parameter, value)
      try {
        await postBytes(options, address.href, { body: content, fields, reasonBytes })
      } catch (error) {
        if (!(error instanceof NotFetched)) throw error
        if (error.status === 413) throw new BatchTooLarge(error.message)
        throw new Error(error.message)
      }
    },
  }
}
