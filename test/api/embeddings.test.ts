// Tests that the client gets embeddings in the encoding it asked for, whatever the vendor sends.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Gateway, startGateway } from '../support/gateway.ts'
import { postJson } from '../support/requests.ts'
import { json, startUpstream, type Upstream } from '../support/upstream.ts'

let upstream: Upstream
let gateway: Gateway

const vectors = [
  [0, -1.5, 0.1, 3.4028234663852886e38],
  [1e-10, 2, -0.333333333, 1],
]

function base64(values: readonly number[]): string {
  return Buffer.from(Float32Array.from(values).buffer).toString('base64')
}

function decoded(text: string): number[] {
  const bytes = Buffer.from(text, 'base64')
  return Array.from({ length: bytes.length / 4 }, (_, at) => bytes.readFloatLE(4 * at))
}

function reply(encoding: 'float' | 'base64') {
  return {
    object: 'list',
    model: 'served',
    data: vectors.map((values, index) => ({
      object: 'embedding',
      index,
      embedding: encoding === 'float' ? values : base64(values),
    })),
    usage: { prompt_tokens: 9, total_tokens: 9 },
  }
}

beforeAll(async () => {
  upstream = await startUpstream()
  upstream.on('sends-floats', [json(200, reply('float'))])
  upstream.on('sends-base64', [json(200, reply('base64'))])
  const names = ['sends-floats', 'sends-base64']
  gateway = await startGateway({
    config: {
      channels: [
        { id: 'main', vendor: 'openai', baseUrl: upstream.url, key: 'sk-up', models: names },
      ],
      models: Object.fromEntries(names.map((name) => [name, { kind: 'embedding' }])),
    },
  })
})
afterAll(async () => {
  await gateway.stop()
  await upstream.close()
})

async function embed(
  body: object,
): Promise<{ data: { embedding: unknown; index: number }[]; usage: unknown }> {
  const answer = await postJson(`${gateway.url}/v1/embeddings`, body)
  expect(answer.status).toBe(200)
  return (await answer.json()) as Awaited<ReturnType<typeof embed>>
}

test.each(['sends-floats', 'sends-base64'])(
  '%s: floats where asked, and by default',
  async (model) => {
    for (const wish of [{}, { encoding_format: 'float' }, { encoding_format: null }]) {
      const { data, usage } = await embed({ model, input: ['a', 'b'], ...wish })
      expect(data.map(({ index }) => index)).toEqual([0, 1])
      expect(usage).toEqual({ prompt_tokens: 9, total_tokens: 9 })
      for (const [at, values] of vectors.entries()) {
        const got = data[at]?.embedding as number[]
        expect(got.map(Math.fround)).toEqual(values.map(Math.fround))
      }
    }
  },
)

test.each(['sends-floats', 'sends-base64'])('%s: base64 where asked', async (model) => {
  const { data } = await embed({ model, input: ['a', 'b'], encoding_format: 'base64' })
  for (const [at, values] of vectors.entries()) {
    expect(decoded(data[at]?.embedding as string)).toEqual(values.map(Math.fround))
  }
})

test('what OpenAI itself would send goes on byte for byte', async () => {
  const body = JSON.stringify({ model: 'sends-base64', input: 'a', encoding_format: 'base64' })
  const answer = await postJson(`${gateway.url}/v1/embeddings`, body)
  expect(await answer.text()).toBe(JSON.stringify(reply('base64')))
  expect(upstream.requests.at(-1)?.body.toString()).toBe(body)
})

test.each([
  ['one text', 'text'],
  ['texts', ['a', 'b']],
  ['one text as tokens', [1, 2, 3]],
  ['texts as tokens', [[1, 2], [3]]],
])('%s', async (_name, input) => {
  await embed({ model: 'sends-floats', input, dimensions: 4, user: 'u' })
  expect(JSON.parse(upstream.requests.at(-1)?.body.toString() ?? '')).toEqual({
    model: 'sends-floats',
    input,
    dimensions: 4,
    user: 'u',
  })
})

test('the sandbox takes one list of tokens for one input, and lists of lists for several', async () => {
  const model = 'sandbox/embedding'
  const sandbox = await startGateway()
  try {
    const count = async (input: unknown) => {
      const answer = await postJson(`${sandbox.url}/v1/embeddings`, { model, input })
      return ((await answer.json()) as { data: unknown[] }).data.length
    }
    expect(await count([1, 2, 3])).toBe(1)
    expect(await count([[1, 2], [3]])).toBe(2)
    expect(await count(['a', 'b', 'c'])).toBe(3)
  } finally {
    await sandbox.stop()
  }
})

const large = {
  ...reply('float'),
  data: Array.from({ length: 400 }, (_, index) => ({
    object: 'embedding',
    index,
    embedding: Array.from({ length: 512 }, (_, at) => Math.fround((index + 1) / (at + 3))),
  })),
}

test('a reply of megabytes in the form that was asked for goes on as it is, and its usage is read', async () => {
  const text = JSON.stringify(large)
  expect(text.length).toBeGreaterThan(3_000_000)
  upstream.on('sends-floats', [json(200, large)])
  const answer = await postJson(`${gateway.url}/v1/embeddings`, {
    model: 'sends-floats',
    input: 'a',
  })
  expect((await answer.text()) === text).toBeTrue()
  const row = await gateway.row(answer.headers.get('x-request-id') ?? '')
  expect(row).toMatchObject({ input: 9, output: 0, usageSource: 'reported' })
})

test('a reply of megabytes in the other form is brought to the one that was asked for', async () => {
  upstream.on('sends-floats', [json(200, large)])
  const body = { model: 'sends-floats', input: 'a', encoding_format: 'base64' }
  const { data } = await embed(body)
  expect(data).toHaveLength(400)
  for (const [at, { embedding }] of data.entries()) {
    expect(decoded(embedding as string)).toEqual(large.data[at]?.embedding ?? [])
  }
})
