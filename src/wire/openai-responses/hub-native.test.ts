// Tests tools and items that only this format has: functions in every other format, and unchanged within this one.

import { describe, expect, test } from 'bun:test'
import { head } from '../../../test/responses.ts'
import type { JsonObject } from '../ir.ts'
import { responsesHub } from './hub.ts'
import { ToolNames } from './tool-names.ts'

const sleep = { type: 'function', name: 'sleep', parameters: { type: 'object' }, strict: false }
const grammar = { type: 'grammar', syntax: 'lark', definition: 'x' }
const exec = { type: 'custom', name: 'exec', format: grammar }
const clock = { type: 'namespace', name: 'clock', description: 'Time.', tools: [sleep, exec] }

const native = {
  model: 'mine',
  tools: [
    clock,
    { type: 'local_shell' },
    { type: 'shell' },
    { type: 'apply_patch' },
    { type: 'tool_search', execution: 'client', description: 'Finds tools.' },
    { type: 'web_search' },
    sleep,
  ],
  input: [
    { role: 'user', content: 'hi' },
    { type: 'function_call', call_id: 'c1', name: 'sleep', namespace: 'clock', arguments: '{}' },
    { type: 'custom_tool_call', call_id: 'c2', name: 'exec', namespace: 'clock', input: 'x' },
    {
      type: 'local_shell_call',
      id: 'l',
      call_id: 'c3',
      status: 'completed',
      action: { type: 'exec', command: ['ls'], env: {} },
    },
    { type: 'tool_search_call', call_id: 'c4', execution: 'client', arguments: { query: 'q' } },
    { type: 'function_call_output', call_id: 'c1', output: '1' },
    { type: 'custom_tool_call_output', call_id: 'c2', output: '2' },
    { type: 'local_shell_call_output', call_id: 'c3', output: '3' },
    {
      type: 'tool_search_output',
      call_id: 'c4',
      status: 'completed',
      execution: 'client',
      tools: [{ type: 'namespace', name: 'found', tools: [sleep] }],
    },
    {
      type: 'agent_message',
      author: 'one',
      recipient: 'two',
      content: [{ type: 'input_text', text: 'do' }],
    },
  ],
}

function again(body: JsonObject): JsonObject {
  const { value } = responsesHub.decodeRequest(structuredClone(body))
  return responsesHub.encodeRequest(value, 'theirs').value
}

describe('to itself', () => {
  test('tools and items keep their types, names and namespaces', () => {
    const { input, tools } = again(native)
    expect([input, tools]).toEqual([native.input, native.tools])
  })

  test.each([
    { type: 'function', name: 'sleep', namespace: 'clock' },
    { type: 'custom', name: 'exec', namespace: 'clock' },
    { type: 'shell' },
    { type: 'function', name: 'sleep' },
    { type: 'web_search' },
  ])('a choice of %j stays', (choice) => {
    expect(again({ ...native, tool_choice: choice })['tool_choice']).toEqual(choice)
  })

  test('tools that an item of the input brings stand with the others', () => {
    const added = { type: 'additional_tools', role: 'developer', tools: [clock] }
    const body = again({ model: 'mine', input: [added, { role: 'user', content: 'hi' }] })
    expect([body['tools'], body['input']]).toEqual([[clock], [{ role: 'user', content: 'hi' }]])
  })

  test('a tool that is brought anew takes the place of its former self', () => {
    const newer = { ...clock, tools: [{ ...sleep, description: 'Sleeps.' }, exec] }
    const added = { type: 'additional_tools', tools: [newer] }
    expect(again({ ...native, input: [added, ...native.input] })['tools']).toEqual([
      newer,
      ...native.tools.slice(1),
    ])
  })
})

test('the call of a tool that a vendor knows as a function has neither its id nor that of the item after it', () => {
  const { value: request } = responsesHub.decodeRequest(structuredClone(native))
  const call = { id: 'fc_1', type: 'function_call', call_id: 'c1', name: 'apply_patch' }
  const input = '{"type":"delete_file","path":"a"}'
  const text = { type: 'output_text', text: 'done', annotations: [], logprobs: [] }
  const message = {
    id: 'msg_2',
    type: 'message',
    phase: 'final_answer',
    content: [text],
  }
  const reply = (given: string) => ({
    id: 'resp_v',
    status: 'completed',
    output: [{ ...call, arguments: given }, message],
  })
  const made = (given: string): JsonObject =>
    responsesHub.writeWhole(responsesHub.readWhole(reply(given), {}), { ...head, request })
  const own = { id: 'apc_1_0', type: 'apply_patch_call', call_id: 'c1' }
  expect(made(input)['output']).toMatchObject([own, message])
  // Arguments that do not fit the item.
  expect(made('[]')['output']).toMatchObject([{ ...call, id: 'fc_1_0' }, message])
})

test('names in namespaces are the same for the same tools, and nobody else has them', () => {
  const names = () => {
    const given = new ToolNames(['a__b', 'a__b_2'])
    return [
      given.inside('a', 'b'),
      given.inside('a__', 'b'),
      given.inside('a', 'b'),
      given.ofType('shell'),
    ]
  }
  const [first, second, third, shell] = names()
  expect(first).toBe(third ?? '')
  expect(new Set([first, second, 'a__b', 'a__b_2']).size).toBe(4)
  expect(shell).toBe('shell')
  expect(names()).toEqual(names())
})
