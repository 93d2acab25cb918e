// Where records of requests leave to: a table of ClickHouse, or files in a bucket.

import type { ClickHouseSettings, ExportSettings } from '../config/types.ts'
import { NotFetched, postBytes } from '../safe-fetch/safe-fetch.ts'
import { insertInto } from '../store/warehouse-table.ts'
import type { Dialer } from '../upstream/dial.ts'
import { type ArchiveFiles, filesInBucket } from './archive-files.ts'

/** The same records again are the same batch. */
export interface Batch {
  /** From what is in it; with the day that its first request began on: `2026/11/23/...`. */
  readonly name: string
  /** The same, but for what its operator had sent again: it may be lost where it was. */
  readonly token: string
  /** A JSON object a line, by gzip. */
  readonly content: Uint8Array
}

export interface Warehouse {
  readonly name: keyof Pick<ExportSettings, 'clickhouse' | 's3'>
  /** Resolves when all of it is there to stay. */
  put(batch: Batch): Promise<void>
}

/** It would take fewer records at once. */
export class BatchTooLarge extends Error {
  override readonly name = 'BatchTooLarge'
}

/** One that has not answered by then is taken to be away. */
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
        // A table that an older version described takes what it has columns for.
        input_format_skip_unknown_fields: '1',
        // Its reply is to be of rows that are written, not of those it has in memory.
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
