// Names of the filters that are typed, and of whether a request is streamed.

import { msg } from '@lingui/core/macro'

export const moreWords = {
  errorCode: msg`Error code`,
  client: msg`Client`,
  id: msg`Request id`,
  vendorRequestId: msg`Vendor’s request id`,
  minCost: msg`Cost at least`,
  minLatencyMs: msg`Took at least`,
  stream: msg`Streaming`,
}

/** As typed. */
export type MoreDraft = Readonly<Record<keyof typeof moreWords, string>>

export const streamedWords = { true: msg`Streamed`, false: msg`Not streamed` }
