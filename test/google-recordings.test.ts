// Replays recorded replies of Google and compares what clients of other formats get with an independent reader.

import { describe, expect, test } from 'bun:test'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createGoogleGenerativeAI } from '@ai-sdk/google'
import OpenAI from 'openai'
import { google } from '../src/vendors/google.ts'
import { dialects } from '../src/wire/dialects.ts'
import type { JsonObject } from '../src/wire/ir.ts'
import { frameKind } from '../src/wire/reply.ts'
import { recordingsFolder } from './recordings/found.ts'
import { type Relayed, relay } from './recordings/relayed.ts'
import { breaches, readAll } from './replies.ts'

interface Recording {
  readonly name: string
  readonly streamed: boolean
  readonly frames: readonly string[]
}

function recordings(): Recording[] {
  const root = recordingsFolder()
  if (root === null || !existsSync(join(root, 'google'))) return []
  return readdirSync(join(root, 'google')).flatMap((name) => {
    const text = readFileSync(join(root, 'google', name), 'utf8').trim()
    if (text === '') return []
    const streamed = name.endsWith('.chunks.txt')
    const frames = streamed ? text.split('\n') : [text]
    const first = JSON.parse(frames[0] ?? '{}') as JsonObject
    return Array.isArray(first['candidates']) ? [{ name, streamed, frames }] : []
  })
}

const found = recordings()
const encoder = new TextEncoder()

function bytesOf({ frames, streamed }: Recording, lineEnd = '\r\n'): Uint8Array {
  if (!streamed) return encoder.encode(frames[0] ?? '')
  return encoder.encode(frames.map((frame) => `data: ${frame}${lineEnd}${lineEnd}`).join(''))
}

function relayed(recording: Recording, to: 'openai-chat' | 'gemini', stream: boolean): Relayed {
  const { streamed } = recording
  const seen = relay({ vendor: google, from: 'gemini', to, streamed, stream }, [bytesOf(recording)])
  expect(seen.fault).toBeNull()
  expect(seen.clean).toBe(true)
  return seen
}

function answering(body: string | Uint8Array, type: string): typeof fetch {
  const answer = async () => new Response(body as BodyInit, { headers: { 'content-type': type } })
  return Object.assign(answer, { preconnect: () => undefined })
}

interface Understood {
  text: string
  reasoning: string
  calls: { name: string; input: unknown }[]
  input: number | undefined
  output: number | undefined
}

const prompt = [{ role: 'user' as const, content: [{ type: 'text' as const, text: 'hi' }] }]

/** What the AI SDK's reader of Google's format reads from the bytes. */
async function byAiSdk(body: string | Uint8Array, streamed: boolean): Promise<Understood> {
  const fetch = answering(body, streamed ? 'text/event-stream' : 'application/json')
  const model = createGoogleGenerativeAI({ apiKey: 'k', fetch })('gemini-3-pro-preview')
  const seen: Understood = {
    text: '',
    reasoning: '',
    calls: [],
    input: undefined,
    output: undefined,
  }
  const count = (usage: {
    inputTokens: { total?: number | undefined }
    outputTokens: { total?: number | undefined }
  }) => {
    seen.input = usage.inputTokens.total
    seen.output = usage.outputTokens.total
  }
  if (!streamed) {
    const { content, usage } = await model.doGenerate({ prompt })
    for (const part of content) {
      if (part.type === 'text') seen.text += part.text
      if (part.type === 'reasoning') seen.reasoning += part.text
      if (part.type === 'tool-call')
        seen.calls.push({ name: part.toolName, input: JSON.parse(part.input) })
    }
    count(usage)
    return seen
  }
  const { stream } = await model.doStream({ prompt })
  for await (const part of stream) {
    if (part.type === 'error') throw part.error
    if (part.type === 'text-delta') seen.text += part.delta
    if (part.type === 'reasoning-delta') seen.reasoning += part.delta
    if (part.type === 'tool-call')
      seen.calls.push({ name: part.toolName, input: JSON.parse(part.input) })
    if (part.type === 'finish') count(part.usage)
  }
  return seen
}

/** What OpenAI's own client reads from what the gateway sends. */
async function byOpenai(
  text: string,
  streamed: boolean,
): Promise<Understood & { finish: unknown }> {
  const fetch = answering(text, streamed ? 'text/event-stream' : 'application/json')
  const client = new OpenAI({ apiKey: 'k', baseURL: 'http://127.0.0.1:9/v1', fetch, maxRetries: 0 })
  const asked = { model: 'm', messages: [{ role: 'user' as const, content: 'hi' }] }
  const reply = streamed
    ? await client.chat.completions
        .stream({ ...asked, stream_options: { include_usage: true } })
        .finalChatCompletion()
    : await client.chat.completions.create(asked)
  const message = reply.choices[0]?.message
  const calls = (message?.tool_calls ?? []).flatMap((call) =>
    call.type === 'function'
      ? [{ name: call.function.name, input: JSON.parse(call.function.arguments) }]
      : [],
  )
  return {
    text: message?.content ?? '',
    reasoning: (message as { reasoning_content?: string } | undefined)?.reasoning_content ?? '',
    calls,
    input: reply.usage?.prompt_tokens,
    output: reply.usage?.completion_tokens,
    finish: reply.choices[0]?.finish_reason,
  }
}

/** Thought signatures in the order of their parts. */
function signatures(frames: readonly string[]): string[] {
  return frames.flatMap((frame) =>
    [...frame.matchAll(/"thoughtSignature":\s*"([^"]+)"/g)].map(([, signature]) => signature ?? ''),
  )
}

test('recordings of Google are told from those of its other interfaces', () => {
  if (recordingsFolder() === null) expect(found).toEqual([])
  else expect(found.length).toBeGreaterThan(5)
})

describe.each(found)('$name', (recording) => {
  const { streamed, frames } = recording

  test('an OpenAI client understands what an independent reader does, streamed and whole', async () => {
    const { reasoning, ...expected } = await byAiSdk(bytesOf(recording), streamed)
    const finish = expected.calls.length > 0 ? 'tool_calls' : 'stop'
    const whole = await byOpenai(relayed(recording, 'openai-chat', false).text, false)
    expect(whole).toEqual({ ...expected, reasoning, finish })
    // The client's own accumulator does not know reasoning.
    const { reasoning: _, ...shown } = await byOpenai(
      relayed(recording, 'openai-chat', true).text,
      true,
    )
    expect(shown).toEqual({ ...expected, finish })
  })

  test('usage is what the vendor counted', () => {
    const last = JSON.parse(frames.at(-1) ?? '{}').usageMetadata
    const usage = JSON.parse(relayed(recording, 'openai-chat', false).text).usage
    expect(usage.total_tokens).toBe(last.totalTokenCount)
    expect(usage.prompt_tokens).toBe(last.promptTokenCount)
    expect(usage.completion_tokens_details.reasoning_tokens).toBe(last.thoughtsTokenCount ?? 0)
    expect(usage.prompt_tokens + usage.completion_tokens).toBe(usage.total_tokens)
  })

  test('a client of its own format is told the same, signatures in their order', async () => {
    const expected = await byAiSdk(bytesOf(recording), streamed)
    const count = signatures(frames).length
    for (const stream of [true, false]) {
      const { text } = relayed(recording, 'gemini', stream)
      expect(await byAiSdk(text, stream)).toEqual(expected)
      expect(signatures([text])).toHaveLength(count)
    }
    const { client, vendor } = dialects.gemini
    const events = streamed
      ? readAll(vendor.hub.reader({}), frames)
      : vendor.hub.readWhole(JSON.parse(frames[0] ?? ''), {})
    const head = { id: 'i', model: 'm', createdAt: 1, wantsUsage: true }
    expect(signatures([JSON.stringify(client.hub.writeWhole(events, head))])).toEqual(
      signatures(frames),
    )
    expect(breaches([...events])).toEqual([])
  })

  test('says the same to who watches it pass', () => {
    const watcher = dialects.gemini.identity.watcher({ wantsUsage: true, quirks: {} })
    if (!streamed) {
      const peek = {} as Parameters<typeof dialects.gemini.identity.whole>[1]
      const reply = dialects.gemini.identity.whole(bytesOf(recording), peek, {})
      expect(reply.fault).toBeNull()
      expect(reply.usage).toEqual(relayed(recording, 'openai-chat', false).usage)
      return
    }
    let kind = 0
    for (const frame of frames) {
      const bytes = encoder.encode(`data: ${frame}\n\n`)
      kind = watcher.frame(bytes, 0, bytes.length)
    }
    expect(kind).toBe(frameKind.usage)
    expect(watcher.usage).toEqual(relayed(recording, 'openai-chat', true).usage)
  })

  if (streamed) {
    test('broken off at any frame it never ends clean', () => {
      for (let kept = 0; kept < frames.length; kept++) {
        const part = { ...recording, frames: frames.slice(0, kept) }
        for (const to of ['openai-chat', 'gemini'] as const) {
          const seen = relay({ vendor: google, from: 'gemini', to, streamed, stream: true }, [
            bytesOf(part),
          ])
          expect(seen.clean).toBe(false)
          expect(seen.fault?.kind).toBe('cut')
        }
      }
    })

    test('means the same however its bytes are cut', () => {
      const expected = relayed(recording, 'gemini', true).text
      const bytes = bytesOf(recording)
      const stride = Math.max(1, Math.floor(bytes.length / 500))
      for (let at = 0; at <= bytes.length; at += stride) {
        const pieces = [bytes.slice(0, at), bytes.slice(at)]
        const seen = relay(
          { vendor: google, from: 'gemini', to: 'gemini', streamed, stream: true },
          pieces,
        )
        expect(seen.text).toBe(expected)
      }
    })
  }
})
