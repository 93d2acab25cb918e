// Assembles the Gemini dialect: `generateContent` and `streamGenerateContent` of Google's Gemini API.

import { type ClientSide, format } from '../dialect.ts'
import { withCost } from '../openai/cost.ts'
import { maxFileFrameBytes } from '../sse.ts'
import { readFault, refuse } from './fault.ts'
import { GeminiFrames } from './frames.ts'
import { geminiHub } from './hub.ts'
import { ListFraming } from './list-framing.ts'
import { peekGemini } from './peek.ts'
import { GeminiWatcher } from './watcher.ts'
import { judgeWhole, readTail } from './whole.ts'

/** What Google's clients need for every operation. */
export const googleClient = {
  idPrefix: '',
  // A blank line: some of Google's clients parse a comment as data, but all ignore blank lines.
  heartbeat: '\n\n',
  withCost: (bytes, cost) => withCost(bytes, cost, 'usageMetadata'),
  refuse,
  reframe: ({ list }) => (list === true ? new ListFraming() : null),
  // @google/genai up to 2 and @google/generative-ai pass over an error in an event and end as if all had come, but throw
  // for what is left without its blank line at the end; others ignore a comment.
  errorFrames: (error) => `data: ${refuse(error)}\n\n: the stream broke off`,
} satisfies Partial<ClientSide>

export const gemini = format('gemini', {
  client: {
    ...googleClient,
    path: '/models/*:generateContent',
    peek: peekGemini,
    hub: geminiHub,
  },
  vendor: {
    frames: () => new GeminiFrames(),
    fault: readFault,
    hub: geminiHub,
  },
  identity: {
    // The stream ends with its last event: Google's clients treat anything after it as a broken event.
    terminator: '',
    maxFrameBytes: maxFileFrameBytes,
    watcher: (options) => new GeminiWatcher(options),
    whole: (body, _peek, quirks) => judgeWhole(body, quirks),
    tail: readTail,
  },
})
