// Tests tools that not every vendor supports: left out and named, converted to functions, or refused if they are
// incomplete.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Body, offeredIn } from '../agents/offered.ts'
import { rows, ToolStage, user } from './tools-stage.ts'

let stage: ToolStage
beforeAll(async () => {
  stage = await ToolStage.begin()
})
afterAll(() => stage.end())

const weather = {
  name: 'get_weather',
  parameters: { type: 'object', properties: { city: { type: 'string' } } },
}
const translated = rows.filter(({ vendor }) => vendor !== 'xai')

describe.each(translated)('a tool that only another vendor runs, on $vendor', ({ id, vendor }) => {
  test.each([
    'web_search',
    'web_search_preview',
    'file_search',
    'code_interpreter',
    'image_generation',
    'mcp',
    'computer_use_preview',
  ])('of type %s is left out and named', async (type) => {
    stage.calls = () => null
    const tools = [
      { type, server_label: 's' },
      { type: 'function', ...weather },
    ]
    for (const tool_choice of ['auto', 'required', { type }]) {
      const outcome = await stage.responses(vendor, { input: 'Hi', tools, tool_choice }, false)
      expect(outcome.status).toBe(200)
      expect(outcome.dropped).toContain(`tools.${type}`)
      expect(stage.asked && offeredIn(stage.asked.format.id, stage.asked.body)).toEqual([
        { name: 'get_weather' },
      ])
    }
    const alone = await stage.responses(
      vendor,
      { input: 'Hi', tools: [{ type }], tool_choice: 'required' },
      true,
    )
    expect([alone.status, alone.dropped]).toEqual([200, `tools.${type}, tool_choice`])
  })

  test.each([
    { type: 'web_search_20250305', name: 'web_search' },
    { type: 'code_execution_20250825', name: 'code_execution' },
  ])(
    "of Anthropic's, $type, that a message adds, and the model does not hear of it",
    async (tool) => {
      stage.calls = () => null
      const addition = { type: 'tool_addition', tool: { name: tool.name, definition: tool } }
      const messages = [user, { role: 'system', content: [addition] }, user]
      const body = { model: `on-${vendor}`, max_tokens: 100, messages }
      const reply = await stage.gateway.post('/v1/messages', body)
      expect(reply.status).toBe(200)
      const isOwn = id === 'anthropic-messages'
      const named = (reply.headers.get('x-tollgate-dropped') ?? '').split(', ')
      expect(named.includes(`tools.${tool.type}`)).toBe(!isOwn)
      expect(stage.asked?.text.includes(tool.name)).toBe(isOwn)
    },
  )

  test.each([
    { type: 'web_search_20250305', name: 'web_search' },
    { type: 'code_execution_20250825', name: 'code_execution' },
  ])("of Anthropic's, $type, too", async (tool) => {
    stage.calls = () => null
    const body = {
      model: `on-${vendor}`,
      max_tokens: 100,
      messages: [user],
      tools: [tool],
      tool_choice: { type: 'tool', name: tool.name },
    }
    const reply = await stage.gateway.post('/v1/messages', body)
    expect(reply.status).toBe(200)
    const isOwn = id === 'anthropic-messages'
    const dropped = isOwn ? null : `tools.${tool.type}, tool_choice`
    expect(reply.headers.get('x-tollgate-dropped')).toBe(dropped)
    expect(stage.asked?.text.includes(tool.type)).toBe(isOwn)
  })

  test.each(['googleSearch', 'codeExecution', 'urlContext'])(
    "of Google's, %s, too",
    async (type) => {
      stage.calls = () => null
      const body = {
        contents: [{ role: 'user', parts: [{ text: 'Hi' }] }],
        tools: [{ [type]: {} }],
      }
      const reply = await stage.gateway.post(`/v1beta/models/on-${vendor}:generateContent`, body)
      const isOwn = id === 'gemini'
      const dropped = isOwn ? null : `tools.${type}`
      expect([reply.status, reply.headers.get('x-tollgate-dropped')]).toEqual([200, dropped])
      expect(stage.asked?.text.includes(type)).toBe(isOwn)
    },
  )

  test("a chat's web_search_options are left out and named", async () => {
    stage.calls = () => null
    const body = { model: `on-${vendor}`, messages: [user], web_search_options: {} }
    const reply = await stage.gateway.post('/v1/chat/completions', body)
    const isOwn = id === 'openai-chat'
    const dropped = isOwn ? null : 'tools.web_search_options'
    expect([reply.status, reply.headers.get('x-tollgate-dropped')]).toEqual([200, dropped])
    expect(stage.asked?.text.includes('web_search_options')).toBe(isOwn)
  })
})

test("a chat's web_search_options are a search to a vendor of the Responses format", async () => {
  stage.calls = () => null
  const body = { model: 'on-xai', messages: [user], web_search_options: {} }
  const reply = await stage.gateway.post('/v1/chat/completions', body)
  expect([reply.status, reply.headers.get('x-tollgate-dropped')]).toEqual([200, null])
  expect(stage.asked?.body['tools']).toEqual([{ type: 'web_search' }])
})

const anthropicTools = [
  { tool: { type: 'bash_20250124', name: 'bash' }, input: { command: 'ls' } },
  {
    tool: { type: 'text_editor_20250728', name: 'str_replace_based_edit_tool' },
    input: { command: 'view', path: '/a' },
  },
  {
    tool: {
      type: 'computer_20250124',
      name: 'computer',
      display_width_px: 800,
      display_height_px: 600,
    },
    input: { action: 'screenshot' },
  },
  {
    tool: { type: 'memory_20250818', name: 'memory' },
    input: { command: 'view', path: '/memories' },
  },
]

describe.each(rows.filter(({ id }) => id !== 'anthropic-messages'))(
  "Anthropic's tools that the client runs, on $vendor",
  ({ vendor }) => {
    test.each(anthropicTools)(
      '$tool.type is a function, and its call a tool_use',
      async ({ tool, input }) => {
        stage.calls = ([name]) => ({ name: name ?? '', input })
        const body = { model: `on-${vendor}`, max_tokens: 100, messages: [user], tools: [tool] }
        const reply = await stage.gateway.post('/v1/messages', body)
        expect([reply.status, reply.headers.get('x-tollgate-dropped')]).toEqual([200, null])
        const { content, stop_reason: reason } = (await reply.json()) as {
          content: Body[]
          stop_reason: string
        }
        expect(reason).toBe('tool_use')
        expect(content.filter(({ type }) => type === 'tool_use')).toMatchObject([
          { name: tool.name, input },
        ])
      },
    )
  },
)

test('tools that an item adds are offered in `tools` to a vendor that does not know the item', async () => {
  stage.calls = () => null
  const added = { type: 'additional_tools', tools: [{ type: 'web_search' }] }
  const { status } = await stage.responses('xai', { input: [user, added, user] }, false)
  expect(status).toBe(200)
  expect(stage.asked?.body).toMatchObject({ input: [user, user], tools: [{ type: 'web_search' }] })
})

test('a name that only Google takes is fitted to other vendors, and comes back', async () => {
  stage.calls = ([name]) => ({ name: name ?? '', input: { city: 'Rome' } })
  const declared = { name: 'maps.weather:get', parametersJsonSchema: weather.parameters }
  const body = {
    contents: [{ role: 'user', parts: [{ text: 'Hi' }] }],
    tools: [{ functionDeclarations: [declared] }],
  }
  const reply = await stage.gateway.post(
    '/v1beta/models/on-openai-compatible:generateContent',
    body,
  )
  expect(await reply.json()).toMatchObject({
    candidates: [
      { content: { parts: [{ functionCall: { name: declared.name, args: { city: 'Rome' } } }] } },
    ],
  })
})

test('what one agent of Codex says to another reaches the model, but for what OpenAI encrypted', async () => {
  stage.calls = () => null
  const content = [
    { type: 'input_text', text: 'Payload:\n' },
    { type: 'encrypted_content', encrypted_content: 'Count the files.' },
    { type: 'encrypted_content', encrypted_content: `gAAAAAB${'x'.repeat(80)}` },
  ]
  const message = { type: 'agent_message', author: 'one', recipient: 'two', content }
  const { status, dropped } = await stage.responses('anthropic', { input: [message] }, true)
  expect([status, dropped]).toEqual([200, 'input[0].content[2]'])
  expect(stage.asked?.body['messages']).toEqual([
    {
      role: 'user',
      content: [
        { type: 'text', text: 'Payload:\n' },
        { type: 'text', text: 'Count the files.' },
      ],
    },
  ])
})

test("a sealed call of Google's has its function in every piece of a chat's stream", async () => {
  stage.calls = ([name]) => ({ name: name ?? '', input: { city: 'Rome' } })
  const tools = [{ type: 'function', function: weather }]
  const body = { model: 'on-google', messages: [user], tools, stream: true }
  const text = await (await stage.gateway.post('/v1/chat/completions', body)).text()
  const pieces = [...text.matchAll(/^data: (\{.*)$/gm)].flatMap(([, data = '']) => {
    const { choices } = JSON.parse(data) as { choices: { delta: { tool_calls?: Body[] } }[] }
    return choices.flatMap(({ delta }) => delta.tool_calls ?? [])
  })
  expect(pieces.some((piece) => 'extra_content' in piece)).toBe(true)
  // opencode's reader of such streams refuses any piece without it.
  for (const piece of pieces) expect(piece['function']).toBeObject()
})

const unnamed: readonly (readonly [path: string, tools: Body, param: string])[] = [
  ['/v1/responses', { input: 'Hi', tools: [{ type: 'function' }] }, 'tools[0].name'],
  [
    '/v1/responses',
    { input: 'Hi', tools: [{ type: 'namespace', name: 'n', tools: [{ type: 'custom' }] }] },
    'tools[0].tools[0].name',
  ],
  [
    '/v1/responses',
    { input: [{ type: 'additional_tools', tools: [{ type: 'namespace' }] }, user] },
    'input[0].tools[0].name',
  ],
  [
    '/v1/chat/completions',
    { messages: [user], tools: [{ type: 'function' }] },
    'tools[0].function',
  ],
  [
    '/v1/messages',
    { max_tokens: 9, messages: [user], tools: [{ input_schema: {} }] },
    'tools[0].name',
  ],
]

test('a namespace in another is refused by its place', async () => {
  const inner = { type: 'namespace', name: 'b', tools: [] }
  const tools = [{ type: 'namespace', name: 'a', tools: [inner] }]
  const reply = await stage.gateway.post('/v1/responses', {
    model: 'on-google',
    input: 'Hi',
    tools,
  })
  expect(reply.status).toBe(400)
  expect(await reply.json()).toMatchObject({ error: { param: 'tools[0].tools[0]' } })
})

test.each(unnamed)('%s: a tool without a name is refused: %j', async (path, body, param) => {
  const vendor = path === '/v1/messages' ? 'google' : 'anthropic'
  const reply = await stage.gateway.post(path, { model: `on-${vendor}`, ...body })
  expect(reply.status).toBe(400)
  expect(await reply.text()).toContain(`${param} must be`)
})
