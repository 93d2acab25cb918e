// Requests with tools: calls and answers in the history, every choice, and sealed reasoning.

import type { JsonObject, Message, RequestPart, ToolCallPart } from '../../../src/wire/ir.ts'
import type { Asked } from './asked.ts'

const city: JsonObject = { type: 'object', properties: { city: { type: 'string' } } }
const weather = { type: 'function', name: 'weather', parameters: city } as const
const clock = { type: 'function', name: 'clock' } as const
const tools = [clock, weather]

const asks: Message = { role: 'user', parts: [{ type: 'text', text: 'Weather and time?' }] }
const bern: ToolCallPart = {
  type: 'tool-call',
  id: 'call_1',
  name: 'weather',
  arguments: '{"city":"Bern"}',
}
const time: ToolCallPart = { type: 'tool-call', id: 'call_2', name: 'clock', arguments: '' }

function calls(...parts: RequestPart[]): Message {
  return { role: 'assistant', parts }
}

function answer(callId: string, ...parts: RequestPart[]): Message {
  return { role: 'tool', callId, parts }
}

const sunny: RequestPart = { type: 'text', text: 'Sunny, 21°' }
const noon: RequestPart = { type: 'text', text: '{"hour":12}' }
const picture: RequestPart = { type: 'image', url: 'data:image/png;base64,iVBORw0KGgo=' }
const thought: RequestPart = { type: 'reasoning', text: 'A tool knows.', sealed: 'c2ln' }

const history: Readonly<Record<string, Asked>> = {
  'call-one': { tools: [weather], messages: [asks, calls(bern), answer('call_1', sunny)] },
  'calls-parallel': {
    tools,
    messages: [
      asks,
      calls({ type: 'text', text: 'I look.' }, bern, time),
      answer('call_1', sunny),
      answer('call_2', noon),
      { role: 'user', parts: [{ type: 'text', text: 'And?' }] },
    ],
  },
  'calls-in-turn': {
    tools,
    messages: [asks, calls(bern), answer('call_1', sunny), calls(time), answer('call_2', noon)],
  },
  'calls-answered-late': {
    tools,
    messages: [asks, calls(bern, time), answer('call_2', noon), answer('call_1', sunny)],
  },
  'calls-without-tools': { messages: [asks, calls(bern), answer('call_1', sunny)] },
  'call-broken-arguments': {
    tools,
    messages: [asks, calls({ ...bern, arguments: '{"city":' }), answer('call_1', sunny)],
  },
  'call-odd-id': {
    tools,
    messages: [asks, calls({ ...bern, id: 'call:1/ü' }), answer('call:1/ü', sunny)],
  },
  'answer-image': {
    tools,
    messages: [asks, calls(bern), answer('call_1', sunny, picture)],
  },
  'answer-image-alone': {
    tools,
    messages: [asks, calls(bern, time), answer('call_1', picture), answer('call_2', noon)],
  },
  'answer-error': {
    tools,
    messages: [asks, calls(bern), { ...answer('call_1', sunny), isError: true }],
  },
  'answer-empty': { tools, messages: [asks, calls(bern), answer('call_1')] },
}

const choices: Readonly<Record<string, Asked>> = {
  tools: { tools: [{ ...weather, description: 'Of a city.' }, clock] },
  'tool-strict': { tools: [{ ...weather, strict: true }] },
  'tool-schema-rich': {
    tools: [
      {
        type: 'function',
        name: 'pick',
        parameters: {
          $schema: 'https://json-schema.org/draft/2020-12/schema',
          type: 'object',
          properties: {
            count: { type: 'integer', exclusiveMinimum: 0 },
            kind: { enum: [1, 'two'] },
            note: { type: ['string', 'null'] },
            next: { $ref: '#/$defs/node' },
          },
          $defs: { node: { oneOf: [{ type: 'string' }, { const: 'end' }] } },
          additionalProperties: false,
        },
      },
    ],
  },
  'tool-schema-bare': {
    tools: [
      { type: 'function', name: 'now', parameters: { type: 'object' } },
      { type: 'function', name: 'here', parameters: {} },
    ],
  },
  'tool-custom': { tools: [{ type: 'custom', name: 'shell', description: 'Runs.' }] },
  'tool-of-another': {
    tools: [{ type: 'other', extra: { 'some-dialect': { type: 'web_search' } } }],
  },
  'choice-none': { tools, toolChoice: { mode: 'none' } },
  'choice-auto': { tools, toolChoice: { mode: 'auto' } },
  'choice-required': { tools, toolChoice: { mode: 'required' } },
  'choice-tool': { tools, toolChoice: { mode: 'tool', name: 'clock' } },
  'choice-allowed': {
    tools,
    toolChoice: { mode: 'allowed', names: ['clock'], required: false },
  },
  'choice-allowed-required': {
    tools,
    toolChoice: { mode: 'allowed', names: ['clock'], required: true },
  },
  'one-call-at-most': { tools, parallelToolCalls: false },
}

const opaque: Readonly<Record<string, Asked>> = {
  'thought-sealed': {
    tools,
    messages: [asks, calls(thought, bern), answer('call_1', sunny)],
    reasoning: { effort: 'high' },
  },
  'thought-redacted': {
    tools,
    messages: [
      asks,
      calls({ type: 'reasoning', text: '', sealed: 'cmVk', redacted: true }, bern),
      answer('call_1', sunny),
    ],
  },
  'thought-unsealed': {
    messages: [
      asks,
      calls({ type: 'reasoning', text: 'Hm.' }, { type: 'text', text: 'Noon.' }),
      { role: 'user', parts: [{ type: 'text', text: 'Sure?' }] },
    ],
  },
  'call-sealed': {
    tools,
    messages: [
      asks,
      calls({ ...bern, sealed: 'c2ln' }, time),
      answer('call_1', sunny),
      answer('call_2', noon),
    ],
  },
  'text-sealed': {
    messages: [
      asks,
      calls({ type: 'text', text: 'Noon.', sealed: 'c2ln' }),
      { role: 'user', parts: [{ type: 'text', text: 'Sure?' }] },
    ],
  },
}

export const toolRequests: Readonly<Record<string, Asked>> = { ...history, ...choices, ...opaque }
