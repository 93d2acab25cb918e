// Replays Anthropic's recorded replies to clients of its own format and of others, whole, streamed and broken off.

import { describe, expect, test } from 'bun:test'
import { createAnthropic } from '@ai-sdk/anthropic'
import Anthropic from '@anthropic-ai/sdk'
import OlderAnthropic from 'anthropic-sdk-0'
import fc from 'fast-check'
import { anthropic } from '../src/vendors/anthropic.ts'
import { dialects } from '../src/wire/dialects.ts'
import type { ClientDialectId } from '../src/wire/formats.ts'
import { unwrapOpaque } from '../src/wire/hub/opaque-state.ts'
import type { JsonObject } from '../src/wire/ir.ts'
import { frameKind } from '../src/wire/reply.ts'
import {
  anthropicMessages,
  type Message,
  messageBytes,
  type Plain,
  plainMessage,
} from './recordings/anthropic.ts'
import { plainReading } from './recordings/plain.ts'
import { type Relayed, relay } from './recordings/relayed.ts'
import { breaches, frames, readAll } from './replies.ts'

const own = 'anthropic-messages'
const { streams: all, wholes } = anthropicMessages()
/** One is joined from two messages. */
const isSpliced = ({ name }: Message): boolean => name.startsWith('spliced')
const streams = all.filter((message) => !isSpliced(message))
const encoder = new TextEncoder()
const { identity, vendor } = dialects[own]

function bytesOf(message: Message): Uint8Array {
  return all.includes(message) ? messageBytes(message.frames) : encoder.encode(message.frames[0])
}

function translated(message: Message, stream: boolean, to: ClientDialectId): Relayed {
  const streamed = all.includes(message)
  const seen = relay({ vendor: anthropic, from: own, to, streamed, stream }, [bytesOf(message)])
  expect(seen.fault).toBeNull()
  expect(seen.clean).toBe(true)
  return seen
}

function dataOf(text: string): string[] {
  return frames(encoder.encode(text), []).filter((data) => data !== '[DONE]')
}

function number(value: unknown): number {
  return typeof value === 'number' ? value : 0
}

/** What the vendor charges for: its counts, and those of compactions and advisers, which they leave out. */
function billed({ usage }: Plain) {
  const details = (usage.output_tokens_details ?? {}) as JsonObject
  const more = ((usage.iterations ?? []) as JsonObject[]).filter(
    ({ type }) => type === 'compaction' || type === 'advisor_message',
  )
  const sum = (name: string): number => more.reduce((total, each) => total + number(each[name]), 0)
  const all = (name: string): number => number(usage[name]) + sum(name)
  const cached = all('cache_read_input_tokens')
  const written = all('cache_creation_input_tokens')
  return {
    prompt: all('input_tokens') + cached + written,
    cached,
    written,
    completion: number(usage.output_tokens) + sum('output_tokens'),
    reasoning: number(details.thinking_tokens),
  }
}

const finishes: Readonly<Record<string, string>> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  pause_turn: 'stop',
  max_tokens: 'length',
  tool_use: 'tool_calls',
  refusal: 'content_filter',
}

function expectChat(data: readonly string[], plain: Plain): void {
  const shown = plainReading(data)
  const choice = shown.choices.get(0)
  expect(choice?.text).toBe(plain.text)
  expect(choice?.reasoning).toBe(plain.thinking)
  const calls = choice?.calls.map((call) => ({ ...call, input: JSON.parse(call.input) })) ?? []
  expect(calls as unknown).toEqual(plain.calls)
  const finish = finishes[plain.stop ?? ''] ?? 'stop'
  // A program of the vendor may have made the calls: the client has to answer them all the same.
  expect(choice?.finish).toBe(calls.length > 0 && finish === 'stop' ? 'tool_calls' : finish)
  // Nothing was counted, and the gateway does not show its own estimate.
  if (billed(plain).prompt + billed(plain).completion === 0) return
  const usage = shown.usage as JsonObject
  const input = usage.prompt_tokens_details as JsonObject
  const output = usage.completion_tokens_details as JsonObject
  expect({
    prompt: number(usage.prompt_tokens),
    cached: number(input.cached_tokens),
    written: number(input.cache_write_tokens),
    completion: number(usage.completion_tokens),
    reasoning: number(output.reasoning_tokens),
  }).toEqual(billed(plain))
  expect(usage.total_tokens).toBe(number(usage.prompt_tokens) + number(usage.completion_tokens))
}

/** What the vendor signed, as the relay marked it for the client. */
function opened(signature: string): string {
  return signature === '' ? '' : (unwrapOpaque(signature)?.value ?? 'not sealed')
}

/** The gateway's message has the same contents as the vendor's, block for block. */
function expectOwn(data: readonly string[], plain: Plain): void {
  const shown = plainMessage(data)
  const { usage: _, ...said } = { ...shown, signatures: shown.signatures.map(opened) }
  const { usage: __, ...given } = plain
  expect(said).toEqual(given)
  expect(billed(shown)).toEqual(billed(plain))
}

describe.each([...streams])('$name', (message) => {
  const plain = plainMessage(message.frames)

  test('means the same to a client of chat, streaming and not', () => {
    expectChat(dataOf(translated(message, true, 'openai-chat').text), plain)
    expectChat([translated(message, false, 'openai-chat').text], plain)
  })

  test('means the same to a client of its own format through the hub, streaming and not', () => {
    expectOwn(dataOf(translated(message, true, own).text), plain)
    expectOwn([translated(message, false, own).text], plain)
  })

  test('tells events by the rules of the hub', () => {
    const events = readAll(vendor.hub.reader({}), message.frames)
    expect(breaches(events)).toEqual([])
    expect(events.filter(({ type }) => type === 'fault')).toEqual([])
  })

  test('W18: its blocks are told one after the other, each from start to stop', () => {
    const text = translated(message, true, own).text
    let open: number | null = null
    let next = 0
    const types: string[] = []
    for (const data of dataOf(text)) {
      const event = JSON.parse(data)
      types.push(event.type)
      if (event.type === 'content_block_start') {
        expect(open).toBeNull()
        expect(event.index).toBe(next++)
        open = event.index
      } else if (event.type.startsWith('content_block')) expect(event.index).toBe(open)
      if (event.type === 'content_block_stop') open = null
    }
    expect(open).toBeNull()
    expect(types[0]).toBe('message_start')
    expect(types.filter((type) => type === 'message_start')).toHaveLength(1)
    expect(types.slice(-2)).toEqual(['message_delta', 'message_stop'])
  })

  test('reads the same however its bytes are cut', () => {
    for (const lineEnd of ['\n', '\r\n']) {
      const bytes = messageBytes(message.frames, lineEnd)
      fc.assert(
        fc.property(fc.array(fc.nat(bytes.length), { maxLength: 64 }), (places) => {
          const sorted = places.toSorted((a, b) => a - b)
          expect(frames(bytes, sorted)).toEqual([...message.frames])
        }),
        { numRuns: 10 },
      )
    }
  })

  test('broken off at any frame it never ends clean before its finish', () => {
    const { length } = message.frames
    const stride = Math.max(1, Math.floor(length / 40))
    for (let kept = 0; kept < length; kept += kept > length - 10 ? 1 : stride) {
      const part = message.frames.slice(0, kept)
      const asked = { vendor: anthropic, from: own, streamed: true, stream: true } as const
      for (const to of ['openai-chat', own] as const) {
        const seen = relay({ ...asked, to }, [messageBytes(part)])
        const ended = part.some((frame) => JSON.parse(frame).type === 'message_delta')
        expect(seen.clean).toBe(ended)
        if (!ended) expect(seen.fault?.kind).toBe('cut')
      }
    }
  })

  test('says the same to who watches it pass', () => {
    const watcher = identity.watcher({ wantsUsage: true, quirks: {} })
    const kinds: number[] = []
    for (const data of message.frames) {
      const bytes = messageBytes([data])
      const kind = watcher.frame(bytes, 0, bytes.length)
      if (kind === frameKind.usage) {
        expect(watcher.amend(bytes, 0, bytes.length)).toEqual(bytes)
      }
      kinds.push(kind)
    }
    expect(watcher.fault).toBeNull()
    expect(kinds.at(-1)).toBe(frameKind.done)
    expect(watcher.usage).toEqual(translated(message, true, own).usage)
    expect(watcher.finishReason).toBe(plain.stop)
  })
})

describe.each([...wholes])('$name', (message) => {
  const plain = plainMessage(message.frames)

  test('means the same to clients of chat and of its own format, whole and streamed', () => {
    expectChat([translated(message, false, 'openai-chat').text], plain)
    expectChat(dataOf(translated(message, true, 'openai-chat').text), plain)
    expectOwn([translated(message, false, own).text], plain)
    expectOwn(dataOf(translated(message, true, own).text), plain)
  })

  test('says the same to who judges its bytes', () => {
    const bytes = bytesOf(message)
    const reply = identity.whole(bytes, {} as never, {})
    expect(reply.fault).toBeNull()
    expect(reply.bytes).toBe(bytes)
    expect(reply.usage).toEqual(translated(message, false, own).usage)
    const tail = identity.tail(bytes.subarray(bytes.length >> 1), {})
    if (tail.usage !== null && reply.usage !== null) expect(tail.usage).toEqual(reply.usage)
  })
})

test.each(all.filter(isSpliced))('W14: $name is no whole message', (message) => {
  const seen = relay({ vendor: anthropic, from: own, to: own, streamed: true, stream: true }, [
    bytesOf(message),
  ])
  expect(seen.fault?.kind).toBe('unreadable')
})

function answering(body: Uint8Array | string, type: string): typeof fetch {
  const answer = async () => new Response(body as BodyInit, { headers: { 'content-type': type } })
  return Object.assign(answer, { preconnect: () => undefined })
}

const asked = { model: 'm', max_tokens: 9, messages: [{ role: 'user' as const, content: 'hi' }] }

function understood(message: Anthropic.Message) {
  const { content } = message
  return {
    text: content.map((block) => (block.type === 'text' ? block.text : '')).join(''),
    thinking: content.map((block) => (block.type === 'thinking' ? block.thinking : '')).join(''),
    calls: content.flatMap((block) =>
      block.type === 'tool_use' ? [{ id: block.id, name: block.name, input: block.input }] : [],
    ),
    stop: message.stop_reason,
  }
}

describe.each([...streams, ...wholes])('clients written elsewhere understand $name', (message) => {
  const { text, thinking, calls, stop } = plainMessage(message.frames)
  const expected = { text, thinking, calls, stop } as unknown

  test.each([
    ['1.x', Anthropic],
    ['0.x', OlderAnthropic as unknown as typeof Anthropic],
  ])('the official SDK %s, streaming and not', async (_, Client) => {
    const client = (body: string, type: string) =>
      new Client({ apiKey: 'k', maxRetries: 0, fetch: answering(body, type) })
    const stream = client(translated(message, true, own).text, 'text/event-stream')
    expect(understood(await stream.messages.stream(asked).finalMessage())).toEqual(
      expected as never,
    )
    const whole = client(translated(message, false, own).text, 'application/json')
    expect(understood(await whole.messages.create(asked))).toEqual(expected as never)
  })

  test('the AI SDK reads of ours what it reads of the vendor', async () => {
    const read = async (body: Uint8Array | string) => {
      const fetch = answering(body, 'text/event-stream')
      const model = createAnthropic({ apiKey: 'k', fetch })('claude-opus-5')
      const { stream } = await model.doStream({
        prompt: [{ role: 'user', content: [{ type: 'text', text: 'hi' }] }],
      })
      const seen = { text: '', thinking: '', calls: [] as unknown[], finish: '', usage: {} }
      for await (const part of stream) {
        if (part.type === 'error') throw part.error
        if (part.type === 'text-delta') seen.text += part.delta
        if (part.type === 'reasoning-delta') seen.thinking += part.delta
        if (part.type === 'tool-call') {
          seen.calls.push([part.toolCallId, part.toolName, JSON.parse(part.input)])
        }
        if (part.type === 'finish') {
          seen.finish = part.finishReason.unified
          const { inputTokens, outputTokens } = part.usage
          seen.usage = {
            input: inputTokens.total,
            cached: inputTokens.cacheRead,
            output: outputTokens.total,
          }
        }
      }
      return seen
    }
    const ours = await read(translated(message, true, own).text)
    if (all.includes(message)) expect(ours).toEqual(await read(bytesOf(message)))
    else expect(ours.text).toEndWith(text)
  })
})
