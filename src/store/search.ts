// Finds keys by part of what people know of them, and requests by ids from vendors, clients or traces.

import { containing } from './containing.ts'
import type { Engine, Value } from './engine.ts'
import { cleanText } from './text.ts'

interface FoundKey {
  readonly id: string
  readonly name: string
  readonly account: string
  readonly hint: string
}

interface FoundRequest {
  readonly requestId: string
  readonly account: string
  readonly at: number
  readonly model: string
  readonly status: number
}

interface KeySearch {
  /** null: keys of every account. */
  readonly account: string | null
  /** The id, part of the name, or the last four characters of the secret. */
  readonly text: string
  /** First characters of the secret's random part; null if unknown. */
  readonly start: string | null
  readonly limit: number
}

export interface SearchReader {
  /** Sorted by name. */
  keys(search: KeySearch): Promise<readonly FoundKey[]>
  /** By the id of the vendor, the client or the trace, among the latest requests: no index has these ids. */
  request(account: string | null, id: string): Promise<FoundRequest | null>
}

/** Searching this many takes some ten milliseconds. */
const latestRows = 10_000

export function searchReader(engine: Engine): SearchReader {
  return {
    keys({ account, text, start, limit }) {
      const clean = cleanText(text)
      const { sql, pattern } = containing(engine, text)
      const whose: readonly Value[] = account === null ? [] : [cleanText(account)]
      return engine.query<FoundKey>(
        `SELECT id, name, account, hint FROM api_key
          WHERE ${account === null ? '' : 'account = ? AND '}(id = ? OR secret_start = ?
            OR ${sql('name')} OR (length(?) = 4 AND lower(substr(hint, length(hint) - 3)) = lower(?)))
          ORDER BY name, id LIMIT ?`,
        [...whose, clean, start, pattern, clean, clean, limit],
      )
    },
    async request(account, id) {
      const whose: readonly Value[] = account === null ? [] : [cleanText(account)]
      const clean = cleanText(id)
      const [found] = await engine.query<FoundRequest>(
        `SELECT request_id AS "requestId", account, at, model, status FROM (
            SELECT request_id, account, at, model_asked AS model, status, vendor_request_id,
              client_request_id, trace_id
            FROM usage ${account === null ? '' : 'WHERE account = ?'} ORDER BY at DESC LIMIT ?) AS latest
          WHERE ? IN (vendor_request_id, client_request_id, trace_id) LIMIT 1`,
        [...whose, latestRows, clean],
      )
      return found ?? null
    },
  }
}
