// Anthropic's Messages format as the relay knows it.

import type { Dialect } from '../dialect.ts'
import { withCost } from '../openai/cost.ts'
import { readFault } from './fault.ts'
import { messagesHub } from './hub.ts'
import { readMessageTail, readWholeMessage } from './identity-whole.ts'
import { peekMessages } from './peek.ts'
import { errorFrames, refusalStatus, refuse } from './refuse.ts'
import { MessagesWatcher } from './watcher.ts'
import { frame } from './writer.ts'

export const anthropicMessages: Dialect = {
  id: 'anthropic-messages',
  operation: 'chat',
  path: '/messages',
  idPrefix: 'msg_',
  terminator: frame('message_stop', {}),
  usageAlways: true,
  heartbeat: frame('ping', {}),
  clientHeaders: ['anthropic-version', 'anthropic-beta'],
  peek: peekMessages,
  watcher: (options) => new MessagesWatcher(options),
  whole: (body, _peek, quirks) => readWholeMessage(body, quirks),
  tail: readMessageTail,
  fault: readFault,
  withCost,
  status: refusalStatus,
  refuse,
  errorFrames,
  replyHeaders: (requestId) => ({ 'request-id': requestId }),
  hub: messagesHub,
}
