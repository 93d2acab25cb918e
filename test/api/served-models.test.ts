// Tests which names are listed, readable and answered if channels name models, map them, or accept a prefix.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeDirectory } from '../contract/databases.ts'
import { authorized } from '../support/clients.ts'
import { type Gateway, startGateway } from '../support/gateway.ts'
import { startServer } from '../support/server-process.ts'

let gateway: Gateway
let stub: Bun.Server<undefined>
/** Request id of the newest chat. */
let requestId = ''
const limited = 'sk-limited-0123456789'
const prices = { input: '1', output: '2' }

beforeAll(async () => {
  stub = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const { model } = (await request.json()) as { model: string }
      const message = { role: 'assistant', content: model }
      return Response.json({
        id: 'x',
        object: 'chat.completion',
        created: 1,
        model,
        choices: [{ index: 0, message, finish_reason: 'stop' }],
        usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
      })
    },
  })
  const baseUrl = `http://127.0.0.1:${stub.port}/v1`
  gateway = await startGateway({
    config: {
      channels: [
        { id: 'explicit', vendor: 'sandbox', models: ['sandbox/chat'] },
        {
          id: 'mapped',
          vendor: 'sandbox',
          models: { quick: 'sandbox/chat', slow: 'sandbox/chat+gap=1' },
        },
        { id: 'openai', vendor: 'openai', baseUrl, key: 'stub-key-0123456789' },
        {
          id: 'renamed',
          vendor: 'azure-openai',
          baseUrl,
          key: 'stub-key-0123456789',
          models: { 'claude-opus-4-5': 'ours' },
        },
        {
          id: 'relay',
          vendor: 'openai-compatible',
          baseUrl,
          models: ['acme/*', 'grok-4-fast*', 'unpriced'],
        },
        { id: 'off', vendor: 'sandbox', models: ['sandbox/reasoning'], disabled: true },
      ],
      models: {
        '*': {},
        'acme/priced': { prices },
        'acme/input-only': { prices: { input: '1' } },
        'acme/silent': { context: 5 },
        'gpt-4o-2024-05-13': { prices: { input: '5', output: '15' } },
        elsewhere: { prices },
      },
      keys: [
        { name: 'test', secret: 'sk-test-0123456789abcdef' },
        { name: 'limited', secret: limited, models: ['gpt-4o-mini', 'sandbox/chat'] },
      ],
    },
  })
})
afterAll(async () => {
  await gateway.stop()
  await stub.stop(true)
})

async function listed(): Promise<string[]> {
  const reply = await fetch(`${gateway.url}/v1/models`, { headers: authorized() })
  return ((await reply.json()) as { data: { id: string }[] }).data.map(({ id }) => id)
}

async function read(id: string): Promise<unknown> {
  const reply = await fetch(`${gateway.url}/v1/models/${encodeURIComponent(id)}`, {
    headers: authorized(),
  })
  return reply.status === 200 ? ((await reply.json()) as { id: string }).id : reply.status
}

/** The text of the reply, which is the model that the vendor was asked for; else the status. */
async function ask(model: string, secret?: string): Promise<unknown> {
  const headers = secret === undefined ? {} : { authorization: `Bearer ${secret}` }
  const body = { model, messages: [{ role: 'user', content: 'Hello' }] }
  const reply = await gateway.post('/v1/chat/completions', body, { headers })
  requestId = reply.headers.get('x-request-id') ?? ''
  if (reply.status !== 200) return reply.status
  const { choices } = (await reply.json()) as { choices: { message: { content: string } }[] }
  return choices[0]?.message.content
}

test('a name is listed and read where a channel serves it and it has the prices of its kind', async () => {
  const names = await listed()
  for (const name of [
    'sandbox/chat',
    'quick',
    'slow',
    'gpt-4o',
    'acme/priced',
    'claude-opus-4-5',
  ]) {
    expect([name, names.includes(name), await read(name)]).toEqual([name, true, name])
  }
  // A relay without a catalogue serves the known models that have a price.
  expect(names).toContain('grok-4-fast-reasoning')
  for (const name of [
    'acme/input-only',
    'acme/silent',
    'unpriced',
    'elsewhere',
    'sandbox/reasoning',
    'davinci-002',
  ]) {
    expect([name, names.includes(name), await read(name)]).toEqual([name, false, 404])
  }
  expect(names).toEqual([...new Set(names)].sort())
})

describe('a name with the day of a snapshot', () => {
  test.each([
    ['gpt-4o-mini-2024-07-18', 'gpt-4o-mini'],
    ['o3-20250416', 'o3'],
    ['claude-opus-4-5-20251101', 'ours'],
    ['claude-opus-4-5@20251101', 'ours'],
  ])('%s is read and answered as the model it is of, by its price', async (name, asked) => {
    expect([await read(name), await ask(name)]).toEqual([name, asked])
    const row = await gateway.row(requestId)
    expect(row).toMatchObject({ modelAsked: name, modelServed: asked, status: 200 })
  })

  test('is none where it is no day, of no model that is served, or priced as a model of its own', async () => {
    for (const name of [
      'gpt-4o-mini-2024-13-01',
      'gpt-4o-mini-2024-07-32',
      'gpt-4o-mini-1999-01-01',
      'nobody-2024-07-18',
    ]) {
      expect([name, await read(name), await ask(name)]).toEqual([name, 404, 404])
    }
    expect(await ask('grok-4-fast-reasoning-2025-09-19')).toBe('grok-4-fast-reasoning-2025-09-19')
    expect(await ask('gpt-4o-mini-2024-07-18', limited)).toBe('gpt-4o-mini')
    expect(await ask('gpt-4o-2024-11-20', limited)).toBe(404)
  })
})

test('settings of the sandbox follow a name that a channel names, or gives to it', async () => {
  for (const name of ['sandbox/chat', 'quick', 'slow']) {
    expect([name, await ask(`${name}+tokens=1`)]).toEqual([name, 'This'])
    expect([name, await ask(`${name}+fault=429`)]).toEqual([name, 429])
    expect(await gateway.row(requestId)).toMatchObject({ modelAsked: `${name}+fault=429` })
  }
  expect(await ask('sandbox/chat+tokens=1', limited)).toBe('This')
  expect(await ask('quick+tokens=1', limited)).toBe(404)
  expect(await ask('sandbox/reasoning+tokens=1')).toBe(404)
  // Elsewhere a plus is part of a name.
  expect(await ask('gpt-4o+tokens=1')).toBe(404)
})

test.each([
  [
    'a model that has no price',
    [{ models: ['nobodys', 'sandbox/image', 'sandbox/embedding'] }],
    'sandbox/embedding',
  ],
  [
    'a channel that is off',
    [{ models: ['sandbox/chat'], disabled: true }, { models: ['sandbox/image'] }],
    'sandbox/image',
  ],
  ['a pattern', [{ models: ['sandbox/*'] }], 'sandbox/chat'],
  ['a channel without models', [{}], 'sandbox/chat'],
] as const)(
  'the first call that a start prints is answered where there is %s',
  async (_, channels, model) => {
    const config = {
      channels: channels.map((channel, index) => ({
        id: `c${index}`,
        vendor: 'sandbox',
        ...channel,
      })),
      keys: [{ name: 'mine', secret: limited }],
      accounts: { default: { credit: '5' } },
    }
    const scratch = makeDirectory()
    const file = join(scratch.path, 'tollgate.yaml')
    writeFileSync(file, JSON.stringify(config))
    const server = await startServer(join(scratch.path), { words: ['--config', file] })
    try {
      const [, path = '', body = ''] =
        /curl http:\/\/[^/]+(\S+)[^]*-d '(.+)'/.exec(server.stdout) ?? []
      expect(JSON.parse(body).model).toBe(model)
      const headers = { authorization: `Bearer ${limited}`, 'content-type': 'application/json' }
      const reply = await fetch(server.url + path, { method: 'POST', headers, body })
      expect(reply.status).toBe(200)
    } finally {
      await server.kill()
      scratch.remove()
    }
  },
)
