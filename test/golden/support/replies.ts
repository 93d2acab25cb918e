// Replies as events of the hub, one for each thing that a vendor may say.

import type { ChatEvent, FinishReason, PartHead, UrlCitation, Usage } from '../../../src/wire/ir.ts'

interface Part {
  readonly head: PartHead
  readonly pieces: readonly string[]
  readonly sealed?: string
  readonly citations?: readonly UrlCitation[]
}

type Ending = Partial<Omit<Extract<ChatEvent, { readonly type: 'choice-end' }>, 'type'>>

const usage: Usage = { input: 9, cachedInput: 0, cacheWrite: 0, output: 5, reasoning: 0 }
const counted: ChatEvent = { type: 'usage', usage }
const start: ChatEvent = {
  type: 'response-start',
  id: 'up-1',
  model: 'model-1',
  createdAt: 1_700_000_000,
}

function part(head: PartHead, ...pieces: string[]): Part {
  return { head, pieces }
}

function text(...pieces: string[]): Part {
  return part({ type: 'text' }, ...pieces)
}

function thought(sealed: string | null, ...pieces: string[]): Part {
  const said = part({ type: 'reasoning' }, ...pieces)
  return sealed === null ? said : { ...said, sealed }
}

function call(id: string, name: string, ...pieces: string[]): Part {
  return part({ type: 'tool-call', id, name }, ...pieces)
}

function opened({ head }: Part, at: number): ChatEvent {
  return { type: 'part-start', choice: 0, part: at, head }
}

function piece(at: number, words: string): ChatEvent {
  return { type: 'part-delta', choice: 0, part: at, text: words }
}

function closed({ sealed }: Part, at: number): ChatEvent {
  return { type: 'part-end', choice: 0, part: at, ...(sealed !== undefined && { sealed }) }
}

/** The part from its start to its end. */
function whole(said: Part, at: number): ChatEvent[] {
  const cited = (said.citations ?? []).map(
    (citation): ChatEvent => ({ type: 'citation', choice: 0, part: at, citation }),
  )
  const pieces = said.pieces.map((words) => piece(at, words))
  return [opened(said, at), ...pieces, ...cited, closed(said, at)]
}

function end(reason: FinishReason, more: Ending = {}): ChatEvent {
  return { type: 'choice-end', choice: 0, reason, ...more }
}

function reply(reason: FinishReason, parts: readonly Part[], more: Ending = {}): ChatEvent[] {
  return [start, ...parts.flatMap(whole), end(reason, more), counted]
}

function asChoice(choice: number, events: readonly ChatEvent[]): ChatEvent[] {
  return events.map((event) => ('choice' in event ? { ...event, choice } : event))
}

const redacted: Part = { head: { type: 'reasoning', redacted: true }, pieces: [], sealed: 'cmVk' }
const bern = call('call_1', 'weather', '{"ci', 'ty":"Bern"}')
const rome = call('call_2', 'weather', '{"city":', '"Rom"}')
const page = { url: 'https://example.com/a', title: 'A', start: 0, end: 8 }
const tokens = [{ token: 'Hi', logprob: -0.1, bytes: [72, 105], top_logprobs: [] }]
const search = { type: 'web_search_call', id: 'ws_1', status: 'completed' }

/** Two calls whose inputs alternate. */
const interleaved = [
  opened(bern, 0),
  opened(rome, 1),
  piece(0, '{"ci'),
  piece(1, '{"city":'),
  piece(0, 'ty":"Bern"}'),
  piece(1, '"Rom"}'),
  closed(rome, 1),
  closed(bern, 0),
]

const twoChoices = [
  opened(text(), 0),
  piece(0, 'He'),
  ...asChoice(1, [opened(text(), 0), piece(0, 'Good')]),
  piece(0, 'ads'),
  ...asChoice(1, [piece(0, ' day'), closed(text(), 0), end('length')]),
  closed(text(), 0),
  end('stop'),
]

const manyCounts: Usage = {
  input: 100,
  cachedInput: 400,
  cacheWrite: 30,
  cacheWrite1h: 20,
  audioInput: 5,
  imageInput: 7,
  output: 50,
  reasoning: 60,
  audioOutput: 3,
  imageOutput: 4,
}

const plain: Readonly<Record<string, readonly ChatEvent[]>> = {
  text: reply('stop', [text('Hel', 'lo', ' there.')]),
  unicode: reply('stop', [
    text('Gru\u0308', 'ße ', '👩\u200d👩', '\u200d👧', '𝕏 שלום', '\u0000\u2028'),
  ]),
  'unicode-split': reply('stop', [text('a \ud83d', '\udc4b b')]),
  'texts-two': reply('stop', [text('One.'), text(' Two.')]),
  nothing: reply('stop', []),
  length: reply('length', [text('Once upon')]),
  filter: reply('content_filter', [text('I will')]),
  'stop-text': reply('stop', [text('One, ')], { stopText: 'END' }),
  refusal: reply('stop', [part({ type: 'refusal' }, "I can't", ' help.')]),
  citations: reply('stop', [{ ...text('It rains', ' today.'), citations: [page] }]),
  'citations-later-text': reply('stop', [
    text('Look: '),
    { ...text('It rains', ' today.'), citations: [page] },
  ]),
  image: reply('stop', [
    text('Here.'),
    part({ type: 'image', mediaType: 'image/png' }, 'iVBO', 'Rw0KGgo='),
  ]),
  'vendor-tool': reply('stop', [
    part({ type: 'other', extra: { 'some-dialect': search } }),
    text('Dry.'),
  ]),
  logprobs: [
    start,
    opened(text(), 0),
    { type: 'logprobs', choice: 0, part: 0, tokens },
    piece(0, 'Hi'),
    closed(text(), 0),
    end('stop'),
    counted,
  ],
  'choices-2': [start, ...twoChoices, counted],
  usage: [...reply('stop', [text('Yes.')]).slice(0, -1), { type: 'usage', usage: manyCounts }],
  'usage-early': [start, counted, ...reply('stop', [text('Yes.')]).slice(1)],
  'usage-none': reply('stop', [text('Yes.')]).slice(0, -1),
}

const calling: Readonly<Record<string, readonly ChatEvent[]>> = {
  'call-one': reply('tool_calls', [bern]),
  'call-empty': reply('tool_calls', [call('call_1', 'clock', '{}')]),
  'call-after-text': reply('tool_calls', [text('I look.'), bern]),
  'calls-parallel': reply('tool_calls', [bern, rome, call('call_3', 'clock', '{}')]),
  'calls-interleaved': [start, ...interleaved, end('tool_calls'), counted],
  'call-sealed': reply('tool_calls', [{ ...bern, sealed: 'c2ln' }, rome]),
  'call-cut-by-length': reply('length', [call('call_1', 'weather', '{"ci')]),
  'call-custom': reply('tool_calls', [
    part({ type: 'tool-call', id: 'call_1', name: 'shell', custom: true }, 'ls ', '-l'),
  ]),
  reasoning: reply('stop', [thought(null, 'Let me', ' see.'), text('Noon.')]),
  'reasoning-sealed': reply('stop', [thought('c2ln', 'Let me', ' see.'), text('Noon.')]),
  'reasoning-redacted': reply('stop', [redacted, text('Noon.')]),
  'reasoning-hidden': reply('tool_calls', [thought('c2ln'), bern]),
  'reasoning-between': reply('tool_calls', [
    thought('c2ln', 'First.'),
    text('I look.'),
    thought('c2xu', 'Second.'),
    bern,
  ]),
  'text-sealed': reply('stop', [{ ...text('Noon.'), sealed: 'c2ln' }]),
}

export const replyCases = Object.entries({ ...plain, ...calling })

/** Replies that break off: what came until then. */
export const brokenCases: readonly (readonly [name: string, events: readonly ChatEvent[]])[] = [
  ['broken', [start, opened(text(), 0), piece(0, 'Hel')]],
  ['broken-at-once', [start]],
  ['broken-in-call', [start, opened(bern, 0), piece(0, '{"ci')]],
]
