// Tests which call an answer that names only the function belongs to, in both formats that have such answers.

import { expect, test } from 'bun:test'
import { geminiHub } from '../gemini/hub.ts'
import type { ChatRequest, JsonObject } from '../ir.ts'
import { chatHub } from '../openai-chat/hub.ts'

/** A call with this number, what the user says, or an answer with this text. */
type Turn = { call: number } | { user: string } | { answer: string }

function asChat(turn: Turn): JsonObject {
  if ('user' in turn) return { role: 'user', content: turn.user }
  if ('answer' in turn) return { role: 'function', name: 'f', content: turn.answer }
  const call = { name: 'f', arguments: JSON.stringify({ n: turn.call }) }
  return { role: 'assistant', content: null, function_call: call }
}

function asGemini(turn: Turn): JsonObject {
  if ('user' in turn) return { role: 'user', parts: [{ text: turn.user }] }
  if ('call' in turn)
    return { role: 'model', parts: [{ functionCall: { name: 'f', args: { n: turn.call } } }] }
  const response = { output: turn.answer }
  return { role: 'user', parts: [{ functionResponse: { name: 'f', response } }] }
}

/** The number of the call that each answer has, by the answer. */
function answered({ messages }: ChatRequest): Record<string, number | undefined> {
  const calls = messages.flatMap(({ parts }) => parts.filter((part) => part.type === 'tool-call'))
  const numbers = new Map(calls.map(({ id, arguments: text }) => [id, JSON.parse(text).n]))
  const found: Record<string, number | undefined> = {}
  for (const { role, parts, callId = '' } of messages) {
    const [part] = parts
    if (role === 'tool' && part?.type === 'text') found[part.text] = numbers.get(callId)
  }
  return found
}

const user = { user: 'No.' }

test.each<[string, Turn[], Record<string, number | undefined>]>([
  [
    'calls of one turn, in order',
    [{ call: 1 }, { call: 2 }, { answer: 'a' }, { answer: 'b' }],
    { a: 1, b: 2 },
  ],
  [
    'a call after one without an answer',
    [{ call: 1 }, user, { call: 2 }, { answer: 'b' }],
    { b: 2 },
  ],
  ['a late answer', [{ call: 1 }, user, { answer: 'a' }], { a: 1 }],
  ['an answer too many', [{ call: 1 }, { answer: 'a' }, { answer: 'b' }], { a: 1, b: undefined }],
])('%s', (_, turns, expected) => {
  const contents = [user, ...turns].map(asGemini)
  const gemini = geminiHub.decodeRequest({ contents }, { model: 'm' }).value
  const messages = [user, ...turns].map(asChat)
  const chat = chatHub.decodeRequest({ model: 'm', messages }).value
  expect([answered(gemini), answered(chat)]).toEqual([expected, expected])
})
