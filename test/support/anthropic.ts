// Shared by tests of this format: chat requests in Anthropic's form, and replies joined as a client does.

import { expect } from 'bun:test'
import { GatewayError } from '../../src/errors.ts'
import { encodeRequest } from '../../src/wire/anthropic-messages/encode-request.ts'
import { messagesHub } from '../../src/wire/anthropic-messages/hub.ts'
import type { Decoded, WriterHead } from '../../src/wire/codec.ts'
import type { ChatEvent, ChatRequest, JsonObject, Message, PartHead } from '../../src/wire/ir.ts'
import { chatHub } from '../../src/wire/openai-chat/hub.ts'
import { frames } from '../replies.ts'

export const newest = 'claude-opus-5'
export const older = 'claude-sonnet-4-5'
export const oldest = 'claude-3-haiku-20240307'
export const user: Message = { role: 'user', parts: [{ type: 'text', text: 'Hi' }] }

export function hub(more: Partial<ChatRequest> = {}, model = newest): Decoded<JsonObject> {
  return encodeRequest({ model: 'm', messages: [user], stream: false, ...more }, model)
}

/** A chat request's body in Anthropic's format. */
export function chat(more: JsonObject, model = newest): Decoded<JsonObject> {
  const body = { model: 'm', messages: [{ role: 'user', content: 'Hi' }], ...more }
  const decoded = chatHub.decodeRequest(body)
  const written = encodeRequest(decoded.value, model)
  return { value: written.value, dropped: [...decoded.dropped, ...written.dropped] }
}

export function refused(run: () => unknown): string | null | undefined {
  try {
    run()
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error
    expect(error.code).toBe('invalid_request_error')
    return error.detail.param
  }
  throw new Error('it was taken')
}

export const tool = {
  type: 'function',
  function: { name: 'f', parameters: { type: 'object', properties: {} } },
}
export const call = (id: string, input = '{}') => ({
  id,
  type: 'function',
  function: { name: 'f', arguments: input },
})

export const head: WriterHead = { id: 'msg_1', model: 'asked', createdAt: 7, wantsUsage: true }
export const encoder = new TextEncoder()

export function written(events: readonly ChatEvent[]): string {
  const writer = messagesHub.writer(head)
  return events.map((event) => writer.event(event)).join('') + writer.end()
}

export function eventsIn(text: string): JsonObject[] {
  return frames(encoder.encode(text), []).map((data) => JSON.parse(data))
}

export function typesOf(text: string): string[] {
  return eventsIn(text).map(({ type }) => String(type))
}

/** Events of a reply: a start, these, the end of the choice. */
export function reply(...events: readonly (readonly ChatEvent[])[]): ChatEvent[] {
  const start: ChatEvent = { type: 'response-start', id: 'x', model: 'm', createdAt: 0 }
  return [start, ...events.flat(), { type: 'choice-end', choice: 0, reason: 'stop' }]
}

export function part(
  number: number,
  head_: PartHead,
  texts: readonly string[],
  sealed?: string,
): ChatEvent[] {
  const at = { choice: 0, part: number }
  return [
    { type: 'part-start', ...at, head: head_ },
    ...texts.map((text): ChatEvent => ({ type: 'part-delta', ...at, text })),
    { type: 'part-end', ...at, ...(sealed !== undefined && { sealed }) },
  ]
}

export const text: PartHead = { type: 'text' }
export const thought: PartHead = { type: 'reasoning' }
export const callHead = (id: string): PartHead => ({ type: 'tool-call', id, name: 'f' })

export function contentOf(events: readonly ChatEvent[]): JsonObject[] {
  return messagesHub.writeWhole(events, head).content as JsonObject[]
}

/** The stream joined as an official client does, as a whole message's content. */
export function streamed(events: readonly ChatEvent[]): JsonObject[] {
  const blocks: JsonObject[] = []
  for (const { type, index, content_block: block, delta } of eventsIn(written(events))) {
    if (type === 'content_block_start') blocks.push({ ...(block as JsonObject) })
    const last = blocks.at(-1)
    if (type !== 'content_block_delta' || last === undefined) continue
    expect(index).toBe(blocks.length - 1)
    const { partial_json: json, text: said, thinking, signature, citation } = delta as JsonObject
    if (said !== undefined) last.text = `${last.text}${said}`
    if (thinking !== undefined) last.thinking = `${last.thinking}${thinking}`
    if (signature !== undefined) last.signature = signature
    if (citation !== undefined) last.citations = [...((last.citations as []) ?? []), citation]
    if (json !== undefined) last.json = `${last.json ?? ''}${json}`
  }
  return blocks.map(({ json, ...block }) =>
    json === undefined ? block : { ...block, input: JSON.parse(String(json)) },
  )
}
