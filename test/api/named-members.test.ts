// Tests members of messages, parts and tools that only the client's own format has: carried where the vendor's format
// has the same thing, and else named in `x-tollgate-dropped`.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Body } from '../agents/offered.ts'
import { rows, ToolStage } from './tools-stage.ts'

let stage: ToolStage
beforeAll(async () => {
  stage = await ToolStage.begin()
})
afterAll(() => stage.end())

const parameters = { type: 'object', properties: { city: { type: 'string' } } }

/** One client's format: where it asks, and how its vendors' format is called. */
interface Asking {
  readonly id: string
  readonly path: (model: string) => string
  /** The members that name no model, beside those of the case. */
  readonly body: Body
}

const clients: readonly Asking[] = [
  { id: 'openai-responses', path: () => '/v1/responses', body: { store: false } },
  { id: 'openai-chat', path: () => '/v1/chat/completions', body: {} },
  { id: 'anthropic-messages', path: () => '/v1/messages', body: { max_tokens: 50 } },
  { id: 'gemini', path: (model) => `/v1beta/models/${model}:generateContent`, body: {} },
]

async function dropped(client: Asking, vendor: string, body: Body): Promise<readonly string[]> {
  const model = `on-${vendor}`
  const named = client.id === 'gemini' ? {} : { model }
  const reply = await stage.gateway.post(client.path(model), { ...named, ...client.body, ...body })
  const text = await reply.text()
  expect([reply.status, text]).toEqual([200, expect.any(String)])
  return (reply.headers.get('x-tollgate-dropped') ?? '').split(', ')
}

const user = { role: 'user', content: 'Hi' }
const call = { type: 'function_call', call_id: 'call_1', name: 'f', arguments: '{}' }
const output = { type: 'function_call_output', call_id: 'call_1', output: 'Done.' }
const program = { type: 'program', caller_id: 'prog_1' }
const toolUse = { type: 'tool_use', id: 'toolu_1', name: 'f', input: {} }
const result = { type: 'tool_result', tool_use_id: 'toolu_1', content: 'Done.' }

/** A tool of the Responses format with everything that only this format has. */
const deferred = {
  defer_loading: true,
  allowed_callers: ['programmatic'],
  async: true,
}

interface Case {
  readonly what: string
  readonly client: string
  readonly body: Body
  readonly names: readonly string[]
}

const cases: readonly Case[] = [
  {
    what: 'a member that a message has only here',
    client: 'openai-responses',
    body: { input: [user, { role: 'assistant', content: 'Wait.', mood: 'calm' }, user] },
    names: ['messages[1].mood'],
  },
  {
    what: 'who made a call and took its output',
    client: 'openai-responses',
    body: {
      input: [user, { ...call, async: true, caller: program }, { ...output, caller: program }],
    },
    names: ['messages[1].content[0].async', 'messages[1].content[0].caller', 'messages[2].caller'],
  },
  {
    what: 'how functions and tools with text input are offered',
    client: 'openai-responses',
    body: {
      input: 'Hi',
      tools: [
        { type: 'function', name: 'f', parameters, output_schema: parameters, ...deferred },
        { type: 'custom', name: 'c', ...deferred },
        { type: 'shell', environment: { type: 'local' }, allowed_callers: ['programmatic'] },
        {
          type: 'namespace',
          name: 'n',
          description: 'd',
          tools: [{ type: 'function', name: 'g', ...deferred }],
        },
      ],
    },
    names: [
      'tools[0].output_schema',
      ...[0, 1, 3].flatMap((at) => [`tools[${at}].defer_loading`, `tools[${at}].async`]),
      ...[0, 1, 2, 3].map((at) => `tools[${at}].allowed_callers`),
    ],
  },
  {
    what: 'how functions are offered',
    client: 'anthropic-messages',
    body: {
      messages: [user],
      tools: [
        {
          name: 'f',
          input_schema: parameters,
          defer_loading: true,
          allowed_callers: ['code_execution_20260120'],
          input_examples: [{ city: 'Paris' }],
        },
        { type: 'bash_20250124', name: 'bash', defer_loading: true },
      ],
    },
    names: [
      'tools[0].defer_loading',
      'tools[0].allowed_callers',
      'tools[0].input_examples',
      'tools[1].defer_loading',
    ],
  },
  {
    what: 'which toolset a call is of, and who made it',
    client: 'anthropic-messages',
    body: {
      messages: [
        user,
        {
          role: 'assistant',
          content: [
            {
              ...toolUse,
              toolset_name: 'browser',
              caller: { type: 'code_execution_20260120', tool_id: 't' },
            },
          ],
        },
        { role: 'user', content: [{ ...result, toolset_name: 'browser' }] },
      ],
    },
    names: [
      'messages[1].content[0].toolset_name',
      'messages[1].content[0].caller',
      'messages[2].toolset_name',
    ],
  },
  {
    what: 'what is said of a part',
    client: 'gemini',
    body: {
      contents: [
        {
          role: 'user',
          parts: [{ text: 'Hi', partMetadata: { a: 1 }, speechMetadata: { speaker: 'A' } }],
        },
      ],
      systemInstruction: { parts: [{ text: 'Be brief.', partMetadata: { a: 1 } }] },
      tools: [{ functionDeclarations: [{ name: 'f', responseJsonSchema: parameters }] }],
      toolConfig: { functionCallingConfig: { mode: 'AUTO', streamFunctionCallArguments: true } },
    },
    names: [
      'messages[0].content[0].partMetadata',
      'messages[1].content[0].partMetadata',
      'messages[1].content[0].speechMetadata',
      'tools[0].responseJsonSchema',
      'toolConfig.functionCallingConfig.streamFunctionCallArguments',
    ],
  },
]

describe.each(clients)('a client of $id', (client) => {
  const own = cases.filter((each) => each.client === client.id)
  const foreign = rows.filter(({ id }) => id !== client.id)
  for (const { what, body, names } of own) {
    test.each(foreign)(`is told of ${what}, on $vendor`, async ({ vendor }) => {
      const found = await dropped(client, vendor, body)
      expect(found.toSorted()).toEqual(expect.arrayContaining([...names]))
    })
  }

  test.each(foreign)(
    'is not told of what says no more than its absence, on $vendor',
    async (row) => {
      const plain: Readonly<Record<string, Body>> = {
        'openai-responses': {
          input: [
            user,
            {
              type: 'message',
              id: 'msg_1',
              status: 'completed',
              role: 'assistant',
              content: [{ type: 'output_text', text: 'Ok.', annotations: [], logprobs: [] }],
            },
            { ...call, id: 'fc_1', status: 'completed', caller: { type: 'direct' } },
            { ...output, id: 'fco_1', status: 'completed', caller: { type: 'direct' } },
          ],
          tools: [
            {
              type: 'function',
              name: 'f',
              parameters,
              strict: false,
              allowed_callers: ['direct'],
              defer_loading: false,
            },
          ],
        },
        'openai-chat': {
          messages: [
            user,
            { role: 'assistant', content: 'Ok.', refusal: null, annotations: [] },
            user,
          ],
        },
        'anthropic-messages': {
          messages: [
            user,
            {
              role: 'assistant',
              content: [
                { type: 'text', text: 'Ok.', citations: null },
                { ...toolUse, caller: { type: 'direct' } },
              ],
            },
            { role: 'user', content: [result] },
          ],
          tools: [{ name: 'f', input_schema: parameters, eager_input_streaming: true }],
        },
        gemini: { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] },
      }
      expect(await dropped(client, row.vendor, plain[client.id] ?? {})).toEqual([''])
    },
  )
})

test('names that differ in their places alone are one name where there are many', async () => {
  const said = { role: 'assistant', content: 'Wait.', mood: 'calm' }
  const input = Array.from({ length: 600 }, () => [user, said]).flat()
  const [client] = clients
  const names = client && (await dropped(client, 'anthropic', { input: [...input, user] }))
  expect(names).toEqual(['messages[*].mood'])
})

describe('marks of the prompt cache', () => {
  const mark = { prompt_cache_breakpoint: { mode: 'explicit' } }
  const [responses, chat, messages] = clients

  test("of the Responses format are Anthropic's, with the nearest duration", async () => {
    const parts = [
      { type: 'input_text', text: 'A long text.', ...mark },
      {
        type: 'input_text',
        text: 'More.',
        prompt_cache_breakpoint: { mode: 'explicit', ttl: '12h' },
      },
    ]
    const input = [{ role: 'user', content: parts }, call, { ...output, output: [parts[0]] }]
    if (responses) await dropped(responses, 'anthropic', { input })
    const [asked, , answered] = stage.asked?.body['messages'] as readonly Body[]
    expect(asked?.['content']).toEqual([
      { type: 'text', text: 'A long text.', cache_control: { type: 'ephemeral' } },
      { type: 'text', text: 'More.', cache_control: { type: 'ephemeral', ttl: '1h' } },
    ])
    expect(answered?.['content']).toEqual([
      expect.objectContaining({ type: 'tool_result', cache_control: { type: 'ephemeral' } }),
    ])
  })

  test('of a chat reach vendors of the Responses format as they are', async () => {
    const content = [{ type: 'text', text: 'A long text.', ...mark }]
    const called = { id: 'call_1', type: 'function', function: { name: 'f', arguments: '{}' } }
    const body = {
      messages: [
        { role: 'user', content },
        { role: 'assistant', content: null, tool_calls: [called] },
        { role: 'tool', tool_call_id: 'call_1', content },
      ],
    }
    expect(chat && (await dropped(chat, 'xai', body))).toEqual([''])
    const part = { type: 'input_text', text: 'A long text.', ...mark }
    expect(stage.asked?.body['input']).toEqual([
      { role: 'user', content: [part] },
      expect.objectContaining({ type: 'function_call' }),
      expect.objectContaining({ output: [part] }),
    ])
  })

  test("and its settings are the same in both of OpenAI's formats", async () => {
    const settings = {
      prompt_cache_key: 'k',
      prompt_cache_retention: '24h',
      prompt_cache_options: { mode: 'explicit', ttl: '30m' },
    }
    expect(chat && (await dropped(chat, 'xai', { messages: [user], ...settings }))).toEqual([''])
    expect(stage.asked?.body).toMatchObject(settings)
    expect(
      responses && (await dropped(responses, 'openai-compatible', { input: 'Hi', ...settings })),
    ).toEqual([''])
    expect(stage.asked?.body).toMatchObject(settings)
  })

  test.each([
    {
      type: 'search_result',
      source: 'https://a.example',
      title: 'A',
      content: [{ type: 'text', text: 'B' }],
    },
    { type: 'tool_reference', tool_name: 'f' },
    { type: 'browser_state', tabs: [{ id: 1, url: 'https://a.example', title: 'A' }] },
  ])("on Anthropic's $type are kept for Bedrock, and named where there are none", async (block) => {
    const cache_control = { type: 'ephemeral' }
    const body = {
      messages: [
        user,
        { role: 'assistant', content: [toolUse] },
        { role: 'user', content: [{ ...result, content: [{ ...block, cache_control }] }] },
      ],
      tools: [{ type: 'bash_20250124', name: 'bash', cache_control }],
    }
    if (messages === undefined) throw new Error('no client')
    await dropped(messages, 'bedrock', body)
    expect(stage.asked?.text.match(/"cachePoint"/g)).toHaveLength(2)
    expect(await dropped(messages, 'openai-compatible', body)).toEqual(
      expect.arrayContaining(['messages[2].content[0].cache_control', 'tools[0].cache_control']),
    )
  })

  const marked = { type: 'text', text: 'B', cache_control: { type: 'ephemeral' } }
  test.each([
    { type: 'search_result', source: 'https://a.example', title: 'A', content: [marked] },
    { type: 'document', source: { type: 'content', content: [marked] } },
  ])("inside Anthropic's $type are those of the whole", async (block) => {
    const body = { messages: [{ role: 'user', content: [block, { type: 'text', text: 'Hi' }] }] }
    if (messages === undefined) throw new Error('no client')
    await dropped(messages, 'bedrock', body)
    expect(stage.asked?.text.match(/"cachePoint"/g)).toHaveLength(1)
    expect(await dropped(messages, 'openai-compatible', body)).toContain(
      'messages[0].content[0].cache_control',
    )
    await dropped(messages, 'anthropic', body)
    expect(stage.asked?.body['messages']).toEqual(body.messages)
  })

  test("on a call are Anthropic's own", async () => {
    const marked = { ...toolUse, cache_control: { type: 'ephemeral' } }
    const body = {
      messages: [
        user,
        { role: 'assistant', content: [marked] },
        { role: 'user', content: [result] },
      ],
    }
    for (const vendor of ['openai-compatible', 'xai', 'google', 'cohere']) {
      const names = messages && (await dropped(messages, vendor, body))
      expect([vendor, names]).toEqual([vendor, ['messages[1].content[0].cache_control']])
    }
  })
})

describe("parts that a model of another format cannot read, of Google's clients", () => {
  const [, , , google] = clients
  test.each([
    { inlineData: { mimeType: 'image/png', data: 'iVBORw0KGgo=' } },
    { fileData: { mimeType: 'application/pdf', fileUri: 'https://a.example/a.pdf' } },
    { executableCode: { language: 'PYTHON', code: '1' } },
  ])('are refused in systemInstruction: %j', async (part) => {
    const contents = [{ role: 'user', parts: [{ text: 'Hi' }] }]
    const systemInstruction = { parts: [{ text: 'Be brief.' }, part] }
    const path = google?.path('on-openai-compatible') ?? ''
    const reply = await stage.gateway.post(path, { contents, systemInstruction })
    expect([reply.status, await reply.text()]).toEqual([
      400,
      expect.stringContaining('systemInstruction.parts[1]'),
    ])
  })
})
