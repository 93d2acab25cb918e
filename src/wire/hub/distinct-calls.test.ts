// Tests calls that share an id, in a history that goes to a vendor of another format.

import { expect, test } from 'bun:test'
import type { Message } from '../ir.ts'
import { withDistinctCalls } from './distinct-calls.ts'

function calls(...ids: string[]): Message {
  return {
    role: 'assistant',
    parts: ids.map((id) => ({ type: 'tool-call', id, name: `f${id}`, arguments: '{}' })),
  }
}

function answer(callId: string, text: string): Message {
  return { role: 'tool', callId, parts: [{ type: 'text', text }] }
}

/** The ids of calls, and of answers with their text. */
function idsIn(messages: readonly Message[]): string[] {
  const request = withDistinctCalls({ model: 'm', stream: false, messages })
  return request.messages.flatMap(({ callId, parts }) =>
    parts.map((part) =>
      part.type === 'tool-call' ? part.id : `${callId}=${part.type === 'text' ? part.text : ''}`,
    ),
  )
}

test('ids of their own stay', () => {
  const request = { model: 'm', stream: false, messages: [calls('a', 'b'), answer('b', '1')] }
  expect(withDistinctCalls(request)).toBe(request)
})

test('calls of one turn that share an id, or have none, are answered in their order', () => {
  const twins = [calls('a', 'a', 'a_2'), answer('a', '1'), answer('a', '2'), answer('a_2', '3')]
  expect(idsIn(twins)).toEqual(['a', 'a_3', 'a_2', 'a=1', 'a_3=2', 'a_2=3'])
  const none = [calls('', ''), answer('', '1'), answer('', '2')]
  expect(idsIn(none)).toEqual(['call_2', 'call_3', 'call_2=1', 'call_3=2'])
})

test('a later turn that counts anew has its own answers, also after one that was broken off', () => {
  const anew = [calls('a'), answer('a', '1'), calls('a'), answer('a', '2')]
  expect(idsIn(anew)).toEqual(['a', 'a=1', 'a_2', 'a_2=2'])
  const said: Message = { role: 'user', parts: [] }
  expect(idsIn([calls('a'), said, answer('a', '1')])).toEqual(['a', 'a=1'])
  expect(idsIn([calls('a'), said, answer('x', '0'), calls('a'), answer('a', '2')])).toEqual([
    'a',
    'x=0',
    'a_2',
    'a_2=2',
  ])
})

test('many calls that share an id are named one after another, without counting anew for each', () => {
  const ids = Array.from({ length: 50_000 }, () => 'a')
  const named = idsIn([calls(...ids)])
  expect(named.slice(0, 3)).toEqual(['a', 'a_2', 'a_3'])
  expect(new Set(named).size).toBe(ids.length)
})
