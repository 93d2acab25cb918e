// Tests the sandbox's answers: texts, tools, counts, refusals.

import { expect, test } from 'bun:test'
import type { JsonObject } from '../../wire/ir.ts'
import type { Exchange } from '../transport.ts'
import { vectorOf } from './embedding.ts'
import { sandboxService } from './service.ts'
import { call, say } from './testing.ts'

const encoder = new TextEncoder()

async function chat(model: string, more: JsonObject = {}): Promise<JsonObject> {
  const reply = await call('openai-chat', { model, messages: say, ...more })
  expect([reply.status, reply.fault]).toEqual([200, null])
  return JSON.parse(reply.text)
}

function frames(text: string): string[] {
  const list = text.split('\n\n')
  expect(list.pop()).toBe('')
  return list.map((frame) => {
    expect(frame).toStartWith('data: ')
    return frame.slice(6)
  })
}

interface Folded {
  content: string
  reasoning: string
  calls: { id: string; type: string; function: { name: string; arguments: string } }[]
  finish: string | null
  usage: JsonObject | null
}

interface CallPiece {
  readonly index: number
  readonly id?: string
  readonly type?: string
  readonly function: { readonly name?: string; readonly arguments: string }
}

interface Chunk {
  readonly choices: readonly {
    readonly index: number
    readonly delta: {
      readonly content?: string | null
      readonly reasoning_content?: string
      readonly tool_calls?: readonly CallPiece[]
    }
    readonly finish_reason: string | null
  }[]
  readonly usage?: JsonObject | null
}

/** The total of the first choice of a stream. */
function fold(text: string): Folded {
  const list = frames(text)
  expect(list.pop()).toBe('[DONE]')
  const folded: Folded = { content: '', reasoning: '', calls: [], finish: null, usage: null }
  for (const chunk of list.map((data): Chunk => JSON.parse(data))) {
    folded.usage = chunk.usage ?? folded.usage
    const choice = chunk.choices.find(({ index }) => index === 0)
    if (choice === undefined) continue
    folded.content += choice.delta.content ?? ''
    folded.reasoning += choice.delta.reasoning_content ?? ''
    folded.finish = choice.finish_reason ?? folded.finish
    for (const { index, id, type, function: part } of choice.delta.tool_calls ?? []) {
      folded.calls[index] ??= {
        id: id ?? '',
        type: type ?? '',
        function: { name: part.name ?? '', arguments: '' },
      }
      const known = folded.calls[index]
      if (known !== undefined) known.function.arguments += part.arguments
    }
  }
  return folded
}

const weather = {
  type: 'function',
  function: {
    name: 'weather',
    parameters: {
      type: 'object',
      properties: {
        city: { type: 'string' },
        days: { type: 'integer', minimum: 2 },
        unit: { enum: ['celsius', 'kelvin'] },
        where: { $ref: '#/$defs/place' },
        tags: { type: 'array', items: { type: 'boolean' }, minItems: 2 },
        note: { type: 'string' },
      },
      required: ['city', 'days', 'unit', 'where', 'tags'],
      $defs: {
        place: { type: 'object', properties: { lat: { type: 'number' } }, required: ['lat'] },
      },
    },
  },
}

test('a chat reply says that it is the sandbox, echoes the user and counts exactly', async () => {
  const reply = await chat('sandbox/chat')
  expect(reply).toMatchObject({
    object: 'chat.completion',
    model: 'sandbox/chat',
    choices: [
      {
        index: 0,
        finish_reason: 'stop',
        message: {
          role: 'assistant',
          content: "This is Tollgate's sandbox, no model was asked. You said: Hello out there",
          refusal: null,
        },
      },
    ],
    // 4 a message; 'Be kind.' has 8 bytes, 'Hello out there' 15.
    usage: { prompt_tokens: 8 + 2 + 4, completion_tokens: 13, total_tokens: 27 },
  })
})

test('the same request has the same reply, byte for byte', async () => {
  const ask = { model: 'sandbox/reasoning', messages: say, stream: true, n: 2 }
  expect((await call('openai-chat', ask)).text).toBe((await call('openai-chat', ask)).text)
})

const shapes: readonly (readonly [name: string, model: string, more: JsonObject])[] = [
  ['text', 'sandbox/chat', {}],
  ['sized text', 'sandbox/chat+tokens=40', {}],
  ['limited text', 'sandbox/chat+tokens=40', { max_completion_tokens: 7 }],
  ['reasoning', 'sandbox/reasoning+tokens=3', {}],
  ['a forced tool call', 'sandbox/chat', { tools: [weather], tool_choice: 'required' }],
  [
    'reasoning and a tool call',
    'sandbox/reasoning',
    { tools: [weather], tool_choice: { type: 'function', function: { name: 'weather' } } },
  ],
  [
    'structured output',
    'sandbox/chat',
    {
      response_format: {
        type: 'json_schema',
        json_schema: { name: 'x', schema: weather.function.parameters },
      },
    },
  ],
  ['no text at all', 'sandbox/chat+tokens=0', {}],
  ['two choices', 'sandbox/chat+tokens=2', { n: 2 }],
]

test.each(shapes)('streamed, %s adds up to the whole reply', async (_name, model, more) => {
  const whole = await chat(model, more)
  const streamed = await call('openai-chat', {
    model,
    messages: say,
    stream: true,
    stream_options: { include_usage: true },
    ...more,
  })
  expect(streamed.header('content-type')).toStartWith('text/event-stream')
  const folded = fold(streamed.text)
  const choice = (whole.choices as unknown as { message: JsonObject; finish_reason: string }[])[0]
  expect(folded.content).toBe(String(choice?.message.content ?? ''))
  expect(folded.reasoning).toBe(String(choice?.message.reasoning_content ?? ''))
  expect(folded.calls).toEqual((choice?.message.tool_calls ?? []) as unknown as Folded['calls'])
  expect(folded.finish).toBe(choice?.finish_reason ?? null)
  expect(folded.usage).toEqual(whole.usage as JsonObject)
})

test('output is as long as the model name asks, and stops at the limit with reason length', async () => {
  const reply = await chat('sandbox/chat+tokens=40', { max_tokens: 7 })
  expect(reply.usage).toMatchObject({ completion_tokens: 7 })
  expect(reply.choices).toMatchObject([{ finish_reason: 'length' }])
  expect((await chat('sandbox/chat+tokens=40')).usage).toMatchObject({ completion_tokens: 40 })
})

test('reasoning is counted and is left out on request', async () => {
  const reply = await chat('sandbox/reasoning')
  expect(reply.usage).toMatchObject({
    completion_tokens: 24,
    completion_tokens_details: { reasoning_tokens: 11 },
  })
  const without = await chat('sandbox/reasoning', { reasoning_effort: 'none' })
  expect(without.usage).toMatchObject({ completion_tokens: 13 })
})

test('a tool is called where the message says so, with arguments its schema requires', async () => {
  const messages: JsonObject[] = [{ role: 'user', content: 'Call weather please' }]
  const reply = await chat('sandbox/chat', { messages, tools: [weather] })
  const [choice] = reply.choices as unknown as {
    finish_reason: string
    message: {
      content: null
      tool_calls: { id: string; function: { name: string; arguments: string } }[]
    }
  }[]
  expect(choice?.finish_reason).toBe('tool_calls')
  expect(choice?.message.content).toBeNull()
  const made = choice?.message.tool_calls[0]
  expect(JSON.parse(made?.function.arguments ?? '')).toEqual({
    city: 'sandbox city',
    days: 2,
    unit: 'celsius',
    where: { lat: 1 },
    tags: [true, true],
  })
  const answered = await chat('sandbox/chat', {
    messages: [
      ...messages,
      { role: 'assistant', content: null, tool_calls: choice?.message.tool_calls ?? [] },
      { role: 'tool', tool_call_id: made?.id ?? '', content: 'weather: rain' },
    ],
    tools: [weather],
  })
  expect(answered.choices).toMatchObject([
    { finish_reason: 'stop', message: { content: expect.stringContaining('rain') } },
  ])
  expect((await chat('sandbox/chat', { tools: [weather] })).choices).toMatchObject([
    { finish_reason: 'stop' },
  ])
  const none = await chat('sandbox/chat', { messages, tools: [weather], tool_choice: 'none' })
  expect(none.choices).toMatchObject([{ finish_reason: 'stop' }])
})

const tool = (name: string) => ({ type: 'function', function: { name } })
const tools = ['Bash', 'Read', 'mcp__files__read', 'web.search'].map(tool)
const reminder = { type: 'text', text: '<system-reminder>\nThe Read tool was not used.\nUse Bash.' }

test.each<[JsonObject['content'], readonly string[]]>([
  ['Say hello', []],
  ['Which tool reads a file: Read or Bash?', []],
  ['I call Bash a shell.', []],
  ['Use a shell', []],
  ['Use Bash.', ['Bash']],
  ['Read a.ts, please', ['Read']],
  ['Ask Read about a.ts', ['Read']],
  ['run Bash', ['Bash']],
  ['Reading is fun', []],
  ['please call mcp__files__read for a.ts', ['mcp__files__read']],
  ['Look around.\n  Call Read, and web.search: both.', ['Read', 'web.search']],
  ['Use the Bashful one', []],
  [[reminder, { type: 'text', text: 'Say hello' }], []],
  [[reminder, { type: 'text', text: 'Use Read for a.ts' }], ['Read']],
  [
    [
      { type: 'text', text: 'Use Read' },
      { type: 'image_url', image_url: { url: 'x' } },
    ],
    ['Read'],
  ],
])('%j calls %j', async (content, names) => {
  const { choices } = await chat('sandbox/chat', { messages: [{ role: 'user', content }], tools })
  const [choice] = choices as unknown as [
    { message: { tool_calls?: { function: { name: string } }[] } },
  ]
  expect((choice.message.tool_calls ?? []).map((call) => call.function.name)).toEqual([...names])
})

test('usage comes on a stream only when asked for', async () => {
  const reply = await call('openai-chat', { model: 'sandbox/chat', messages: say, stream: true })
  expect(reply.text).not.toContain('"usage"')
})

test('stop sequences end the text', async () => {
  const reply = await chat('sandbox/chat', { stop: ['no model', 'sandbox'] })
  expect(reply.choices).toMatchObject([{ message: { content: "This is Tollgate's" } }])
})

test('completions: several prompts, each with its copies, whole and streamed', async () => {
  const ask = { model: 'sandbox/completion+tokens=2', prompt: ['one', 'two'], n: 2 }
  const whole = await call('openai-completions', ask)
  expect(JSON.parse(whole.text)).toMatchObject({
    object: 'text_completion',
    choices: [0, 1, 2, 3].map((index) => ({ index, text: 'This is', finish_reason: 'stop' })),
    usage: { prompt_tokens: 2, completion_tokens: 8, total_tokens: 10 },
  })
  const streamed = await call('openai-completions', {
    ...ask,
    stream: true,
    stream_options: { include_usage: true },
  })
  const list = frames(streamed.text)
  expect(list.pop()).toBe('[DONE]')
  const texts = ['', '', '', '']
  for (const data of list.slice(0, -1)) {
    for (const { index, text } of JSON.parse(data).choices) texts[index] += text
  }
  expect(texts).toEqual(Array.from({ length: 4 }, () => 'This is'))
  expect(JSON.parse(list.at(-1) ?? '')).toMatchObject({ choices: [], usage: { total_tokens: 10 } })
})

test('completions and embeddings take token ids as one input', async () => {
  const completion = await call('openai-completions', {
    model: 'sandbox/completion',
    prompt: [1, 2, 3],
  })
  expect(JSON.parse(completion.text).usage.prompt_tokens).toBe(3)
  const embedding = await call('openai-embeddings', {
    model: 'sandbox/embedding',
    input: [[1, 2], [3]],
  })
  const reply = JSON.parse(embedding.text)
  expect(reply.data).toHaveLength(2)
  expect(reply.usage).toEqual({ prompt_tokens: 3, total_tokens: 3 })
  expect(reply.data[0].embedding).not.toEqual(reply.data[1].embedding)
})

test('embeddings are unit vectors of the text alone, the same as floats and base64', async () => {
  const input = ['alpha', 'beta', 'alpha']
  const floats = JSON.parse(
    (await call('openai-embeddings', { model: 'sandbox/embedding', input, dimensions: 8 })).text,
  )
  const base64 = JSON.parse(
    (
      await call('openai-embeddings', {
        model: 'sandbox/embedding',
        input,
        dimensions: 8,
        encoding_format: 'base64',
      })
    ).text,
  )
  for (const [index, { embedding }] of floats.data.entries()) {
    const squares = embedding.reduce((sum: number, value: number) => sum + value * value, 0)
    expect(squares).toBeCloseTo(1, 5)
    const bytes = Buffer.from(base64.data[index].embedding, 'base64')
    expect(Array.from({ length: 8 }, (_, at) => bytes.readFloatLE(at * 4))).toEqual(embedding)
  }
  expect(floats.data[0].embedding).toEqual(floats.data[2].embedding)
  expect(floats.data[0].embedding).not.toEqual(floats.data[1].embedding)
  expect(vectorOf('alpha', 256)).toHaveLength(256)
})

const refusals: readonly (readonly [
  name: string,
  dialect: string,
  body: JsonObject,
  status: number,
  says: RegExp,
])[] = [
  [
    'unknown settings',
    'openai-chat',
    { model: 'sandbox/chat+speed=9+loud', messages: say },
    400,
    /'speed=9', 'loud'/,
  ],
  [
    'a setting out of range',
    'openai-chat',
    { model: 'sandbox/chat+gap=70000', messages: say },
    400,
    /'gap'.*60000/,
  ],
  [
    'a setting given twice',
    'openai-chat',
    { model: 'sandbox/chat+gap=1+gap=2', messages: say },
    400,
    /'gap' is given twice/,
  ],
  [
    'an unknown fault',
    'openai-chat',
    { model: 'sandbox/chat+fault=fire', messages: say },
    400,
    /'fire'/,
  ],
  [
    'an unknown model',
    'openai-chat',
    { model: 'sandbox/none', messages: say },
    404,
    /sandbox\/none/,
  ],
  [
    'a model of another endpoint',
    'openai-chat',
    { model: 'sandbox/embedding', messages: say },
    404,
    /sandbox\/chat/,
  ],
  ['no messages', 'openai-chat', { model: 'sandbox/chat' }, 400, /messages/],
  ['no prompt', 'openai-completions', { model: 'sandbox/completion' }, 400, /prompt/],
  ['no input', 'openai-embeddings', { model: 'sandbox/embedding', input: [] }, 400, /input/],
  [
    'too many dimensions',
    'openai-embeddings',
    { model: 'sandbox/embedding', input: 'a', dimensions: 5000 },
    400,
    /4096/,
  ],
]

test.each(refusals)('%s: refused with a message', async (_name, dialect, body, status, says) => {
  const reply = await call(dialect, body)
  expect(reply.status).toBe(status)
  expect(JSON.parse(reply.text).error.message).toMatch(says)
})

test('a body that is not JSON is refused', async () => {
  const received = await new Promise<number>((resolve) => {
    const ignore = (): undefined => undefined
    const body = encoder.encode('{"model":')
    sandboxService.open(
      { dialect: 'openai-chat', model: 'sandbox/chat', body },
      { head: (status) => resolve(status), bytes: ignore, end: ignore, fault: ignore },
    )
  })
  expect(received).toBe(400)
})

test('nothing comes before the exchange is in hand', async () => {
  let opened: Exchange | null = null
  const inHand = await new Promise<boolean>((resolve) => {
    const ignore = (): undefined => undefined
    const body = encoder.encode(JSON.stringify({ messages: say }))
    opened = sandboxService.open(
      { dialect: 'openai-chat', model: 'sandbox/chat', body },
      { head: () => resolve(opened !== null), bytes: ignore, end: ignore, fault: ignore },
    )
  })
  expect(inHand).toBe(true)
})
