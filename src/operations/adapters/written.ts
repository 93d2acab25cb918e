// What is made of an adapter's reply, and with what.

import type { Results } from '../../blobs/results.ts'
import type { MediaUsage, Spool } from '../../vendors/media.ts'

export interface Written {
  readonly type: string
  readonly chunks: AsyncIterable<Uint8Array>
  /** What the reply cost, where its bytes do not tell it; known when they have been read. */
  usage?(): MediaUsage | null
}

export interface WriteRooms {
  readonly results: Results
  readonly spool: Spool
  /** Whose results they are: hosted ones are told apart by it. */
  readonly account: string
  /** Unix seconds. */
  readonly createdAt: number
}
