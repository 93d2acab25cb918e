// Tests what a request's row contains beside its money: the application, the vendor's own id, the hold, and every
// attempt.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Gateway, startGateway } from '../support/gateway.ts'
import { chatReply, json, reset, startUpstream, type Upstream } from '../support/upstream.ts'

let upstream: Upstream
let gateway: Gateway
const channel = (id: string, priority: number, model: string) => ({
  id,
  vendor: 'openai',
  baseUrl: upstream.url,
  key: 'sk-up',
  priority,
  models: { m: model },
})

beforeAll(async () => {
  upstream = await startUpstream()
  upstream.on('first', [json(500, { error: { message: 'no' } }, 'x-request-id: vendor-1')])
  upstream.on('second', [reset])
  upstream.on('third', [json(200, chatReply('well'), 'request-id: vendor-3')])
  upstream.on('refusing', [
    json(
      400,
      { error: { message: 'no', type: 'invalid_request_error' } },
      'x-request-id: vendor-4',
    ),
  ])
  gateway = await startGateway({
    config: {
      channels: [
        channel('a', 0, 'first'),
        channel('b', 1, 'second'),
        channel('c', 2, 'third'),
        { ...channel('d', 0, 'refusing'), models: ['refusing'] },
      ],
    },
  })
})
afterAll(async () => {
  await gateway.stop()
  await upstream.close()
})

const ask = (model: string, headers: Record<string, string> = {}) =>
  gateway.post(
    '/v1/chat/completions',
    { model, messages: [{ role: 'user', content: 'Hello' }], max_tokens: 50 },
    { headers },
  )
const rowOf = (reply: Response) => gateway.row(reply.headers.get('x-request-id') ?? '')

test('a row names the application, what was held, the vendor that answered, and each failed attempt', async () => {
  const reply = await ask('m', { 'user-agent': 'claude-cli/1.0.44 (external, cli)' })
  expect(reply.status).toBe(200)
  const row = await rowOf(reply)
  expect(row).toMatchObject({
    client: 'claude-code',
    clientVersion: '1.0.44',
    channel: 'c',
    attempts: 3,
    vendorRequestId: 'vendor-3',
  })
  expect(row.heldNano).toBeGreaterThan(row.chargeNano)
  const [first, second, ...others] = row.failedAttempts ?? []
  expect(others).toEqual([])
  expect(first).toMatchObject({
    channel: 'a',
    kind: 'vendor_error',
    status: 500,
    vendorRequestId: 'vendor-1',
    connectMs: expect.any(Number),
    firstByteMs: expect.any(Number),
    then: 'next_channel',
  })
  expect(second).toMatchObject({ channel: 'b', kind: 'reset', then: 'next_channel' })
  expect(second).not.toHaveProperty('status')
  const began = [first, second].map((each) => each?.startMs ?? -1)
  expect(began[0]).toBeGreaterThanOrEqual(0)
  expect(began[1]).toBeGreaterThanOrEqual((began[0] ?? 0) + (first?.durationMs ?? 0) - 1)
})

test('a request is labelled by its header, where it is refused too', async () => {
  const tag = 'team-a/checkout:v1.2'
  expect(await rowOf(await ask('m', { 'x-tollgate-tag': ` ${tag} ` }))).toMatchObject({ tag })
  expect(await rowOf(await ask('unknown', { 'x-tollgate-tag': tag }))).toMatchObject({ tag })
  expect(await rowOf(await ask('m'))).toMatchObject({ tag: null })
  expect(await rowOf(await ask('m', { 'x-tollgate-tag': '' }))).toMatchObject({ tag: null })
})

test.each(['two, labels', 'a b', 'größe', 'x'.repeat(65), '<b>'])(
  'the label %j is refused, and is not in the record',
  async (tag) => {
    const reply = await ask('m', { 'x-tollgate-tag': tag })
    const { error } = (await reply.json()) as { error: { code: string; param: string } }
    expect([reply.status, error.param]).toEqual([400, 'x-tollgate-tag'])
    expect(await rowOf(reply)).toMatchObject({ status: 400, tag: null })
  },
)

test('a refused request names why no other channel was asked', async () => {
  const row = await rowOf(await ask('refusing'))
  expect(row).toMatchObject({ status: 400, vendorRequestId: 'vendor-4', chargeNano: 0n })
  expect(row.failedAttempts).toMatchObject([{ kind: 'rejected', then: 'request_at_fault' }])
})

test('a request that never came to a vendor held nothing, and names its application', async () => {
  const row = await rowOf(await ask('unknown', { 'user-agent': 'OpenAI/Python 1.109.1' }))
  expect(row).toMatchObject({
    status: 404,
    heldNano: 0n,
    client: 'openai-python',
    vendorRequestId: null,
    failedAttempts: null,
  })
})

test('a refused request leaves a record if its key is valid and its path is of a model, and no other does', async () => {
  const chat = '/v1/chat/completions'
  const read = (path: string) =>
    fetch(gateway.url + path, { headers: { authorization: `Bearer ${gateway.key}` } })
  const post = (headers: Record<string, string>) => gateway.post(chat, { model: 'm' }, { headers })
  const unrecorded = [
    await post({ authorization: 'Bearer sk-unknown' }),
    await post({ 'x-large': 'x'.repeat(17_000) }),
    await gateway.post('/v1/nothing', { model: 'm' }),
    await gateway.post('/v1/messages/count_tokens', '{"model":'),
    await read('/v1/realtime?model=m'),
    await read('/v1/models/unknown'),
    await read('/v1/responses/resp_unknown'),
    await read('/v1/videos/video_unknown'),
  ]
  const refused = [
    await gateway.post(chat, '{"model":'),
    await gateway.post(chat, { model: 'm', messages: 'x' }),
    await ask('unknown'),
    await gateway.post('/v1/audio/transcriptions', { model: 'm' }),
  ]
  for (const reply of refused)
    expect(await rowOf(reply)).toMatchObject({ status: reply.status, attempts: 0, chargeNano: 0n })
  // Records settle in order, so those of the earlier requests would be there by now.
  const recorded = new Set((await gateway.usage()).map(({ requestId }) => requestId))
  for (const { status, url, headers } of unrecorded) {
    const isRecorded = recorded.has(headers.get('x-request-id') ?? '')
    expect([url, status >= 400, isRecorded]).toEqual([url, true, false])
  }
})
