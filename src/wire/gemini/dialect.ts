// The Gemini format put together: `generateContent` and `streamGenerateContent` of Google's Gemini API.

import type { Dialect } from '../dialect.ts'
import { withCost } from '../openai/cost.ts'
import { readFault, refuse } from './fault.ts'
import { GeminiFrames } from './frames.ts'
import { geminiHub } from './hub.ts'
import { ListFraming } from './list-framing.ts'
import { peekGemini } from './peek.ts'
import { GeminiWatcher } from './watcher.ts'
import { judgeWhole, readTail } from './whole.ts'

export const gemini: Dialect = {
  id: 'gemini',
  operation: 'chat',
  path: '/models/*:generateContent',
  idPrefix: '',
  // A stream ends with its last event: Google's clients take anything behind it for a broken one.
  terminator: '',
  // An empty line: some of Google's clients take a comment for data, and all pass over blank lines.
  heartbeat: '\n\n',
  peek: peekGemini,
  frames: () => new GeminiFrames(),
  watcher: (options) => new GeminiWatcher(options),
  whole: (body, _peek, quirks) => judgeWhole(body, quirks),
  tail: readTail,
  fault: readFault,
  withCost: (bytes, cost) => withCost(bytes, cost, 'usageMetadata'),
  refuse,
  reframe: ({ list }) => (list === true ? new ListFraming() : null),
  errorFrames: (error) => `data: ${refuse(error)}\n\n`,
  hub: geminiHub,
}
