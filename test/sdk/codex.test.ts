// Tests what the Codex CLI sends and reads: its stream of a turn with tools, with a chat vendor and one of the
// Responses format.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { JsonObject } from '../../src/wire/ir.ts'
import { eventsOf } from '../responses.ts'
import { authorized } from '../support/clients.ts'
import { type Gateway, startGateway } from '../support/gateway.ts'
import { type Responder, startResponder } from '../support/responder.ts'

let gateway: Gateway
let vendor: Responder

beforeAll(async () => {
  vendor = await startResponder()
  const base = { vendor: 'openai', baseUrl: vendor.url, key: 'sk-upstream-secret-0123456789' }
  gateway = await startGateway({
    config: {
      channels: [
        { ...base, id: 'chats', dialect: 'openai-chat', models: { chats: 'gpt-5' } },
        { ...base, id: 'responds', models: { responds: 'gpt-5', either: 'gpt-5' } },
        { ...base, id: 'other', models: { either: 'gpt-5' } },
      ],
    },
  })
})
afterAll(async () => {
  await gateway.stop()
  await vendor.stop()
})

const text = (role: string, words: string, type = 'input_text') => ({
  type: 'message',
  role,
  content: [{ type, text: words }],
})

/** openai/codex, codex-rs/core: `ResponsesApiRequest`, with `store` off. */
function turn(model: string): JsonObject {
  return {
    model,
    instructions: 'You are Codex.',
    input: [
      text('developer', '<permissions>'),
      text('user', 'Mend the test.'),
      { type: 'reasoning', summary: [], content: null, encrypted_content: 'sealed-by-this-vendor' },
      { type: 'function_call', name: 'shell', arguments: '{"command":["ls"]}', call_id: 'call_1' },
      { type: 'function_call_output', call_id: 'call_1', output: 'a.txt' },
      {
        type: 'custom_tool_call',
        status: 'completed',
        call_id: 'call_2',
        name: 'apply_patch',
        input: '*** Begin Patch\n*** End Patch',
      },
      { type: 'custom_tool_call_output', call_id: 'call_2', output: 'Done.' },
      { type: 'compaction', encrypted_content: 'compacted' },
      text('assistant', 'Mended.', 'output_text'),
      text('user', 'And the next.'),
    ],
    tools: [
      {
        type: 'function',
        name: 'shell',
        description: 'Runs a command.',
        strict: false,
        parameters: {
          type: 'object',
          properties: { command: { type: 'array', items: { type: 'string' } } },
        },
      },
      {
        type: 'custom',
        name: 'apply_patch',
        description: 'Edits files.',
        format: { type: 'grammar', syntax: 'lark', definition: 'start: "x"' },
      },
    ],
    tool_choice: 'auto',
    parallel_tool_calls: false,
    reasoning: { effort: 'medium', summary: 'auto' },
    store: false,
    stream: true,
    include: ['reasoning.encrypted_content'],
    prompt_cache_key: '01a1ff56-0000-7000-8000-000000000000',
    text: { verbosity: 'low' },
  }
}

const headers = {
  accept: 'text/event-stream',
  originator: 'codex_cli_rs',
  session_id: '01a1ff56-0000-7000-8000-000000000000',
  'openai-beta': 'responses=experimental',
}

describe.each(['chats', 'responds'])('%s', (model) => {
  test('a turn is streamed to its end, at the address with /v1 and without', async () => {
    for (const path of ['/v1/responses', '/responses']) {
      const response = await gateway.post(path, turn(model), { headers })
      expect([response.status, response.headers.get('content-type')]).toEqual([
        200,
        'text/event-stream; charset=utf-8',
      ])
      const events = eventsOf(await response.text())
      const types = events.map(({ type }) => type)
      expect(types.slice(0, 1)).toEqual(['response.created'])
      expect(types).toContain('response.output_text.delta')
      expect(types).toContain('response.output_item.done')
      expect(types.at(-1)).toBe('response.completed')
      const { response: last } = events.at(-1) as { readonly response: JsonObject }
      expect(last['usage']).toMatchObject({ input_tokens: 11, output_tokens: 7, total_tokens: 18 })
      const found = await fetch(`${gateway.url}/v1/responses/${last['id']}`, {
        headers: authorized(),
      })
      expect(found.status).toBe(404)
    }
  })
})

test('a vendor that responds is sent the turn as it came', async () => {
  await (await gateway.post('/v1/responses', turn('responds'), { headers })).text()
  expect(vendor.bodies.at(-1)).toEqual({ ...turn('responds'), model: 'gpt-5' })
})

test('a vendor that chats is sent calls and answers in their order, and nothing sealed', async () => {
  await (await gateway.post('/v1/responses', turn('chats'), { headers })).text()
  const { messages, tools } = vendor.bodies.at(-1) as Record<string, JsonObject[]>
  expect(messages?.map(({ role }) => role)).toEqual([
    'system',
    'developer',
    'user',
    'assistant',
    'tool',
    'assistant',
    'tool',
    'assistant',
    'user',
  ])
  expect(tools?.map(({ type }) => type)).toEqual(['function', 'custom'])
  expect(JSON.stringify(messages)).not.toMatch(/sealed|compacted/)
})

test('the models it lists are told in its own form', async () => {
  const path = `${gateway.url}/v1/models?client_version=0.156.0`
  const list = (await (await fetch(path, { headers: authorized() })).json()) as JsonObject
  const models = list['models'] as JsonObject[]
  expect(models.map(({ slug }) => slug)).toEqual(['chats', 'either', 'responds'])
})

describe('the state of a turn', () => {
  const name = 'x-codex-turn-state'
  async function ask(model: string, state: string | null) {
    const headers = state === null ? {} : { [name]: state }
    const body = { ...turn(model), input: [text('user', 'Go on.')] }
    const response = await gateway.post('/v1/responses', body, { headers })
    expect(response.status).toBe(200)
    await response.text()
    return { given: response.headers.get(name), brought: vendor.states.at(-1) }
  }

  test('comes back to the channel that handed it out, and goes to no other', async () => {
    const given = new Set<string>()
    for (let turns = 0; turns < 24; turns++) {
      const first = await ask('either', null)
      expect(first.brought).toBeNull()
      const state = first.given ?? ''
      expect(state).toEndWith(`.state-${vendor.bodies.length}`)
      given.add(state.split('.')[0] ?? '')
      const second = await ask('either', state)
      expect(second.brought).toBe(state.split('.')[1] ?? '')
    }
    expect(given.size).toBe(2)
  })

  test('that this gateway did not hand out is left out', async () => {
    expect((await ask('responds', 'forged')).brought).toBeNull()
    expect((await ask('responds', '00000000.state-1')).brought).toBeNull()
  })

  test('is of no use where the vendor speaks another format', async () => {
    const { given } = await ask('responds', null)
    expect(await ask('chats', given)).toEqual({ given: null, brought: null })
  })
})
