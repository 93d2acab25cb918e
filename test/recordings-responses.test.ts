// Replays recorded Responses of real vendors to clients of that format and of chats, and recorded chats to its clients.

import { describe, expect, test } from 'bun:test'
import { createOpenAI } from '@ai-sdk/openai'
import OpenAI from 'openai'
import { dialects } from '../src/wire/dialects.ts'
import type { JsonObject } from '../src/wire/ir.ts'
import { frameKind } from '../src/wire/reply.ts'
import { findRecordings, streamBytes } from './recordings/found.ts'
import { plainReading } from './recordings/plain.ts'
import { type Relayed, relay } from './recordings/relayed.ts'
import {
  eventBytes,
  findResponses,
  type PlainResponse,
  plainResponse,
  type ResponseRecording,
} from './recordings/responses.ts'
import { breaches, readAll } from './replies.ts'
import { eventsOf, followed } from './responses.ts'

const from = 'openai-responses' as const
const encoder = new TextEncoder()
const recordings = findResponses()
const isFailed = ({ frames }: ResponseRecording): boolean =>
  plainResponse(frames).status === 'failed'
const sound = recordings.filter((recording) => !isFailed(recording))
const broken = recordings.filter(isFailed)
const streams = sound.filter(({ streamed }) => streamed)

function bytesOf({ streamed, frames }: ResponseRecording): Uint8Array {
  return streamed ? eventBytes(frames) : encoder.encode(frames[0] ?? '')
}

function translated(
  recording: ResponseRecording,
  stream: boolean,
  to: 'openai-chat' | typeof from,
): Relayed {
  const { vendor, streamed } = recording
  const seen = relay({ vendor, from, to, streamed, stream }, [bytesOf(recording)])
  expect(seen.fault).toBeNull()
  expect(seen.clean).toBe(true)
  return seen
}

function answering(body: string, type: string): typeof fetch {
  const answer = async () => new Response(body, { headers: { 'content-type': type } })
  return Object.assign(answer, { preconnect: () => undefined })
}

const baseURL = 'http://127.0.0.1:9/v1'

function client(body: string, stream: boolean): OpenAI {
  const fetch = answering(body, stream ? 'text/event-stream' : 'application/json')
  return new OpenAI({ apiKey: 'k', baseURL, fetch, maxRetries: 0 })
}

/** What the official client reads from a reply in the Responses format. */
async function byOpenai(body: string, stream: boolean): Promise<OpenAI.Responses.Response> {
  const asked = { model: 'm', input: 'hi' }
  if (!stream) return client(body, false).responses.create(asked)
  return client(body, true).responses.stream(asked).finalResponse()
}

function plainOf(response: unknown): PlainResponse {
  return plainResponse([JSON.stringify(response)])
}

/** The same, with inputs as parsed values. */
function meaning({ calls, usage: _, ...rest }: PlainResponse): unknown {
  const value = (text: string): unknown => (text.startsWith('{') ? JSON.parse(text) : text)
  return { ...rest, calls: calls.map((call) => ({ ...call, input: value(call.input) })) }
}

function count(value: unknown): number {
  return typeof value === 'number' ? value : 0
}

function expectUsage(shown: JsonObject | null, vendor: JsonObject | null): void {
  if (vendor === null || count(vendor.total_tokens) === 0) return
  expect(shown).not.toBeNull()
  const usage = shown ?? {}
  const input = usage.input_tokens_details as JsonObject
  const output = usage.output_tokens_details as JsonObject
  expect(count(usage.input_tokens) + count(usage.output_tokens)).toBe(count(usage.total_tokens))
  expect(count(input.cached_tokens) + count(input.cache_write_tokens)).toBeLessThanOrEqual(
    count(usage.input_tokens),
  )
  expect(count(output.reasoning_tokens)).toBeLessThanOrEqual(count(usage.output_tokens))
  for (const name of ['input_tokens', 'output_tokens', 'total_tokens']) {
    expect(usage[name]).toBe(count(vendor[name]))
  }
}

/** What a client that resumes from a number relies on. */
function placesIn(text: string): unknown {
  return eventsOf(text).map(({ type, sequence_number: number, output_index: index, delta }) => ({
    type,
    number,
    index,
    delta,
  }))
}

describe.each([...sound])('$name', (recording) => {
  const plain = plainResponse(recording.frames)

  test('means the same to the official client of its own format', async () => {
    for (const stream of [true, false]) {
      const seen = translated(recording, stream, from)
      const response = plainOf(await byOpenai(seen.text, stream))
      expect(meaning(response)).toEqual(meaning(plain))
      expectUsage(response.usage, plain.usage)
    }
  })

  test('means the same to a client of chats', () => {
    const whole = JSON.parse(translated(recording, false, 'openai-chat').text) as JsonObject
    const [choice] = plainReading([JSON.stringify(whole)]).choices.values()
    const { text, reasoning, calls } = choice ?? { text: '', reasoning: '', calls: [] }
    expect(text).toBe(plain.messages.join('\n\n'))
    expect(reasoning).toBe(plain.reasoning)
    const functions = plain.calls.filter((call) => call.input.startsWith('{'))
    expect(calls.filter(({ name }) => name !== '')).toEqual(functions)
    const streamed = translated(recording, true, 'openai-chat').text
    const data = streamed.split('\n\n').flatMap((frame) => {
      const json = frame.slice('data: '.length)
      return json.startsWith('{') ? [json] : []
    })
    expect(streamed).toEndWith('data: [DONE]\n\n')
    const [again] = plainReading(data).choices.values()
    expect(again).toEqual(choice)
  })

  test('followed while it is made, and told again, it is the same to the official client', async () => {
    const events = eventsOf(translated(recording, true, from).text)
    const { live, again } = followed(events)
    expect(placesIn(live)).toEqual(placesIn(again))
    expect(meaning(plainOf(await byOpenai(again, true)))).toEqual(meaning(plain))
  })

  test('tells events by the rules of the hub', () => {
    const { hub } = dialects[from].vendor
    const { frames, streamed, vendor } = recording
    const events = streamed
      ? readAll(hub?.reader(vendor.quirks) ?? { frame: () => [], end: () => [] }, frames)
      : (hub?.readWhole(JSON.parse(frames[0] ?? ''), vendor.quirks) ?? [])
    expect(breaches(events)).toEqual([])
    expect(events.filter(({ type }) => type === 'fault')).toEqual([])
  })
})

describe.each([...streams])('$name', (recording) => {
  const { frames, vendor } = recording

  test('broken off at any event it never ends clean', () => {
    const stride = Math.max(1, Math.floor(frames.length / 40))
    for (let kept = 0; kept < frames.length; kept += kept > frames.length - 20 ? 1 : stride) {
      for (const to of [from, 'openai-chat'] as const) {
        const cut = { vendor, from, to, streamed: true, stream: true }
        const seen = relay(cut, [eventBytes(frames.slice(0, kept))])
        expect(seen.clean).toBe(false)
        expect(seen.fault?.kind).toBe('cut')
        expect(seen.text).not.toContain('response.completed')
        expect(seen.text).not.toContain('[DONE]')
      }
    }
  })

  test('reads the same however its bytes are cut', () => {
    const whole = translated(recording, true, from).text
    for (const lineEnd of ['\n', '\r\n']) {
      const bytes = eventBytes(frames, lineEnd)
      for (const size of [1, 7, 1_000]) {
        if (bytes.length / size > 60_000) continue
        const pieces: Uint8Array[] = []
        for (let at = 0; at < bytes.length; at += size) pieces.push(bytes.slice(at, at + size))
        const seen = relay({ vendor, from, to: from, streamed: true, stream: true }, pieces)
        expect(seen.text).toBe(whole)
      }
    }
  })

  test('says the same to who watches it pass', () => {
    const watcher = dialects[from].identity.watcher({ wantsUsage: true, quirks: vendor.quirks })
    const kinds = frames.map((frame) => {
      const bytes = eventBytes([frame])
      return watcher.frame(bytes, 0, bytes.length)
    })
    expect(kinds).not.toContain(frameKind.fault)
    const seen = translated(recording, true, from)
    expect(watcher.usage).toEqual(seen.usage)
    expect(watcher.finishReason).not.toBeNull()
  })
})

test.each([...broken])('$name is a fault', (recording) => {
  const { vendor, streamed } = recording
  const asked = { vendor, from, to: from, streamed, stream: true }
  expect(relay(asked, [bytesOf(recording)]).fault?.kind).toBe('quota')
})

const chats = findRecordings()
const chatReplies = [
  ...chats.streams.map((recording) => ({ ...recording, streamed: true })),
  ...chats.wholes.map((recording) => ({ ...recording, streamed: false })),
].filter(({ dialect }) => dialect === 'openai-chat')

describe.each(chatReplies)(
  'a client of Responses is told by $name',
  ({ vendor, frames, streamed }) => {
    const [plain] = plainReading(frames).choices.values()

    test.each([true, false])('what the vendor said; streamed: %p', async (stream) => {
      const bytes = streamed ? streamBytes(frames, true) : encoder.encode(frames[0] ?? '')
      const asked = { vendor, from: 'openai-chat' as const, to: from, streamed, stream }
      const seen = relay(asked, [bytes])
      expect(seen.fault).toBeNull()
      const response = await byOpenai(seen.text, stream)
      const { text, reasoning, calls, usage } = plainOf(response)
      const value = (call: { input: string }) => ({ ...call, input: JSON.parse(call.input) })
      expect({ text, reasoning, calls: calls.map(value) }).toEqual({
        text: plain?.text ?? '',
        reasoning: plain?.reasoning ?? '',
        calls: (plain?.calls ?? []).map(value),
      })
      expect(count(usage?.total_tokens)).toBeGreaterThan(0)
      expect(response.status).toBe(plain?.finish === 'length' ? 'incomplete' : 'completed')
    })

    test.each([true, false])('and the AI SDK reads the same; streamed: %p', async (stream) => {
      const bytes = streamed ? streamBytes(frames, true) : encoder.encode(frames[0] ?? '')
      const asked = { vendor, from: 'openai-chat' as const, to: from, streamed, stream }
      const fetch = answering(
        relay(asked, [bytes]).text,
        stream ? 'text/event-stream' : 'application/json',
      )
      const model = createOpenAI({ apiKey: 'k', baseURL, fetch }).responses('gpt-5')
      const prompt = [{ role: 'user' as const, content: [{ type: 'text' as const, text: 'hi' }] }]
      let text = ''
      const calls: string[] = []
      if (stream) {
        for await (const part of (await model.doStream({ prompt })).stream) {
          if (part.type === 'error') throw part.error
          if (part.type === 'text-delta') text += part.delta
          if (part.type === 'tool-call') calls.push(part.toolCallId)
        }
      } else {
        for (const part of (await model.doGenerate({ prompt })).content) {
          if (part.type === 'text') text += part.text
          if (part.type === 'tool-call') calls.push(part.toolCallId)
        }
      }
      expect(text).toBe(plain?.text ?? '')
      expect(calls).toEqual((plain?.calls ?? []).map(({ id }) => id))
    })
  },
)
