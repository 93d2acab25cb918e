// Tests files of Google Cloud Storage, and resources of the operator's project, that clients name: Vertex would read them
// with the operator's own rights.

import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { type Gateway, startGateway } from '../support/gateway.ts'

let asked: string[] = []
let vendor: Bun.Server<undefined>
let gateway: Gateway

beforeAll(async () => {
  vendor = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      asked.push(await request.text())
      const content = { parts: [{ text: 'A cat.' }], role: 'model' }
      return Response.json({ candidates: [{ content, finishReason: 'STOP' }] })
    },
  })
  const channel = {
    vendor: 'vertex',
    baseUrl: `http://127.0.0.1:${vendor.port}`,
    key: 'vertex-key-0123456789',
  }
  gateway = await startGateway({
    config: {
      channels: [
        { ...channel, id: 'closed', models: ['gemini-closed'] },
        {
          ...channel,
          id: 'open',
          models: ['gemini-open'],
          options: {
            fileBuckets: 'films, second',
            resources:
              'projects/ours/locations/global/collections/default_collection/dataStores/public, projects/ours/caches/1',
          },
        },
      ],
      models: { '*': { kind: 'chat', prices: { input: '1', output: '1' } } },
    },
  })
})
afterEach(() => {
  asked = []
})
afterAll(async () => {
  await gateway.stop()
  await vendor.stop(true)
})

const user = (...parts: readonly object[]) => ({ contents: [{ role: 'user', parts }] })
const file = (fileUri: string) => ({ fileData: { mimeType: 'image/png', fileUri } })
const post = (model: string, body: string) =>
  fetch(`${gateway.url}/v1beta/models/${model}:generateContent`, {
    method: 'POST',
    headers: { 'x-goog-api-key': gateway.key, 'content-type': 'application/json' },
    body,
  })

describe('a bucket that is not listed is refused by the name of the member', () => {
  const uri = 'gs://private/a.png'
  const hidden = '{"file\\u0055ri":"g\\u0073://private/a.png"}'
  const answer = { name: 'f', response: { file: 'gs://mine/a' }, parts: [file(uri)] }
  const text = { text: 'What is it?' }
  const cases = [
    [JSON.stringify(user(text, file(uri))), 'contents[0].parts[1].fileData.fileUri'],
    [
      JSON.stringify(user({ file_data: { file_uri: ' GS://private/a' } })),
      'contents[0].parts[0].file_data.file_uri',
    ],
    [`{"contents":[{"parts":[{"fileData":${hidden}}]}]}`, 'contents[0].parts[0].fileData.fileUri'],
    [
      JSON.stringify({ ...user(text), systemInstruction: { parts: [file(uri)] } }),
      'systemInstruction.parts[0].fileData.fileUri',
    ],
    [
      JSON.stringify(user({ functionResponse: answer })),
      'contents[0].parts[0].functionResponse.parts[0].fileData.fileUri',
    ],
  ] as const

  test.each(cases)('%s', async (body, param) => {
    for (const model of ['gemini-closed', 'gemini-open']) {
      const reply = await post(model, body)
      expect([reply.status, await reply.text()]).toEqual([400, expect.stringContaining(param)])
    }
    expect(asked).toEqual([])
  })

  test('of a client of another format too', async () => {
    const content = [
      { type: 'image_url', image_url: { url: uri } },
      { type: 'text', text: 'x' },
    ]
    const messages = [{ role: 'user', content }]
    const reply = await gateway.post('/v1/chat/completions', { model: 'gemini-closed', messages })
    expect(reply.status).toBe(400)
    expect(asked).toEqual([])
  })
})

test('a listed bucket, an address and what functions say pass', async () => {
  const answer = { name: 'f', response: { fileUri: 'gs://private/a' } }
  const parts = [
    file('gs://films/a.png'),
    file('gs://second/b.png'),
    file('https://pictures.example/c.png'),
    { functionResponse: answer },
  ]
  const reply = await post('gemini-open', JSON.stringify(user(...parts)))
  expect(reply.status).toBe(200)
  expect(JSON.parse(asked[0] ?? '')).toMatchObject(user(...parts))
})

describe('resources of the project', () => {
  const place = 'projects/ours/locations/global/collections/default_collection/dataStores'
  const text = user({ text: 'What is it?' })
  const search = (datastore: string) => ({
    tools: [{ retrieval: { vertexAiSearch: { datastore } } }],
  })
  const corpora = { ragResources: [{ ragCorpus: `${place}/private` }] }

  test.each([
    [{ ...text, ...search(`${place}/private`) }, 'tools[0].retrieval.vertexAiSearch.datastore'],
    [
      { ...text, tools: [{}, { retrieval: { vertexRagStore: corpora } }] },
      'tools[1].retrieval.vertexRagStore.ragResources[0].ragCorpus',
    ],
    [{ ...text, cachedContent: 'projects/ours/locations/x/cachedContents/1' }, 'cachedContent'],
    [{ ...text, cached_content: 'cachedContents/1' }, 'cached_content'],
  ])('%j is refused', async (body, param) => {
    for (const model of ['gemini-closed', 'gemini-open']) {
      const reply = await post(model, JSON.stringify(body))
      expect([reply.status, await reply.text()]).toEqual([400, expect.stringContaining(param)])
    }
    expect(asked).toEqual([])
  })

  test('that are listed pass', async () => {
    const body = { ...text, ...search(`${place}/public`), cachedContent: 'projects/ours/caches/1' }
    expect((await post('gemini-open', JSON.stringify(body))).status).toBe(200)
    expect(JSON.parse(asked[0] ?? '')).toMatchObject(body)
  })
})
