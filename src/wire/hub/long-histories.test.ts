// Tests that long histories, and replies of many parts, are read and written in a time that grows with their length alone.

import { expect, test } from 'bun:test'
import { encodeConversation } from '../anthropic-messages/encode-turns.ts'
import { isRecursive } from '../anthropic-messages/schema.ts'
import { encodeRequest as toConverse } from '../bedrock-converse/request.ts'
import { encodeRequest as toCohere } from '../cohere-v2/request.ts'
import { geminiHub } from '../gemini/hub.ts'
import type { JsonObject } from '../ir.ts'
import { chatHub } from '../openai-chat/hub.ts'
import { responsesHub } from '../openai-responses/hub.ts'
import { replay } from '../openai-responses/replay.ts'
import { ResponseSoFar } from '../openai-responses/so-far.ts'

/** Where the time grows with the square, these would take minutes. */
const count = 40_000
const each = <T>(make: (at: number) => T): T[] => Array.from({ length: count }, (_, at) => make(at))
const call = (id: string) => ({ id, type: 'function', function: { name: 'f', arguments: '{}' } })
const user = { role: 'user', content: 'x' }

function decoded(messages: readonly object[]) {
  return chatHub.decodeRequest({ model: 'm', messages } as unknown as JsonObject, {}).value
}

test('calls and answers in turns, to Google', () => {
  const turns = each((at) => [
    { role: 'assistant', tool_calls: [call(`c${at}`)] },
    { role: 'tool', tool_call_id: `c${at}`, content: 'r' },
  ]).flat()
  const { contents } = geminiHub.encodeRequest(decoded([user, ...turns]), 'gemini-2.5-flash').value
  expect(contents).toHaveLength(2 * count + 1)
})

test('answers in the reverse order of their calls, from Google', () => {
  const calls = each((at) => ({ functionCall: { id: `i${at}`, name: 'f' } }))
  const answers = each((at) => ({
    functionResponse: { id: `i${count - 1 - at}`, name: 'f', response: {} },
  }))
  const contents = [
    { role: 'model', parts: calls },
    { role: 'user', parts: answers },
  ]
  const { messages } = geminiHub.decodeRequest({ contents } as unknown as JsonObject, {
    model: 'm',
  }).value
  expect(messages.at(-1)?.callId).toBe('i0')
})

test('deprecated calls, and messages that are joined, of chats', () => {
  const asked = each(() => ({ role: 'assistant', function_call: { name: 'f', arguments: '' } }))
  const answered = each(() => ({ role: 'function', name: 'f', content: 'r' }))
  expect(decoded([...asked, ...answered]).messages).toHaveLength(2 * count)
  const said = each(() => ({ role: 'assistant', content: 'a' }))
  const joined = decoded([{ role: 'assistant', tool_calls: [call('c')] }, ...said])
  expect(chatHub.encodeRequest(joined, 'm').value['messages']).toHaveLength(1)
})

test('opaque state of many calls, of Responses', () => {
  const input = [
    ...each((at) => ({ type: 'function_call', call_id: `c${at}`, name: 'f', arguments: '{}' })),
    ...each((at) => ({ type: 'reasoning', summary: [], encrypted_content: `tool-call:c${at}:x` })),
  ]
  const { messages } = responsesHub.decodeRequest(
    { model: 'm', input } as unknown as JsonObject,
    {},
  ).value
  expect(messages[0]?.parts[7]).toMatchObject({ id: 'c7', sealed: 'x' })
})

test('a stored response of many parts, replayed', () => {
  const content = each(() => ({ type: 'output_text', text: 'a' }))
  const response = { status: 'completed', output: [{ type: 'message', id: 'm', content }] }
  const stored = new ResponseSoFar(response)
  stored.end(response)
  expect([...replay(stored, -1)].filter((frame) => frame?.includes('.delta"'))).toHaveLength(count)
})

test('many citations in a text of many bytes, from Google', () => {
  const text = '😀é答a'.repeat(count / 4)
  const segment = (at: number) => ({ startIndex: at, endIndex: at + 10 })
  const candidate = {
    content: { parts: [{ text }] },
    finishReason: 'STOP',
    groundingMetadata: {
      groundingChunks: [{ web: { uri: 'https://a' } }],
      groundingSupports: each((at) => ({ segment: segment(10 * at), groundingChunkIndices: [0] })),
    },
  }
  const events = geminiHub.readWhole({ candidates: [candidate] }, {})
  const cited = events.flatMap((event) => (event.type === 'citation' ? [event.citation] : []))
  expect(cited).toHaveLength(count)
  // Four letters are 5 UTF-16 units and 10 bytes.
  expect(cited[3]).toEqual({ url: 'https://a', start: 15, end: 20 })
})

test('one turn of many calls, its answers, many documents, and many messages, to the others', () => {
  const calls = [
    user,
    { role: 'assistant', tool_calls: each((at) => call(`c${at}`)) },
    ...each((at) => ({ role: 'tool', tool_call_id: `c${at}`, content: 'r' })),
  ]
  const turn = decoded(calls)
  expect(encodeConversation(turn.messages, []).turns).toHaveLength(3)
  const claude = 'anthropic.claude-sonnet-4-5-20250929-v1:0'
  expect(toConverse(turn, claude).value['messages']).toHaveLength(3)
  const said = decoded(each(() => ({ role: 'assistant', content: 'a' })))
  expect(toCohere(said, 'command-a-03-2025').value['messages']).toHaveLength(1)
  const file = { filename: 'a.txt', file_data: 'data:text/plain;base64,YQ==' }
  const files = decoded([{ role: 'user', content: each(() => ({ type: 'file', file })) }])
  expect(toConverse(files, claude).value['messages']).toHaveLength(1)
})

test('a schema whose definitions refer to the next one twice', () => {
  const refer = (at: number) => ({ $ref: `#/$defs/d${at}` })
  const $defs = Object.fromEntries(
    Array.from({ length: 60 }, (_, at) => [
      `d${at}`,
      at === 59 ? { type: 'string' } : { properties: { a: refer(at + 1), b: refer(at + 1) } },
    ]),
  )
  expect(isRecursive({ ...refer(0), $defs })).toBe(false)
  const last = { ...$defs, d59: refer(0) }
  expect(isRecursive({ ...refer(0), $defs: last })).toBe(true)
})
