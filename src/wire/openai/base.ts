// What most OpenAI formats share: error bodies, error frames, and how a stream ends.

import { errorTable, type GatewayError } from '../../errors.ts'
import type { ClientSide, IdentitySide, VendorSide } from '../dialect.ts'
import { withCost } from './cost.ts'
import { readFault } from './fault.ts'
import { CompletionWatcher } from './watcher.ts'
import { readTail, readWhole } from './whole.ts'

/** OpenAI's error body, as JSON text. */
function refuse(error: GatewayError): string {
  const { param, shownCode } = error.detail
  return JSON.stringify({
    error: {
      message: error.message,
      type: errorTable[error.code].type,
      param: param ?? null,
      code: shownCode ?? error.code,
    },
  })
}

export const openaiClient = {
  // A comment, which every reader of server-sent events ignores.
  heartbeat: ': keep-alive\n\n',
  withCost,
  refuse,
  errorFrames: (error) => `data: ${refuse(error)}\n\n`,
} satisfies Partial<ClientSide>

export const openaiVendor = { fault: readFault } satisfies VendorSide

export const openaiIdentity = {
  terminator: 'data: [DONE]\n\n',
  watcher: (options) => new CompletionWatcher(options),
  whole: (body, _peek, quirks) => readWhole(body, quirks),
  tail: readTail,
} satisfies IdentitySide
