// Tests tools of every type that a Responses client offers, on vendors of each format: called by the client's names,
// streamed and whole.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Body } from '../agents/offered.ts'
import { rows, ToolStage, user } from './tools-stage.ts'

let stage: ToolStage
beforeAll(async () => {
  stage = await ToolStage.begin()
})
afterAll(() => stage.end())

const sleep = {
  type: 'function',
  name: 'sleep',
  parameters: { type: 'object', properties: { ms: { type: 'integer' } } },
}
const grammar = { type: 'grammar', syntax: 'lark', definition: 'start: /x+/' }
const long = 'a_namespace_that_has_a_very_long_name_indeed_for_what_it_does'
const free = 'line one\n"quoted" \\ 你好'

interface Kind {
  readonly tools: readonly Body[]
  /** The name that is called, of those that the vendor is offered. */
  readonly picks: (names: readonly string[]) => string | undefined
  readonly input: Readonly<Record<string, unknown>>
  /** The call that the client is to get. */
  readonly item: Body
  readonly answer: Body
}

const output = { call_id: 'call_1', output: 'the answer' }
const kinds: Readonly<Record<string, Kind>> = {
  'a function in a namespace': {
    tools: [
      { type: 'namespace', name: 'clock', description: 'Time.', tools: [sleep] },
      // The name that the two would have together is already used.
      { ...sleep, name: 'clock__sleep' },
    ],
    picks: (names) => names.find((name) => name !== 'clock__sleep'),
    input: { ms: 1 },
    item: { type: 'function_call', name: 'sleep', namespace: 'clock', arguments: '{"ms":1}' },
    answer: { type: 'function_call_output', ...output },
  },
  'a function whose names are long': {
    tools: [{ type: 'namespace', name: long, description: '', tools: [{ ...sleep, name: long }] }],
    picks: ([name]) => name,
    input: { ms: 1 },
    item: { type: 'function_call', name: long, namespace: long, arguments: '{"ms":1}' },
    answer: { type: 'function_call_output', ...output },
  },
  'text in a namespace': {
    tools: [
      {
        type: 'namespace',
        name: 'functions',
        description: '',
        tools: [{ type: 'custom', name: 'exec', format: grammar }],
      },
    ],
    picks: ([name]) => name,
    input: { input: free },
    item: { type: 'custom_tool_call', name: 'exec', namespace: 'functions', input: free },
    answer: { type: 'custom_tool_call_output', ...output },
  },
  text: {
    tools: [{ type: 'custom', name: 'apply_patch', description: 'Edits files.', format: grammar }],
    picks: ([name]) => name,
    input: { input: free },
    item: { type: 'custom_tool_call', name: 'apply_patch', input: free },
    answer: { type: 'custom_tool_call_output', ...output },
  },
  'a local shell': {
    tools: [{ type: 'local_shell' }],
    picks: ([name]) => name,
    input: { command: ['ls', '-l'] },
    item: { type: 'local_shell_call', action: { type: 'exec', command: ['ls', '-l'], env: {} } },
    answer: { type: 'local_shell_call_output', ...output },
  },
  'a shell': {
    tools: [{ type: 'shell' }],
    picks: ([name]) => name,
    input: { commands: ['ls'] },
    item: { type: 'shell_call', action: { commands: ['ls'] } },
    answer: {
      type: 'shell_call_output',
      call_id: 'call_1',
      output: [{ stdout: 'the answer', stderr: '' }],
    },
  },
  'a patch': {
    tools: [{ type: 'apply_patch' }],
    picks: ([name]) => name,
    input: { type: 'delete_file', path: 'a.txt' },
    item: { type: 'apply_patch_call', operation: { type: 'delete_file', path: 'a.txt' } },
    answer: { type: 'apply_patch_call_output', status: 'completed', ...output },
  },
  'a search for tools': {
    tools: [{ type: 'tool_search', execution: 'client', description: 'Finds tools.' }],
    picks: ([name]) => name,
    input: { query: 'time' },
    item: { type: 'tool_search_call', execution: 'client', arguments: { query: 'time' } },
    answer: {
      type: 'tool_search_output',
      call_id: 'call_1',
      status: 'completed',
      execution: 'client',
      tools: [{ type: 'namespace', name: 'the answer', description: '', tools: [sleep] }],
    },
  },
}

describe.each(rows.map(({ vendor }) => vendor))('a Responses client on %s', (vendor) => {
  test.each(Object.keys(kinds))(
    '%s is called by the names it has, and its answer goes back',
    async (name) => {
      const kind = kinds[name]
      if (kind === undefined) throw new Error(`no kind ${name}`)
      const { tools, picks, input, item, answer } = kind
      for (const stream of [false, true]) {
        let called = ''
        stage.calls = (names) => {
          called = picks(names) ?? 'none was offered'
          return { name: called, input }
        }
        const first = await stage.responses(vendor, { input: [user], tools }, stream)
        expect([first.status, first.dropped]).toEqual([200, null])
        const said = first.reply['output'] as Body[]
        const [shown, ...more] = callsIn(said)
        const spelled = 'arguments' in (shown ?? {}) ? 'arguments' : 'input'
        expect({ ...shown, [spelled]: parsed(shown?.[spelled]) }).toMatchObject({
          ...item,
          [spelled]: parsed(item[spelled]),
          call_id: expect.any(String),
        })
        expect(shown?.['namespace']).toBe(item['namespace'])
        expect(more).toEqual([])
        stage.calls = () => null
        const back = { ...answer, call_id: shown?.['call_id'] }
        const second = await stage.responses(
          vendor,
          { input: [user, ...said, back], tools },
          stream,
        )
        expect([second.status, second.dropped]).toEqual([200, null])
        // The call in the history, beside the tool itself.
        expect(stage.asked?.text.split(JSON.stringify(called)).length).toBeGreaterThanOrEqual(3)
        expect(stage.asked?.text).toContain(
          'the answer'.slice(0, name.includes('search') ? 3 : undefined),
        )
      }
    },
  )

  test('tools that items of the input bring are offered', async () => {
    stage.calls = ([name]) => ({ name: name ?? '', input: { ms: 1 } })
    const added = {
      type: 'additional_tools',
      role: 'developer',
      tools: [{ type: 'namespace', name: 'clock', tools: [sleep] }],
    }
    const { reply, dropped } = await stage.responses(vendor, { input: [added, user] }, true)
    expect(dropped).toBeNull()
    expect(callsIn(reply['output'] as Body[])).toMatchObject([
      { type: 'function_call', name: 'sleep', namespace: 'clock' },
    ])
  })

  test('tools that a search found are offered from then on', async () => {
    stage.calls = (names) => ({ name: names.at(-1) ?? '', input: { ms: 1 } })
    const found = kinds['a search for tools']
    const call = { ...found?.item, call_id: 'call_0' }
    const answer = { ...found?.answer, call_id: 'call_0' }
    const { reply } = await stage.responses(
      vendor,
      { input: [user, call, answer], tools: found?.tools },
      true,
    )
    expect(callsIn(reply['output'] as Body[])).toMatchObject([
      { type: 'function_call', name: 'sleep', namespace: 'the answer' },
    ])
  })
})

/** Without the fields that carry the vendor's seal. */
function callsIn(output: readonly Body[]): Body[] {
  return output.filter(({ type }) => type !== 'reasoning')
}

function parsed(value: unknown): unknown {
  if (typeof value !== 'string' || !value.startsWith('{')) return value
  return JSON.parse(value)
}
