// Tests the sandbox's realtime sessions: each event and its answers, in order; pace, pauses and faults.

import { expect, jest, test } from 'bun:test'
import { Buffer } from 'node:buffer'
import type { SocketListener, TransportFault, VendorSocket } from '../../transport.ts'
import { secondsToSay, tuneOf } from '../media/tune.ts'
import { connectSandbox } from './socket.ts'

type Event = ReturnType<typeof JSON.parse>

class Session implements SocketListener {
  readonly events: Event[] = []
  readonly raw: string[] = []
  readonly socket: VendorSocket
  closedWith: readonly [number, string] | null = null
  onEvent: (event: Event) => void = () => undefined
  private waiting: (() => void)[] = []

  constructor(socket: VendorSocket) {
    this.socket = socket
  }

  message(payload: Buffer): void {
    const text = payload.toString('utf8')
    this.raw.push(text)
    try {
      this.events.push(JSON.parse(text))
    } catch {
      this.events.push({ type: 'not JSON' })
    }
    this.onEvent(this.events.at(-1))
    this.wake()
  }

  closed(code: number, reason: string): void {
    this.closedWith = [code, reason]
    this.wake()
  }

  private wake(): void {
    for (const done of this.waiting.splice(0)) done()
  }

  send(...events: readonly object[]): void {
    for (const event of events) this.socket.send(Buffer.from(JSON.stringify(event)), true)
  }

  async until<T>(met: () => T): Promise<NonNullable<T>> {
    for (;;) {
      const found = met()
      if (found) return found
      await new Promise<void>((resolve) => this.waiting.push(resolve))
    }
  }

  of(type: string): Event[] {
    return this.events.filter((event) => event.type === type)
  }

  first(type: string): Promise<Event> {
    return this.until(() => this.of(type)[0])
  }

  get types(): string[] {
    return this.events.map(({ type }) => type)
  }
}

interface Refused {
  readonly status?: number
  readonly body?: string
  readonly fault?: TransportFault
}

function connect(model = 'sandbox/realtime', answerMs = 1_000): Promise<Session | Refused> {
  return new Promise((resolve) => {
    let returned = false
    connectSandbox(
      { model, answerMs },
      {
        open(socket) {
          expect(returned).toBe(true)
          resolve(new Session(socket))
        },
        refused: (status, _, body) => resolve({ status, body }),
        fault: (fault) => resolve({ fault }),
      },
    )
    returned = true
  })
}

async function open(settings = ''): Promise<Session> {
  const session = await connect(`sandbox/realtime${settings}`)
  if (!(session instanceof Session)) throw new Error(JSON.stringify(session))
  session.socket.start(session)
  if (!settings.includes('fault=empty')) await session.first('session.created')
  return session
}

const inText = {
  type: 'session.update',
  session: { type: 'realtime', output_modalities: ['text'], instructions: 'Be kind.' },
}
const hello = {
  type: 'conversation.item.create',
  item: { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hello there' }] },
}
const create = { type: 'response.create' }
const sentence = "This is Tollgate's sandbox, no model was asked. You said: Hello there"
const words = sentence.split(' ').length

const added = ['conversation.item.added', 'conversation.item.done']
const opened = [
  'response.created',
  'response.output_item.added',
  'conversation.item.added',
  'response.content_part.added',
]
const ended = [
  'response.content_part.done',
  'conversation.item.done',
  'response.output_item.done',
  'response.done',
]

test('a turn of text: every event in order, counted', async () => {
  const session = await open()
  session.send(inText, hello, create)
  const { response } = await session.first('response.done')
  expect(session.types).toEqual([
    'session.created',
    'session.updated',
    ...added,
    ...opened,
    ...Array.from({ length: words }, () => 'response.output_text.delta'),
    'response.output_text.done',
    ...ended,
  ])
  const deltas = session.of('response.output_text.delta').map(({ delta }) => delta)
  expect(deltas.join('')).toBe(sentence)
  expect((await session.first('response.output_text.done')).text).toBe(sentence)
  expect(response).toMatchObject({ status: 'completed', output_modalities: ['text'] })
  expect(response.output[0].content).toEqual([{ type: 'output_text', text: sentence }])
  // Two tokens for the instructions, four and three for the item.
  expect(response.usage).toMatchObject({
    input_tokens: 9,
    output_tokens: words,
    total_tokens: 9 + words,
    input_token_details: { text_tokens: 9, audio_tokens: 0, cached_tokens: 0 },
    output_token_details: { text_tokens: words, audio_tokens: 0 },
  })
  expect(new Set(session.events.map(({ event_id }) => event_id)).size).toBe(session.events.length)
})

test('a turn of sound: samples and words go together, both are counted', async () => {
  const session = await open()
  session.send(hello, create)
  const { response } = await session.first('response.done')
  expect(session.types.slice(7)).toEqual([
    ...Array.from({ length: words }, () => [
      'response.output_audio.delta',
      'response.output_audio_transcript.delta',
    ]).flat(),
    'response.output_audio.done',
    'response.output_audio_transcript.done',
    ...ended,
  ])
  const sound = session.of('response.output_audio.delta').map(({ delta }) => delta)
  const tune = tuneOf(sentence)
  const samples = Buffer.concat(sound.map((delta) => Buffer.from(delta, 'base64')))
  expect(samples.equals(tune.pcm(0, tune.samples))).toBe(true)
  const received = session.of('response.output_audio_transcript.delta').map(({ delta }) => delta)
  expect(received.join('')).toBe(sentence)
  const audio = Math.ceil(secondsToSay(sentence) * 20)
  expect(response.usage.output_token_details).toEqual({ text_tokens: words, audio_tokens: audio })
  expect(response.output[0].content).toEqual([{ type: 'output_audio', transcript: sentence }])
  // The next turn reads all of it.
  session.send(create)
  const { response: next } = await session.until(() => session.of('response.done')[1])
  expect(next.usage.input_token_details).toMatchObject({
    text_tokens: 7 + 4 + words,
    audio_tokens: audio,
  })
})

test('the same turn says the same, byte for byte', async () => {
  const run = async () => {
    const session = await open('+tokens=3')
    session.send(hello, create)
    await session.first('response.done')
    return session.raw
  }
  expect(await run()).toEqual(await run())
})

test('sound of the client: appended, cleared, committed, transcribed, answered', async () => {
  const session = await open()
  const audio = Buffer.alloc(24_000).toString('base64')
  const transcription = { model: 'sandbox/transcription' }
  const append = { type: 'input_audio_buffer.append', audio }
  session.send(
    append,
    { type: 'input_audio_buffer.clear' },
    { ...inText, session: { output_modalities: ['text'], audio: { input: { transcription } } } },
    append,
    append,
    { type: 'input_audio_buffer.commit' },
    create,
  )
  const { response } = await session.first('response.done')
  expect(session.types.slice(1, 8)).toEqual([
    'input_audio_buffer.cleared',
    'session.updated',
    'input_audio_buffer.committed',
    ...added,
    'conversation.item.input_audio_transcription.delta',
    'conversation.item.input_audio_transcription.completed',
  ])
  const { usage } = await session.first('conversation.item.input_audio_transcription.completed')
  expect(usage).toEqual({ type: 'duration', seconds: 1 })
  expect(response.usage.input_token_details).toMatchObject({ text_tokens: 4, audio_tokens: 10 })
  expect(response.output[0].content[0].text).toEndWith('You said: 1 s of sound')
  session.send({ type: 'input_audio_buffer.commit' })
  expect((await session.first('error')).error.code).toBe('input_audio_buffer_commit_empty')
})

test('a response that is cancelled stops, and has used what it said', async () => {
  const session = await open('+gap=5')
  session.onEvent = ({ type }) => {
    const sounds = session.of('response.output_audio.delta').length
    if (type === 'response.output_audio.delta' && sounds === 3)
      session.send({ type: 'response.cancel' })
  }
  session.send(hello, create)
  const { response } = await session.first('response.done')
  const said = session.of('response.output_audio_transcript.delta').map(({ delta }) => delta)
  expect(said.join('')).toBe("This is Tollgate's")
  const samples = session
    .of('response.output_audio.delta')
    .reduce((sum, { delta }) => sum + Buffer.from(delta, 'base64').length / 2, 0)
  expect(response).toMatchObject({
    status: 'cancelled',
    status_details: { type: 'cancelled', reason: 'client_cancelled' },
    output: [{ status: 'incomplete', content: [{ transcript: said.join('') }] }],
    usage: {
      output_token_details: { text_tokens: 3, audio_tokens: Math.ceil((samples / 24_000) * 20) },
    },
  })
  session.onEvent = () => undefined
  session.send({ type: 'response.cancel', event_id: 'late' })
  expect((await session.first('error')).error).toMatchObject({
    code: 'response_cancel_not_active',
    event_id: 'late',
  })
})

test('one response at a time, of its own modality, bound, input and place', async () => {
  const session = await open('+gap=2')
  session.send(hello, create, { ...create, event_id: 'second' })
  expect((await session.first('error')).error).toMatchObject({
    code: 'conversation_already_has_active_response',
    event_id: 'second',
  })
  await session.first('response.done')
  const input = [{ ...hello.item, content: [{ type: 'input_text', text: 'Bye' }] }]
  session.send({
    type: 'response.create',
    response: {
      output_modalities: ['text'],
      max_output_tokens: 4,
      conversation: 'none',
      input,
      metadata: { a: 'b' },
    },
  })
  const { response } = await session.until(() => session.of('response.done')[1])
  expect(response).toMatchObject({
    status: 'incomplete',
    status_details: { reason: 'max_output_tokens' },
    conversation_id: null,
    metadata: { a: 'b' },
    output: [{ content: [{ text: "This is Tollgate's sandbox," }] }],
    usage: { input_tokens: 5, output_tokens: 4 },
  })
  // For sound, the text that is spoken counts too: 4 words of 27 characters are 36 tokens of sound.
  session.send({ type: 'response.create', response: { max_output_tokens: 40 } })
  const { response: spoken } = await session.until(() => session.of('response.done')[2])
  expect(spoken.usage.output_token_details).toEqual({ text_tokens: 4, audio_tokens: 36 })
  // A bound that is never reached does not slow it down.
  const long = await open('+tokens=100000+gap=60000')
  long.send({ type: 'response.create', response: { max_output_tokens: 1e9 } })
  await long.first('response.created')
  long.socket.close(1000, '')
})

test('items: named, placed, taken out', async () => {
  const session = await open()
  const named = (id: string, more: object = {}) => ({
    ...hello,
    ...more,
    item: { ...hello.item, id },
  })
  session.send(
    named('b'),
    named('a', { previous_item_id: 'root' }),
    named('c', { previous_item_id: 'a' }),
  )
  session.send({ type: 'conversation.item.delete', item_id: 'b' })
  await session.first('conversation.item.deleted')
  expect(
    session
      .of('conversation.item.added')
      .map(({ previous_item_id, item }) => [previous_item_id, item.id]),
  ).toEqual([
    [null, 'b'],
    [null, 'a'],
    ['a', 'c'],
  ])
  session.send(inText, create)
  const { response } = await session.first('response.done')
  expect(response.usage.input_tokens).toBe(2 + 2 * 7)
  const output = { type: 'function_call_output', call_id: 'x', output: 'rain' }
  session.send({ type: 'conversation.item.create', item: output }, create)
  await session.until(() => session.of('response.done')[1])
  expect(session.of('response.output_text.done')[1].text).toEndWith('You said: rain')
})

test.each([
  [{ type: 'dance' }, 'type'],
  [{ type: 'session.update' }, 'session'],
  [{ type: 'session.update', session: { modalities: ['text'] } }, 'session.modalities'],
  [{ type: 'session.update', session: { type: 'transcription' } }, 'session.type'],
  [
    { type: 'session.update', session: { output_modalities: ['text', 'audio'] } },
    'session.output_modalities',
  ],
  [
    { type: 'session.update', session: { audio: { output: { format: { type: 'audio/pcmu' } } } } },
    'session.audio.output.format',
  ],
  [
    {
      type: 'session.update',
      session: { audio: { input: { format: { type: 'audio/pcm', rate: 1 } } } },
    },
    'session.audio.input.format',
  ],
  [{ type: 'conversation.item.create', item: { type: 'mcp_call' } }, 'item.type'],
  [{ ...hello, previous_item_id: 'nobody' }, 'previous_item_id'],
  [{ type: 'conversation.item.delete', item_id: 'nobody' }, 'item_id'],
  [{ type: 'input_audio_buffer.append', audio: 'no sound!' }, 'audio'],
  [
    { type: 'response.create', response: { input: [{ type: 'item_reference', id: 'x' }] } },
    'response.input',
  ],
])('%j is answered with an error, and the session goes on', async (event, param) => {
  const session = await open('+tokens=1')
  session.send({ ...event, event_id: 'mine' })
  const { error } = await session.first('error')
  expect([error.param, error.event_id, error.type]).toEqual([
    param,
    'mine',
    'invalid_request_error',
  ])
  session.send(create)
  await session.first('response.done')
})

test('settings: changed one by one, and shown as they are in force', async () => {
  const session = await open()
  const input = { turn_detection: { type: 'server_vad' }, format: { type: 'audio/pcmu' } }
  session.send({ type: 'session.update', session: { audio: { input, output: { voice: 'x' } } } })
  const { session: shown } = await session.first('session.updated')
  // It does not detect pauses.
  expect(shown.audio.input).toMatchObject({ turn_detection: null, format: { type: 'audio/pcmu' } })
  expect(shown.audio.output).toEqual({
    format: { type: 'audio/pcm', rate: 24_000 },
    voice: 'x',
    speed: 1,
  })
  // A second of G.711.
  session.send(
    { type: 'input_audio_buffer.append', audio: Buffer.alloc(8_000).toString('base64') },
    { type: 'input_audio_buffer.commit' },
    create,
  )
  const { response } = await session.first('response.done')
  expect(response.usage.input_token_details.audio_tokens).toBe(10)
})

test('nothing is said while it is paused, nothing after it is closed', async () => {
  const session = await open('+tokens=300')
  let paused = false
  session.onEvent = () => {
    expect(paused).toBe(false)
    if (session.events.length % 50 !== 0) return
    paused = true
    session.socket.pause()
    // Events that were already on their way come first.
    setImmediate(() => {
      paused = false
      session.socket.resume()
    })
  }
  session.send(inText, create)
  await session.first('response.done')
  expect(session.of('response.output_text.delta')).toHaveLength(300)
  session.onEvent = () => {
    if (session.of('response.output_text.delta').length === 310) session.socket.close(1000, '')
  }
  const other = await open('+tokens=300')
  session.send(create)
  other.send(inText, create)
  await other.first('response.done')
  expect(session.of('response.output_text.delta')).toHaveLength(310)
  expect(session.closedWith).toBeNull()
  session.send(create)
})

test('the pace is kept from the beginning of a response', async () => {
  const session = await open('+first=60+gap=10+tokens=5')
  jest.useFakeTimers()
  try {
    const startMs = performance.now()
    const at = new Map<string, number>()
    session.onEvent = ({ type }) => {
      if (!at.has(type)) at.set(type, performance.now() - startMs)
    }
    session.send(inText, create)
    for (let ms = 0; ms < 200; ms += 1) {
      await Promise.resolve()
      jest.advanceTimersByTime(1)
    }
    expect(at.get('response.created')).toBeLessThanOrEqual(1)
    expect(at.get('response.output_text.delta')).toBe(60)
    expect(at.get('response.done')).toBe(100)
  } finally {
    jest.useRealTimers()
  }
})

test.each([
  ['400', 400],
  ['401', 401],
  ['429', 429],
  ['503', 503],
  ['quota', 429],
])('fault=%s refuses the session', async (fault, status) => {
  expect(await connect(`sandbox/realtime+fault=${fault}`)).toMatchObject({ status })
})

test('other faults before the session', async () => {
  expect(await connect('sandbox/realtime+fault=unreachable')).toMatchObject({
    fault: { kind: 'unreachable', unsent: true },
  })
  expect(await connect('sandbox/realtime+fault=reset')).toMatchObject({ fault: { kind: 'reset' } })
  expect(await connect('sandbox/realtime+fault=hang', 20)).toMatchObject({
    fault: { kind: 'timeout' },
  })
  expect(await connect('sandbox/realtime+colour=red')).toMatchObject({ status: 400 })
  expect(await connect('sandbox/chat')).toMatchObject({ status: 404 })
  const empty = await open('+fault=empty')
  expect(await empty.until(() => empty.closedWith)).toEqual([1000, ''])
  expect(empty.events).toEqual([])
})

test('faults within a response', async () => {
  const spoilt = async (fault: string) => {
    const session = await open(`+fault=${fault}+after=2+tokens=4`)
    session.send(inText, create)
    return session
  }
  const cut = await spoilt('cut')
  expect((await cut.until(() => cut.closedWith))[0]).toBe(1006)
  expect(cut.of('response.output_text.delta')).toHaveLength(2)
  const failed = await spoilt('error-event')
  const { response } = await failed.first('response.done')
  expect([response.status, response.status_details.error.code]).toEqual(['failed', 'server_error'])
  expect(response.usage.output_tokens).toBe(2)
  const invalid = await spoilt('invalid')
  await invalid.first('response.done')
  expect(invalid.types.filter((type) => /delta|not JSON/.test(type))).toEqual([
    ...Array.from({ length: 2 }, () => 'response.output_text.delta'),
    'not JSON',
    ...Array.from({ length: 2 }, () => 'response.output_text.delta'),
  ])
  const uncounted = await spoilt('no-usage')
  expect((await uncounted.first('response.done')).response.usage).toBeNull()
  const stalled = await spoilt('stall')
  await stalled.until(() => stalled.of('response.output_text.delta')[1])
  const { receivedMs } = stalled.socket
  stalled.send({ type: 'response.cancel' })
  stalled.socket.ping()
  await (await spoilt('slow+first=30')).first('response.done')
  expect(stalled.types.at(-1)).toBe('response.output_text.delta')
  expect(stalled.socket.receivedMs).toBe(receivedMs)
})
