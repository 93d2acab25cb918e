// Tests answers that follow another message instead of their call.

import { expect, test } from 'bun:test'
import type { ChatRequest, Message } from '../ir.ts'
import { withAnswersInPlace } from './answers-in-place.ts'

const user: Message = { role: 'user', parts: [{ type: 'text', text: 'Wait.' }] }
const said: Message = { role: 'assistant', parts: [{ type: 'text', text: 'I wait.' }] }
const calls: Message = {
  role: 'assistant',
  parts: ['a', 'b'].map((id) => ({ type: 'tool-call', id, name: id, arguments: '' })),
}
const [a, b, lone] = ['a', 'b', 'c'].map(
  (callId): Message => ({ role: 'tool', callId, parts: [] }),
) as [Message, Message, Message]

function request(...messages: Message[]): ChatRequest {
  return { model: 'm', stream: false, messages }
}

test('what stands in its place stays', () => {
  const plain = request(user, calls, said, b, a, user, lone)
  expect(withAnswersInPlace(plain)).toBe(plain)
})

test('an answer behind another word goes to its call', () => {
  expect(withAnswersInPlace(request(calls, user, a, b)).messages).toEqual([calls, a, b, user])
  expect(withAnswersInPlace(request(calls, b, user, said, a)).messages).toEqual([
    calls,
    a,
    b,
    user,
    said,
  ])
})
