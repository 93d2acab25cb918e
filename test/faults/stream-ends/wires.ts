// Each vendor format's stream in sections, and how its vendor may break it.

import { Buffer } from 'node:buffer'
import { event as awsEvent } from '../../support/event-stream.ts'
import { head } from '../../support/upstream.ts'

export type Section = 'head' | 'text' | 'finish' | 'usage' | 'terminal'
export type ErrorKind = 'failed' | 'rejected' | 'limited'

/** How a stream ends for its client. */
export type Ending = 'well' | ErrorKind | 'broken'

export interface Special {
  readonly name: string
  /** Complete sections that come before it. */
  readonly after: Section | null
  readonly bytes: Uint8Array
  readonly ending: Ending
  /** The ending for clients of the vendor's own format, if it differs. */
  readonly alikeEnding?: Ending
}

export interface Wire {
  readonly dialect: string
  readonly vendor: string
  readonly family: string
  readonly head: string
  readonly sections: Readonly<Record<Section, readonly Uint8Array[]>>
  /** The first section after which a normal end makes a complete reply. */
  readonly cleanAfter: Section
  /** The first section after which nothing is missing, however the connection ends. */
  readonly wholeAfter: Section
  error(kind: ErrorKind, message: string): Uint8Array
  readonly garbage: Uint8Array
  readonly wrongType: Uint8Array
  readonly tooLong: Uint8Array
  readonly specials: readonly Special[]
}

const bytesOf = (text: string): Uint8Array => Buffer.from(text)
const data = (value: unknown): Uint8Array => bytesOf(`data: ${JSON.stringify(value)}\n\n`)
const named = (type: string, value: object): Uint8Array =>
  bytesOf(`event: ${type}\ndata: ${JSON.stringify({ type, ...value })}\n\n`)
const join = (...pieces: readonly Uint8Array[]): Uint8Array => Buffer.concat(pieces)

const sse = head(200, 'content-type: text/event-stream', 'transfer-encoding: chunked')
const aws = head(
  200,
  'content-type: application/vnd.amazon.eventstream',
  'transfer-encoding: chunked',
)
const longText = 'x'.repeat(1_100_000)

/** Faults of any stream of server-sent events. */
const brokenEvents = {
  head: sse,
  garbage: bytesOf('data: {"broken": \n\n'),
  wrongType: data(['no', 'event']),
  tooLong: bytesOf(`data: {"text":"${longText}`),
}

const openaiError = (kind: ErrorKind, message: string): object => {
  if (kind === 'rejected')
    return { message, type: 'invalid_request_error', param: 'messages', code: 400 }
  if (kind === 'limited') return { message, type: 'rate_limit_error', code: 429 }
  return { message, type: 'server_error', code: 'vendor_trouble' }
}

function chatLike(kind: 'chat' | 'completion'): Pick<Wire, 'sections' | 'error' | 'specials'> {
  const isChat = kind === 'chat'
  const top = { id: 'cmpl-v', created: 1_700_000_000, model: 'vendor-model' }
  const object = isChat ? 'chat.completion.chunk' : 'text_completion'
  const chunk = (text: string, finish: string | null, more: object = {}): Uint8Array => {
    const said = isChat ? { delta: text === '' ? {} : { content: text } } : { text }
    const choices = [{ index: 0, ...said, logprobs: null, finish_reason: finish }]
    return data({ ...top, object, choices, ...more })
  }
  const usage = { prompt_tokens: 7, completion_tokens: 5, total_tokens: 12 }
  const first = { index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null }
  const troubles = ['error', 'network_error'].map((word) => ({
    name: `finish_reason ${word}`,
    after: 'text' as const,
    bytes: join(chunk('', word), bytesOf('data: [DONE]\n\n')),
    ending: 'failed' as const,
  }))
  return {
    sections: {
      head: isChat ? [data({ ...top, object, choices: [first] })] : [],
      text: [chunk('Hel', null), chunk('lo', null)],
      finish: [chunk('', 'stop')],
      usage: [data({ ...top, object, choices: [], usage })],
      terminal: [bytesOf('data: [DONE]\n\n')],
    },
    error: (kind, message) => data({ error: openaiError(kind, message) }),
    specials: [
      ...troubles,
      {
        name: 'finish_reason content_filter',
        after: 'text',
        bytes: join(chunk('', 'content_filter'), bytesOf('data: [DONE]\n\n')),
        ending: 'well',
      },
      {
        name: '[DONE] without a finish',
        after: 'text',
        bytes: bytesOf('data: [DONE]\n\n'),
        ending: 'broken',
      },
      {
        name: 'an event named error',
        after: 'text',
        bytes: bytesOf(
          `event: error\ndata: ${JSON.stringify({ error: openaiError('failed', 'The vendor says no.') })}\n\n`,
        ),
        ending: 'failed',
      },
    ],
  }
}

const responseUsage = {
  input_tokens: 7,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: 5,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 12,
}
const responsePart = { type: 'output_text', text: 'Hello', annotations: [], logprobs: [] }
const responseItem = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  status: 'completed',
  content: [responsePart],
}
const responseOf = (status: string, more: object = {}) => ({
  id: 'resp_v',
  object: 'response',
  created_at: 1_700_000_000,
  status,
  error: null,
  incomplete_details: null,
  model: 'vendor-model',
  output: status === 'in_progress' ? [] : [responseItem],
  parallel_tool_calls: true,
  tool_choice: 'auto',
  tools: [],
  usage: status === 'in_progress' ? null : responseUsage,
  ...more,
})

function failedResponses(): readonly Special[] {
  const failedWith = (error: object | null, status = 'failed') =>
    named(`response.${status}`, { response: responseOf(status, { error, usage: null }) })
  const said = { code: 'server_error', message: 'The vendor says no.' }
  return [
    {
      name: 'response.failed with an error',
      after: 'text',
      bytes: failedWith(said),
      ending: 'failed',
    },
    {
      name: 'response.failed without an error',
      after: 'text',
      bytes: failedWith(null),
      ending: 'broken',
    },
    {
      name: 'response.failed after its items',
      after: 'finish',
      bytes: failedWith(said),
      ending: 'failed',
    },
    {
      name: 'an error event and response.failed',
      after: 'finish',
      bytes: join(named('error', { ...said, param: null }), failedWith(said)),
      ending: 'failed',
    },
    {
      name: 'response.cancelled',
      after: 'text',
      bytes: failedWith(null, 'cancelled'),
      ending: 'broken',
    },
    ...['max_output_tokens', 'content_filter'].map((reason) => ({
      name: `response.incomplete by ${reason}`,
      after: 'finish' as const,
      bytes: named('response.incomplete', {
        response: responseOf('incomplete', { incomplete_details: { reason } }),
      }),
      ending: 'well' as const,
    })),
  ]
}

function responsesWire(): Pick<Wire, 'sections' | 'error' | 'specials'> {
  const [part, item] = [responsePart, responseItem]
  const at = { item_id: 'msg_1', output_index: 0, content_index: 0 }
  const delta = (text: string) =>
    named('response.output_text.delta', { ...at, delta: text, logprobs: [] })
  return {
    sections: {
      head: [
        named('response.created', { response: responseOf('in_progress') }),
        named('response.output_item.added', {
          output_index: 0,
          item: { ...item, status: 'in_progress', content: [] },
        }),
        named('response.content_part.added', { ...at, part: { ...part, text: '' } }),
      ],
      text: [delta('Hel'), delta('lo')],
      finish: [
        named('response.output_text.done', { ...at, text: 'Hello', logprobs: [] }),
        named('response.content_part.done', { ...at, part }),
        named('response.output_item.done', { output_index: 0, item }),
      ],
      usage: [],
      terminal: [named('response.completed', { response: responseOf('completed') })],
    },
    error: (kind, message) => {
      const codes = {
        failed: 'server_error',
        rejected: 'invalid_prompt',
        limited: 'rate_limit_exceeded',
      }
      return named('error', { code: codes[kind], message, param: null, sequence_number: 9 })
    },
    specials: failedResponses(),
  }
}

function messagesWire(): Pick<Wire, 'sections' | 'error' | 'specials'> {
  const usage = { input_tokens: 7, output_tokens: 5 }
  const delta = (text: string) =>
    named('content_block_delta', { index: 0, delta: { type: 'text_delta', text } })
  const stop = (stop_reason: string, more: object = {}) =>
    named('message_delta', { delta: { stop_reason, stop_sequence: null, ...more }, usage })
  const message = {
    id: 'msg_v',
    type: 'message',
    role: 'assistant',
    model: 'vendor-model',
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { ...usage, output_tokens: 1 },
  }
  const types = {
    failed: 'api_error',
    rejected: 'invalid_request_error',
    limited: 'rate_limit_error',
  }
  const error = (type: string, text: string) => named('error', { error: { type, message: text } })
  const blockStop = named('content_block_stop', { index: 0 })
  return {
    sections: {
      head: [
        named('message_start', { message }),
        named('ping', {}),
        named('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
      ],
      text: [delta('Hel'), delta('lo')],
      finish: [blockStop, stop('end_turn')],
      usage: [],
      terminal: [named('message_stop', {})],
    },
    error: (kind, text) => error(types[kind], text),
    specials: [
      {
        name: 'stop_reason refusal',
        after: 'text',
        bytes: join(blockStop, stop('refusal'), named('message_stop', {})),
        ending: 'well',
      },
      {
        name: 'overloaded_error after the finish',
        after: 'finish',
        bytes: error('overloaded_error', 'The vendor says no.'),
        ending: 'failed',
      },
      {
        name: 'message_stop without a reason',
        after: 'text',
        bytes: named('message_stop', {}),
        ending: 'broken',
      },
    ],
  }
}

function geminiWire(): Pick<Wire, 'sections' | 'error' | 'specials'> {
  const top = { modelVersion: 'vendor-model', responseId: 'gemini-v' }
  const frame = (text: string | null, finishReason?: string, more: object = {}) => {
    const content = text === null ? {} : { content: { role: 'model', parts: [{ text }] } }
    const candidate = { ...content, ...(finishReason !== undefined && { finishReason }), index: 0 }
    return data({ candidates: [{ ...candidate, ...more }], ...top })
  }
  const usageMetadata = { promptTokenCount: 7, candidatesTokenCount: 5, totalTokenCount: 12 }
  const codes = {
    failed: { code: 503, status: 'UNAVAILABLE' },
    rejected: { code: 400, status: 'INVALID_ARGUMENT' },
    limited: { code: 429, status: 'RESOURCE_EXHAUSTED' },
  }
  const troubles = [
    'MALFORMED_FUNCTION_CALL',
    'UNEXPECTED_TOOL_CALL',
    'TOO_MANY_TOOL_CALLS',
    'MALFORMED_RESPONSE',
    'OTHER',
  ]
  return {
    sections: {
      head: [],
      text: [frame('Hel'), frame('lo')],
      finish: [frame('', 'STOP')],
      usage: [data({ usageMetadata, ...top })],
      terminal: [],
    },
    error: (kind, message) => data({ error: { ...codes[kind], message } }),
    specials: [
      ...troubles.map((word) => ({
        name: `finishReason ${word}`,
        after: 'text' as const,
        bytes: frame(null, word, { finishMessage: 'The vendor says no.' }),
        ending: 'failed' as const,
        // Google's own clients get the original word.
        alikeEnding: 'well' as const,
      })),
      ...['RECITATION', 'SAFETY', 'PROHIBITED_CONTENT'].map((word) => ({
        name: `finishReason ${word}`,
        after: 'text' as const,
        bytes: frame(null, word),
        ending: 'well' as const,
      })),
    ],
  }
}

function cohereWire(): Pick<Wire, 'sections' | 'error' | 'specials'> {
  const usage = {
    billed_units: { input_tokens: 7, output_tokens: 5 },
    tokens: { input_tokens: 7, output_tokens: 5 },
  }
  const message = (content: object) => ({ index: 0, delta: { message: { content } } })
  const end = (finish_reason: string, more: object = {}) =>
    data({ type: 'message-end', delta: { finish_reason, usage, ...more } })
  return {
    sections: {
      head: [
        data({ id: 'c-v', type: 'message-start', delta: { message: { role: 'assistant' } } }),
        data({ type: 'content-start', ...message({ type: 'text', text: '' }) }),
      ],
      text: ['Hel', 'lo'].map((text) => data({ type: 'content-delta', ...message({ text }) })),
      finish: [data({ type: 'content-end', index: 0 })],
      usage: [],
      terminal: [end('COMPLETE')],
    },
    error: (kind, text) =>
      kind === 'failed' ? data({ message: text }) : data({ error: openaiError(kind, text) }),
    specials: [
      {
        name: 'finish_reason ERROR',
        after: 'finish',
        bytes: end('ERROR', { error: 'The vendor says no.' }),
        ending: 'failed',
      },
      { name: 'finish_reason TIMEOUT', after: 'finish', bytes: end('TIMEOUT'), ending: 'broken' },
      {
        name: 'finish_reason ERROR_TOXIC',
        after: 'finish',
        bytes: end('ERROR_TOXIC'),
        ending: 'well',
      },
    ],
  }
}

function bedrockWire(): Wire {
  const delta = (text: string) =>
    awsEvent('contentBlockDelta', { contentBlockIndex: 0, delta: { text } })
  const usage = { inputTokens: 7, outputTokens: 5, totalTokens: 12 }
  const metadata = awsEvent('metadata', { usage, metrics: { latencyMs: 1 } })
  const names = {
    failed: 'internalServerException',
    rejected: 'validationException',
    limited: 'throttlingException',
  }
  const flipped = Buffer.from(delta('bad'))
  flipped.writeUInt8(flipped.readUInt8(flipped.length - 6) ^ 1, flipped.length - 6)
  const tooLong = Buffer.from(delta('bad'))
  tooLong.writeUInt32BE(0x7fff_ffff, 0)
  return {
    dialect: 'bedrock-converse',
    vendor: 'bedrock',
    family: 'anthropic.claude-sonnet-4-5',
    head: aws,
    // Its usage comes last, in every stream.
    cleanAfter: 'terminal',
    wholeAfter: 'terminal',
    sections: {
      head: [awsEvent('messageStart', { role: 'assistant' })],
      text: [delta('Hel'), delta('lo')],
      finish: [
        awsEvent('contentBlockStop', { contentBlockIndex: 0 }),
        awsEvent('messageStop', { stopReason: 'end_turn' }),
      ],
      usage: [],
      terminal: [metadata],
    },
    error: (kind, message) => awsEvent(names[kind], { message }),
    garbage: flipped,
    wrongType: awsEvent('contentBlockDelta', '').subarray(0, -5),
    tooLong,
    specials: [
      ...['malformed_model_output', 'malformed_tool_use'].map((word) => ({
        name: `stopReason ${word}`,
        after: 'text' as const,
        bytes: join(awsEvent('messageStop', { stopReason: word }), metadata),
        ending: 'failed' as const,
      })),
      {
        name: 'stopReason content_filtered',
        after: 'text',
        bytes: join(awsEvent('messageStop', { stopReason: 'content_filtered' }), metadata),
        ending: 'well',
      },
    ],
  }
}

export const wires: readonly Wire[] = [
  {
    dialect: 'openai-chat',
    vendor: 'openai',
    family: 'gpt-4o',
    cleanAfter: 'finish',
    wholeAfter: 'usage',
    ...brokenEvents,
    ...chatLike('chat'),
  },
  {
    dialect: 'openai-completions',
    vendor: 'openai-compatible',
    family: 'gpt-3.5-turbo-instruct',
    cleanAfter: 'finish',
    wholeAfter: 'usage',
    ...brokenEvents,
    ...chatLike('completion'),
  },
  {
    dialect: 'openai-responses',
    vendor: 'openai',
    family: 'gpt-4o',
    cleanAfter: 'terminal',
    wholeAfter: 'terminal',
    ...brokenEvents,
    ...responsesWire(),
  },
  {
    dialect: 'anthropic-messages',
    vendor: 'anthropic',
    family: 'claude-sonnet-4-5',
    cleanAfter: 'finish',
    wholeAfter: 'finish',
    ...brokenEvents,
    ...messagesWire(),
    // Official clients ignore an event of an unknown type; an event that is not an object is broken.
    wrongType: bytesOf('event: content_block_delta\ndata: ["no", "event"]\n\n'),
  },
  {
    dialect: 'gemini',
    vendor: 'google',
    family: 'gemini-2.5-flash',
    cleanAfter: 'finish',
    wholeAfter: 'finish',
    ...brokenEvents,
    ...geminiWire(),
  },
  {
    dialect: 'cohere-v2',
    vendor: 'cohere',
    family: 'command-a-03-2025',
    cleanAfter: 'terminal',
    wholeAfter: 'terminal',
    ...brokenEvents,
    ...cohereWire(),
  },
  bedrockWire(),
]
