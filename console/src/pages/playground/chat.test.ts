// Tests how a conversation is sent, and errors in typed settings.

import { expect, test } from 'bun:test'
import { type Answer, chatBody, type Message, noSettings } from './chat.ts'
import { hasProblem, problemsOf } from './settings-problems.ts'

const user = (text: string): Message => ({ kind: 'user', id: text, text, attachments: [] })

const answer = (change: Partial<Answer>): Answer => ({
  kind: 'assistant',
  id: 'a',
  model: 'm',
  text: '',
  reasoning: 'not sent back',
  calls: [],
  state: 'done',
  requestId: null,
  failure: null,
  ...change,
})

const call = (id: string) => ({ id, name: 'add', arguments: '{}' })

function sent(messages: readonly Message[]) {
  return (chatBody('m', messages, noSettings) as { messages: object[] }).messages
}

test('a call goes with its result, and without one it is left out as empty answers are', () => {
  const result: Message = { kind: 'tool', id: 't', callId: 'c1', name: 'add', text: '3' }
  const messages = [user('Add'), answer({ calls: [call('c1'), call('c2')] }), result]
  expect(sent(messages)).toEqual([
    { role: 'user', content: 'Add' },
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 'c1', type: 'function', function: { name: 'add', arguments: '{}' } }],
    },
    { role: 'tool', tool_call_id: 'c1', content: '3' },
  ])
  expect(sent([user('One'), answer({ state: 'failed' }), user('Two')])).toHaveLength(2)
})

test('files go before the text, but for those of which only the name was kept', () => {
  const part = { type: 'image_url', image_url: { url: 'data:image/png;base64,AA' } }
  const attachments = [
    { name: 'kept.png', part: null, preview: null },
    { name: 'dot.png', part, preview: null },
  ]
  expect(sent([{ kind: 'user', id: 'u', text: 'See', attachments }])).toEqual([
    { role: 'user', content: [part, { type: 'text', text: 'See' }] },
  ])
})

test('only what is set is sent', () => {
  expect(Object.keys(chatBody('m', [], noSettings))).toEqual([
    'model',
    'messages',
    'stream',
    'stream_options',
  ])
  const settings = {
    system: 'Be brief.',
    temperature: '0',
    topP: '1',
    maxTokens: '5',
    effort: 'low',
    json: true,
    stop: 'END\n\nFIN',
    tools: '[]',
  } as const
  expect(chatBody('m', [], settings)).toMatchObject({
    messages: [{ role: 'system', content: 'Be brief.' }],
    temperature: 0,
    top_p: 1,
    max_completion_tokens: 5,
    reasoning_effort: 'low',
    response_format: { type: 'json_object' },
    stop: ['END', 'FIN'],
  })
})

test.each([
  [{ temperature: '2.1' }, 'temperature'],
  [{ temperature: 'warm' }, 'temperature'],
  [{ topP: '-1' }, 'topP'],
  [{ maxTokens: '0' }, 'maxTokens'],
  [{ maxTokens: '1.5' }, 'maxTokens'],
  [{ tools: '{}' }, 'tools'],
  [{ tools: '[{"type":"function"}]' }, 'tools'],
] as const)('%j is refused before it is sent', (change, field) => {
  const problems = problemsOf({ ...noSettings, ...change })
  expect(hasProblem(problems)).toBe(true)
  expect(Boolean(problems[field])).toBe(true)
  expect(hasProblem(problemsOf(noSettings))).toBe(false)
})
