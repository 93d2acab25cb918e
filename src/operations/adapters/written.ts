// Types for writing an adapter's reply: the result, and what is needed for it.

import type { Results } from '../../blobs/results.ts'
import type { MediaUsage, Spool } from '../../vendors/media.ts'

export interface Written {
  readonly type: string
  readonly chunks: AsyncIterable<Uint8Array>
  /** The usage, where the reply's bytes do not carry it; known when they have been read. */
  usage?(): MediaUsage | null
}

export interface WriteRooms {
  readonly results: Results
  readonly spool: Spool
  /** The account that owns the results; hosted results are separated by it. */
  readonly account: string
  /** Unix seconds. */
  readonly createdAt: number
}
