// Assembles the dialect of Anthropic's Messages format.

import { format } from '../dialect.ts'
import { withCost } from '../openai/cost.ts'
import { maxFileFrameBytes } from '../sse.ts'
import { startCheck } from '../stream-start.ts'
import { readFault } from './fault.ts'
import { messagesHub } from './hub.ts'
import { readMessageTail, readWholeMessage } from './identity-whole.ts'
import { peekMessages } from './peek.ts'
import { errorFrames, refusalStatus, refuse } from './refuse.ts'
import { MessagesWatcher } from './watcher.ts'
import { frame } from './writer.ts'

export const anthropicMessages = format('anthropic-messages', {
  client: {
    path: '/messages',
    idPrefix: 'msg_',
    heartbeat: frame('ping', {}),
    clientHeaders: ['anthropic-version', 'anthropic-beta'],
    peek: peekMessages,
    withCost,
    status: refusalStatus,
    refuse,
    errorFrames,
    replyHeaders: (requestId) => ({ 'request-id': requestId }),
    hub: messagesHub,
  },
  vendor: { usageAlways: true, fault: readFault, hub: messagesHub },
  identity: {
    terminator: frame('message_stop', {}),
    maxFrameBytes: maxFileFrameBytes,
    lacksStart: startCheck(
      'message_start',
      (type) => type.startsWith('content_block_') || type === 'message_delta',
    ),
    watcher: (options) => new MessagesWatcher(options),
    whole: (body, _peek, quirks) => readWholeMessage(body, quirks),
    tail: readMessageTail,
  },
})
