// Tests the deletion of videos at vendors with an API of their own: what each is asked, and which go on with a video.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { authorized, eventually, openaiClient } from '../support/clients.ts'
import { type Gateway, startGateway } from '../support/gateway.ts'
import { expectRefusal } from '../support/requests.ts'

type Replies = Readonly<Record<string, readonly [body: object, status?: number]>>

let server: Bun.Server<undefined>
let gateway: Gateway
let asked: string[] = []
let bodies: string[] = []
let replies: Replies = {}
const origin = () => `http://127.0.0.1:${server.port}`

const models = {
  google: 'veo-3.1-generate-preview',
  minimax: 'MiniMax-Hailuo-02',
  fal: 'fal-ai/veo3.1',
  dashscope: 'wan2.7-i2v',
}

beforeAll(async () => {
  server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      const { pathname, search } = new URL(request.url)
      asked.push(`${request.method} ${pathname}`)
      bodies.push(await request.text())
      const [body, status = 200] = replies[`${request.method} ${pathname}${search}`] ?? [{}, 404]
      return Response.json(body, { status })
    },
  })
  const channel = (vendor: string, model: string) => ({
    id: vendor,
    vendor,
    baseUrl: `${origin()}/${vendor}`,
    key: 'key-0123456789abcdef',
    models: [model],
  })
  gateway = await startGateway({
    config: {
      channels: Object.entries(models).map(([vendor, model]) => channel(vendor, model)),
      models: { '*': { kind: 'video', prices: { second: '100000' } } },
    },
  })
})
afterAll(async () => {
  await gateway.stop()
  await server.stop(true)
})

const videos = () => openaiClient(gateway.url).videos

async function begin(model: string, scripted: Replies): Promise<string> {
  replies = scripted
  const { id } = await videos().create({ model, prompt: 'a cat' } as never)
  return id
}

async function completed(model: string, scripted: Replies): Promise<string> {
  const id = await begin(model, scripted)
  await eventually(async () =>
    (await videos().retrieve(id)).status === 'completed' ? true : undefined,
  )
  return id
}

function remove(id: string): Promise<Response> {
  asked = []
  bodies = []
  return fetch(`${gateway.url}/v1/videos/${id}`, { method: 'DELETE', headers: authorized() })
}

const rowOf = (id: string) => gateway.row(`req_${id.slice('video_'.length)}`)

const veo = `POST /google/v1beta/models/${models.google}:predictLongRunning`
const operation = 'GET /google/v1beta/models/m/operations/1'
const name = 'models/m/operations/1'

test("Veo's file is removed", async () => {
  const uri = `${origin()}/google/v1beta/files/f1:download?alt=media`
  const response = { generateVideoResponse: { generatedSamples: [{ video: { uri } }] } }
  const id = await completed(models.google, {
    [veo]: [{ name }],
    [operation]: [{ name, done: true, response }],
    'DELETE /google/v1beta/files/f1': [{}],
  })
  expect((await remove(id)).status).toBe(200)
  expect(asked).toEqual(['DELETE /google/v1beta/files/f1'])
})

test('a vendor without cancellation goes on with a video, which is not deleted', async () => {
  const id = await begin(models.google, { [veo]: [{ name }], [operation]: [{ name }] })
  await expectRefusal(await remove(id), 400, 'invalid_request_error')
  expect(new Set(asked)).toEqual(new Set([operation]))
  expect((await videos().retrieve(id)).id).toBe(id)
})

test("MiniMax's file is removed", async () => {
  const base_resp = { status_code: 0, status_msg: 'success' }
  const id = await completed(models.minimax, {
    'POST /minimax/video_generation': [{ task_id: '77', base_resp }],
    'GET /minimax/query/video_generation?task_id=77': [
      { status: 'Success', file_id: '9', base_resp },
    ],
    'POST /minimax/files/delete': [{ file_id: 9, base_resp }],
  })
  expect((await remove(id)).status).toBe(200)
  expect(JSON.parse(bodies.at(-1) ?? '')).toEqual({ file_id: 9, purpose: 'video_generation' })
})

test("fal's request is cancelled, and costs nothing", async () => {
  const queue = `${origin()}/fal/fal-ai/veo3.1/requests/q1`
  const id = await begin(models.fal, {
    'POST /fal/fal-ai/veo3.1': [
      { request_id: 'q1', status_url: `${queue}/status`, response_url: queue },
    ],
    'GET /fal/fal-ai/veo3.1/requests/q1/status': [{ status: 'IN_QUEUE' }],
    'PUT /fal/fal-ai/veo3.1/requests/q1/cancel': [{ status: 'CANCELLATION_REQUESTED' }, 202],
  })
  expect((await remove(id)).status).toBe(200)
  expect(asked.at(-1)).toBe('PUT /fal/fal-ai/veo3.1/requests/q1/cancel')
  expect(await rowOf(id)).toMatchObject({ status: 499, chargeNano: 0n })
})

test("Wan's task is cancelled if it has not begun, else it goes on", async () => {
  const cancel = 'POST /dashscope/api/v1/tasks/t1/cancel'
  const pending = { output: { task_id: 't1', task_status: 'PENDING' } }
  const scripted: Replies = {
    'POST /dashscope/api/v1/services/aigc/video-generation/video-synthesis': [pending],
    'GET /dashscope/api/v1/tasks/t1': [pending],
    [cancel]: [{ code: 'UnsupportedOperation', message: 'It runs.' }, 400],
  }
  const id = await begin(models.dashscope, scripted)
  await expectRefusal(await remove(id), 400, 'invalid_request_error')
  replies = { ...scripted, [cancel]: [{ request_id: 'r' }] }
  expect((await remove(id)).status).toBe(200)
  expect(await rowOf(id)).toMatchObject({ status: 499, chargeNano: 0n })
})
