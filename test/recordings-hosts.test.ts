// Replays recorded replies of Cohere and Bedrock and compares what chat clients get with the vendors' replies.

import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import OpenAI from 'openai'
import { vendors } from '../src/vendors/registry.ts'
import type { Vendor } from '../src/vendors/vendor.ts'
import { dialects } from '../src/wire/dialects.ts'
import { unwrapOpaque } from '../src/wire/hub/opaque-state.ts'
import {
  type HostDialect,
  type HostReply,
  hostBytes,
  hostReplies,
  type Plain,
  plainReply,
} from './recordings/hosts.ts'
import { type Relayed, relay } from './recordings/relayed.ts'
import { breaches, readAll } from './replies.ts'

const recordings = hostReplies()
const streams = recordings.filter(({ streamed }) => streamed)
const encoder = new TextEncoder()

function vendorOf(dialect: HostDialect): Vendor {
  const vendor = vendors[dialect === 'cohere-v2' ? 'cohere' : 'bedrock']
  if (vendor === undefined) throw new Error(`nobody speaks ${dialect}`)
  return vendor
}

function bytesOf({ dialect, streamed, frames }: HostReply): Uint8Array {
  return streamed ? hostBytes(dialect, frames) : encoder.encode(frames[0] ?? '')
}

function relayed(recording: HostReply, stream: boolean, pieces: readonly Uint8Array[]): Relayed {
  const { dialect: from, streamed } = recording
  return relay({ vendor: vendorOf(from), from, to: 'openai-chat', streamed, stream }, pieces)
}

async function understood(text: string, stream: boolean): Promise<OpenAI.ChatCompletion> {
  const type = stream ? 'text/event-stream' : 'application/json'
  const answer = async () => new Response(text, { headers: { 'content-type': type } })
  const fetch = Object.assign(answer, { preconnect: () => undefined })
  const client = new OpenAI({ apiKey: 'k', baseURL: 'http://127.0.0.1:9/v1', fetch, maxRetries: 0 })
  const asked = { model: 'm', messages: [{ role: 'user' as const, content: 'hi' }] }
  if (!stream) return client.chat.completions.create(asked)
  const options = { stream_options: { include_usage: true } }
  return client.chat.completions.stream({ ...asked, ...options }).finalChatCompletion()
}

/** The reasoning of a stream, which the client's own accumulator ignores. */
function streamedReasoning(text: string): string {
  return text
    .split('\n\n')
    .filter((frame) => frame.startsWith('data: {'))
    .map((frame) => JSON.parse(frame.slice('data: '.length)).choices[0]?.delta)
    .map((delta) => delta?.reasoning_content ?? '')
    .join('')
}

interface Blocks {
  readonly reasoning_content?: string
  readonly thinking_blocks?: readonly { readonly signature: string }[]
}

function expectMeaning(reply: OpenAI.ChatCompletion, plain: Plain, reasoning?: string): void {
  const [choice] = reply.choices
  const message = choice?.message
  const blocks = message as Blocks | undefined
  const calls = (message?.tool_calls ?? []).flatMap((call) =>
    call.type === 'function'
      ? [{ id: call.id, name: call.function.name, input: JSON.parse(call.function.arguments) }]
      : [],
  )
  expect({
    text: message?.content ?? '',
    reasoning: reasoning ?? blocks?.reasoning_content ?? '',
    calls,
    finish: choice?.finish_reason,
  }).toEqual({
    text: plain.text,
    reasoning: plain.reasoning,
    calls: plain.calls,
    finish: plain.finish as 'stop',
  })
  if (reasoning !== undefined) return
  const sealed = (blocks?.thinking_blocks ?? []).map(
    ({ signature }) => unwrapOpaque(signature)?.value,
  )
  expect(sealed).toEqual(plain.signatures)
}

function expectUsage(reply: OpenAI.ChatCompletion, plain: Plain): void {
  if (plain.input + plain.output === 0) {
    expect(reply.usage ?? null).toBeNull()
    return
  }
  expect(reply.usage).toMatchObject({
    prompt_tokens: plain.input,
    completion_tokens: plain.output,
    total_tokens: plain.input + plain.output,
    prompt_tokens_details: { cached_tokens: plain.cached },
  })
  expect(plain.cached).toBeLessThanOrEqual(plain.input)
}

test('there are recordings of both, where there are any', () => {
  const found = new Set(recordings.map(({ dialect }) => dialect))
  expect([0, 2]).toContain(found.size)
})

describe.each(recordings)('$name', (recording) => {
  const plain = plainReply(recording)
  const bytes = bytesOf(recording)

  test.each([true, false])(
    'means the same to the official client, streaming: %p',
    async (stream) => {
      const seen = relayed(recording, stream, [bytes])
      expect(seen.fault).toBeNull()
      expect(seen.clean).toBe(true)
      const reply = await understood(seen.text, stream)
      expectMeaning(reply, plain, stream ? streamedReasoning(seen.text) : undefined)
      expectUsage(reply, plain)
    },
  )

  test('tells events by the rules of the hub', () => {
    const { hub } = dialects[recording.dialect].vendor
    const events = recording.streamed
      ? readAll(hub.reader({}), recording.frames)
      : [...hub.readWhole(JSON.parse(recording.frames[0] ?? ''), {})]
    expect(events.length).toBeGreaterThan(2)
    expect(breaches(events)).toEqual([])
    expect(events.filter(({ type }) => type === 'fault')).toEqual([])
  })
})

describe.each(streams)('$name, in pieces', (recording) => {
  const bytes = bytesOf(recording)
  const whole = relayed(recording, true, [bytes]).text

  test('reads the same however its bytes are cut', () => {
    const singles = Array.from(bytes, (byte) => Uint8Array.of(byte))
    expect(relayed(recording, true, singles).text).toBe(whole)
    const cuts = fc.array(fc.nat(bytes.length), { maxLength: 32 })
    fc.assert(
      fc.property(cuts, (places) => {
        const sorted = [0, ...places.toSorted((a, b) => a - b), bytes.length]
        const pieces = sorted.slice(1).map((end, at) => bytes.subarray(sorted[at], end))
        expect(relayed(recording, true, pieces).text).toBe(whole)
      }),
      { numRuns: 20 },
    )
  })

  test('W10: broken off at any frame it never ends clean', () => {
    for (let kept = 0; kept < recording.frames.length; kept++) {
      const part = hostBytes(recording.dialect, recording.frames.slice(0, kept))
      const seen = relayed(recording, true, [part])
      expect({ kept, clean: seen.clean, kind: seen.fault?.kind }).toEqual({
        kept,
        clean: false,
        kind: 'cut',
      })
      expect(seen.text).not.toContain('[DONE]')
    }
  })

  test('W51: broken off inside a frame it never ends clean', () => {
    const last = hostBytes(recording.dialect, recording.frames.slice(0, -1)).length
    for (let kept = last + 1; kept < bytes.length - 4; kept++) {
      const seen = relayed(recording, true, [bytes.subarray(0, kept)])
      expect(seen.clean).toBe(false)
      expect(seen.fault).not.toBeNull()
    }
  })
})
