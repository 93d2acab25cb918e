// Replays recorded replies of real vendors and compares what clients get with the vendors' replies.

import { describe, expect, test } from 'bun:test'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import fc from 'fast-check'
import OpenAI from 'openai'
import { dialects } from '../src/wire/dialects.ts'
import type { JsonObject } from '../src/wire/ir.ts'
import { frameKind } from '../src/wire/reply.ts'
import { findRecordings, type Recording, streamBytes } from './recordings/found.ts'
import { meaning, type PlainReply, plainReading } from './recordings/plain.ts'
import { type Relayed, relay } from './recordings/relayed.ts'
import { breaches, frames, readAll } from './replies.ts'
import { clientOf, identityOf, vendorHub } from './support/dialects.ts'

const { streams, wholes } = findRecordings()
const chatStreams = streams.filter(({ dialect }) => dialect === 'openai-chat')
const chatWholes = wholes.filter(({ dialect }) => dialect === 'openai-chat')
const encoder = new TextEncoder()

/** Smaller streams are divided at every single byte. */
const smallBytes = 8_000
/** Longer streams are broken off only at some frames. */
const someFrames = 60

function translated(recording: Recording, stream: boolean, to = recording.dialect): Relayed {
  const streamed = streams.includes(recording)
  const bytes = streamed
    ? streamBytes(recording.frames, true)
    : encoder.encode(recording.frames[0] ?? '')
  const seen = relay({ ...recording, from: recording.dialect, to, streamed, stream }, [bytes])
  expect(seen.fault).toBeNull()
  expect(seen.clean).toBe(true)
  return seen
}

/** The data of the frames that the client gets, without the terminator. */
function shown(text: string): string[] {
  const data = frames(encoder.encode(text), [])
  expect(data.at(-1)).toBe('[DONE]')
  expect(data.indexOf('[DONE]')).toBe(data.length - 1)
  return data.slice(0, -1)
}

/** The vendor's own text, with its finish reasons translated to OpenAI's. */
function expectSameMeaning(shown: PlainReply, vendor: PlainReply): void {
  expect(meaning(shown)).toEqual(meaning(vendor))
}

function number(value: unknown): number {
  return typeof value === 'number' ? value : 0
}

/** The client's usage adds up, and equals the vendor's count. */
function expectUsage(shown: PlainReply, vendor: PlainReply): void {
  const usage = shown.usage as JsonObject
  const raw = vendor.usage as JsonObject
  const input = usage.prompt_tokens_details as JsonObject
  const output = usage.completion_tokens_details as JsonObject
  expect(number(usage.prompt_tokens) + number(usage.completion_tokens)).toBe(
    number(usage.total_tokens),
  )
  expect(number(input.cached_tokens) + number(input.cache_write_tokens)).toBeLessThanOrEqual(
    number(usage.prompt_tokens),
  )
  expect(number(output.reasoning_tokens)).toBeLessThanOrEqual(number(usage.completion_tokens))
  expect(usage.total_tokens).toBe(number(raw.total_tokens))
  expect(usage.prompt_tokens).toBe(number(raw.prompt_tokens))
  const given = (raw.prompt_tokens_details ?? {}) as JsonObject
  expect(input.cached_tokens).toBe(number(given.cached_tokens ?? raw.cached_tokens))
  const reasoned = (raw.completion_tokens_details ?? {}) as JsonObject
  expect(output.reasoning_tokens).toBe(number(reasoned.reasoning_tokens ?? raw.reasoning_tokens))
}

test('recordings are told apart by what they hold', () => {
  const known = new Set(Object.keys(dialects))
  expect([...streams, ...wholes].filter(({ dialect }) => !known.has(dialect))).toEqual([])
  if (streams.length > 0) expect(chatStreams.length).toBeGreaterThan(0)
})

describe.each([...streams])('$name', (recording) => {
  const { dialect, vendor } = recording
  const plain = plainReading(recording.frames)

  test('means the same to a client who streams', () => {
    const seen = plainReading(shown(translated(recording, true).text))
    expectSameMeaning(seen, plain)
    expectUsage(seen, plain)
  })

  test('means the same to a client who waits for the whole', () => {
    const seen = plainReading([translated(recording, false).text])
    expectSameMeaning(seen, plain)
    expectUsage(seen, plain)
  })

  test('tells events by the rules of the hub', () => {
    const events = readAll(vendorHub(dialect).reader(vendor.quirks), recording.frames)
    expect(breaches(events)).toEqual([])
    expect(events.filter(({ type }) => type === 'fault')).toEqual([])
  })

  test('reads the same however its bytes are cut', () => {
    for (const lineEnd of ['\n', '\r\n']) {
      const bytes = streamBytes(recording.frames, true, lineEnd)
      const expected = [...recording.frames, '[DONE]']
      const cuts = fc.array(fc.nat(bytes.length), { maxLength: 64 })
      fc.assert(
        fc.property(cuts, (places) => {
          const sorted = places.toSorted((a, b) => a - b)
          expect(frames(bytes, sorted)).toEqual(expected)
        }),
        { numRuns: 10 },
      )
      if (bytes.length > smallBytes) continue
      expect(
        frames(
          bytes,
          Array.from(bytes, (_, at) => at),
        ),
      ).toEqual(expected)
    }
  })

  test('broken off at any frame it never ends clean', () => {
    const { length } = recording.frames
    const stride = Math.max(1, Math.floor(length / someFrames))
    for (let kept = 0; kept < length; kept += kept > length - someFrames ? 1 : stride) {
      const part = recording.frames.slice(0, kept)
      const cut = { vendor, from: dialect, to: dialect, streamed: true, stream: true }
      const seen = relay(cut, [streamBytes(part, false)])
      // A reply is complete if it has its finish reason and its usage: then nothing of it may be missing.
      if (seen.clean) expectSameMeaning(plainReading(shown(seen.text)), plain)
      else expect(seen.fault?.kind).toBe('cut')
      expect(seen.text.includes('[DONE]')).toBe(seen.clean)
    }
  })

  test('says the same to who watches it pass', () => {
    const watcher = identityOf(dialect).watcher({ wantsUsage: true, quirks: vendor.quirks })
    const kinds = new Set<number>()
    for (const data of [...recording.frames, '[DONE]']) {
      const bytes = encoder.encode(`data: ${data}\n\n`)
      const kind = watcher.frame(bytes, 0, bytes.length)
      if (kind === frameKind.usage) watcher.amend(bytes, 0, bytes.length)
      kinds.add(kind)
    }
    expect(watcher.fault).toBeNull()
    expect(kinds).toContain(frameKind.done)
    expect(watcher.usage).toEqual(translated(recording, true).usage)
    expect(watcher.finishReason).toBe([...plain.choices.values()][0]?.finish ?? null)
  })
})

describe.each(wholes.filter(({ dialect }) => dialect !== 'openai-embeddings'))(
  '$name',
  (recording) => {
    const plain = plainReading(recording.frames)

    test('means the same to a client who waits for the whole, and to one who streams', () => {
      const whole = plainReading([translated(recording, false).text])
      expectSameMeaning(whole, plain)
      expectUsage(whole, plain)
      const streamed = plainReading(shown(translated(recording, true).text))
      expectSameMeaning(streamed, plain)
      expectUsage(streamed, plain)
    })

    test('says the same to who judges its bytes', () => {
      const identity = identityOf(recording.dialect)
      const peek = {} as Parameters<typeof identity.whole>[1]
      const bytes = encoder.encode(recording.frames[0] ?? '')
      const reply = identity.whole(bytes, peek, recording.vendor.quirks)
      expect(reply.fault).toBeNull()
      expect(reply.usage).toEqual(translated(recording, false).usage)
    })
  },
)

test.each(wholes.filter(({ dialect }) => dialect === 'openai-embeddings'))(
  '$name is passed on as it is',
  ({ dialect, vendor, frames: [body = ''] }) => {
    const peek = clientOf(dialect).peek(encoder.encode('{"model":"m","input":"a"}'))
    const reply = identityOf(dialect).whole(encoder.encode(body), peek, vendor.quirks)
    expect(reply.fault).toBeNull()
    const [shownBody, given] = [JSON.parse(new TextDecoder().decode(reply.bytes)), JSON.parse(body)]
    expect(shownBody.data).toEqual(given.data)
    expect(reply.usage?.input).toBe(given.usage.prompt_tokens)
  },
)

describe.each([...chatStreams, ...chatWholes])(
  'a completions client is told by $name',
  (recording) => {
    test('its text and nothing else', () => {
      const plain = plainReading(recording.frames)
      const texts = [...plain.choices.values()].map(({ text }) => text)
      const streamed = plainReading(shown(translated(recording, true, 'openai-completions').text))
      expect([...streamed.choices.values()].map(({ text }) => text)).toEqual(texts)
      const whole = JSON.parse(translated(recording, false, 'openai-completions').text)
      expect(whole.object).toBe('text_completion')
      expect(whole.choices.map((choice: JsonObject) => choice.text)).toEqual(texts)
      expect(streamed.usage).toEqual(whole.usage)
    })
  },
)

function answering(body: string, type: string): typeof fetch {
  const answer = async () => new Response(body, { headers: { 'content-type': type } })
  return Object.assign(answer, { preconnect: () => undefined })
}

/** What a client from another project reads. */
interface Understood {
  text: string
  reasoning: string
  calls: { id: string; name: string; input: unknown }[]
  prompt: number | undefined
  completion: number | undefined
}

function expected(recording: Recording): Understood {
  const plain = plainReading(recording.frames)
  const [choice] = [...plain.choices.values()]
  const prompt = number(plain.usage?.prompt_tokens)
  return {
    text: choice?.text ?? '',
    reasoning: choice?.reasoning ?? '',
    calls: (choice?.calls ?? []).map((call) => ({ ...call, input: JSON.parse(call.input) })),
    prompt,
    completion: number(plain.usage?.total_tokens) - prompt,
  }
}

const messages = [{ role: 'user' as const, content: 'hi' }]
const baseURL = 'http://127.0.0.1:9/v1'

async function byOpenai(text: string, stream: boolean): Promise<Understood> {
  const fetch = answering(text, stream ? 'text/event-stream' : 'application/json')
  const client = new OpenAI({ apiKey: 'k', baseURL, fetch, maxRetries: 0 })
  const asked = { model: 'm', messages }
  const reply = stream
    ? await client.chat.completions
        .stream({ ...asked, stream_options: { include_usage: true } })
        .finalChatCompletion()
    : await client.chat.completions.create(asked)
  const message = reply.choices[0]?.message
  const calls = (message?.tool_calls ?? []).flatMap((call) =>
    call.type === 'function'
      ? [{ id: call.id, name: call.function.name, input: JSON.parse(call.function.arguments) }]
      : [],
  )
  return {
    text: message?.content ?? '',
    reasoning: (message as { reasoning_content?: string } | undefined)?.reasoning_content ?? '',
    calls,
    prompt: reply.usage?.prompt_tokens,
    completion: reply.usage?.completion_tokens,
  }
}

function compatible(text: string, type: string) {
  const fetch = answering(text, type)
  return createOpenAICompatible({ name: 'g', baseURL, fetch, includeUsage: true }).chatModel('m')
}

const prompt = [{ role: 'user' as const, content: [{ type: 'text' as const, text: 'hi' }] }]

async function byAiSdkStream(text: string): Promise<Understood> {
  const { stream } = await compatible(text, 'text/event-stream').doStream({ prompt })
  const seen: Understood = {
    text: '',
    reasoning: '',
    calls: [],
    prompt: undefined,
    completion: undefined,
  }
  for await (const part of stream) {
    if (part.type === 'error') throw part.error
    if (part.type === 'text-delta') seen.text += part.delta
    if (part.type === 'reasoning-delta') seen.reasoning += part.delta
    if (part.type === 'tool-call') {
      seen.calls.push({ id: part.toolCallId, name: part.toolName, input: JSON.parse(part.input) })
    }
    if (part.type === 'finish') {
      seen.prompt = part.usage.inputTokens.total
      seen.completion = part.usage.outputTokens.total
    }
  }
  return seen
}

async function byAiSdkWhole(text: string): Promise<Understood> {
  const { content, usage } = await compatible(text, 'application/json').doGenerate({ prompt })
  const calls = content.flatMap((part) =>
    part.type === 'tool-call'
      ? [{ id: part.toolCallId, name: part.toolName, input: JSON.parse(part.input) as unknown }]
      : [],
  )
  const joined = (type: 'text' | 'reasoning'): string =>
    content.map((part) => (part.type === type ? part.text : '')).join('')
  return {
    text: joined('text'),
    reasoning: joined('reasoning'),
    calls,
    prompt: usage.inputTokens.total,
    completion: usage.outputTokens.total,
  }
}

describe.each([...chatStreams, ...chatWholes])(
  'clients written elsewhere understand $name',
  (recording) => {
    test('the official SDK, streaming and not', async () => {
      const { reasoning: _, ...wanted } = expected(recording)
      expect(await byOpenai(translated(recording, true).text, true)).toMatchObject(wanted)
      expect(await byOpenai(translated(recording, false).text, false)).toEqual(expected(recording))
    })

    test('the AI SDK, streaming and not', async () => {
      expect(await byAiSdkStream(translated(recording, true).text)).toEqual(expected(recording))
      expect(await byAiSdkWhole(translated(recording, false).text)).toEqual(expected(recording))
    })
  },
)
