// Tests which channels serve and which do not.

import { expect, test } from 'bun:test'
import { listVendorModels, testChannel, withChannels } from './channels.ts'
import { loadConfiguration } from './configuration.ts'

test('without a file they are those of the environment, else the sandbox, which answers', async () => {
  const config = await loadConfiguration({ flags: {}, env: {} })
  const ids = (env: Record<string, string>) =>
    withChannels(config, env).channels.map(({ id }) => id)
  expect(ids({})).toEqual(['sandbox'])
  expect(ids({ OPENAI_API_KEY: 'sk-0123456789abcdef' })).toEqual(['openai'])
  const serving = withChannels(config, {})
  expect(await testChannel(serving, { id: 'sandbox' })).toMatchObject({
    ok: true,
    model: 'sandbox/chat',
  })
  const listed = await listVendorModels(serving, { id: 'sandbox' })
  expect(listed).toMatchObject({ channel: 'sandbox', vendor: 'sandbox' })
  expect(listed.models.length).toBeGreaterThan(0)
  for (const ask of [testChannel, listVendorModels]) {
    await expect(ask(serving, { id: 'sandbx' })).rejects.toMatchObject({
      refusal: 'not_found',
      field: 'id',
      message: 'there is no channel "sandbx"; did you mean sandbox?',
    })
  }
})

test('models for embeddings and reranking are asked in the format of their vendor', async () => {
  const usage = { total_tokens: 1 }
  const vectors = { object: 'list', data: [{ index: 0, embedding: [0.5] }], model: 'm', usage }
  const ranking = [{ index: 0, relevance_score: 0.5 }]
  const replies: Record<string, object> = {
    '/embeddings': vectors,
    '/v2/embed': { embeddings: { float: [[0.5]] } },
    '/v1beta/models/e:batchEmbedContents': { embeddings: [{ values: [0.5] }] },
    // Voyage names them `data`, Jina `results`.
    '/rerank': { data: ranking, results: ranking, usage },
    '/v2/rerank': { results: ranking },
  }
  const paths: string[] = []
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const path = new URL(request.url).pathname
      paths.push(path)
      await request.text()
      return Response.json(replies[path] ?? {}, { status: path in replies ? 200 : 404 })
    },
  })
  try {
    const config = withChannels(await loadConfiguration({ flags: {}, env: {} }), {})
    const models = { 'embed-1': 'e', 'rerank-1': 'r' }
    const tried: unknown[] = []
    for (const [vendor, ...names] of [
      ['voyage', 'embed-1', 'rerank-1'],
      ['cohere', 'embed-1', 'rerank-1'],
      ['jina', 'embed-1', 'rerank-1'],
      ['google', 'embed-1'],
      ['openai', 'embed-1'],
    ] as const) {
      const changes = { vendor, baseUrl: server.url.origin, models }
      const channels = config.channels.map((channel) => ({ ...channel, ...changes }))
      for (const model of names) {
        const { message } = await testChannel({ ...config, channels }, { id: 'sandbox', model })
        tried.push(`${vendor}: ${message}`)
      }
    }
    expect(tried).toEqual([
      'voyage: e answered',
      'voyage: r answered',
      'cohere: e answered',
      'cohere: r answered',
      'jina: e answered',
      'jina: r answered',
      'google: e answered',
      'openai: e answered',
    ])
    expect(paths).toEqual([
      '/embeddings',
      '/rerank',
      '/v2/embed',
      '/v2/rerank',
      '/embeddings',
      '/rerank',
      '/v1beta/models/e:batchEmbedContents',
      '/embeddings',
    ])
  } finally {
    await server.stop(true)
  }
})

test('a channel of one format is asked in it', async () => {
  const paths: string[] = []
  const vendor = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      paths.push(new URL(request.url).pathname)
      await request.text()
      return Response.json({ error: { message: 'gone' } }, { status: 410 })
    },
  })
  try {
    const config = withChannels(await loadConfiguration({ flags: {}, env: {} }), {})
    for (const dialect of [null, 'openai-chat', 'openai-responses']) {
      const changes = {
        vendor: 'perplexity',
        baseUrl: vendor.url.origin,
        dialect,
        models: { m: 'm' },
      }
      const channels = config.channels.map((channel) => ({ ...channel, ...changes }))
      await testChannel({ ...config, channels }, { id: 'sandbox' })
    }
    expect(paths).toEqual(['/chat/completions', '/chat/completions', '/v1/responses'])
  } finally {
    await vendor.stop(true)
  }
})
