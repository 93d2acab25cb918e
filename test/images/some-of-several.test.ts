// Tests requests of which a vendor does a part: what it has made is not thrown away, or made again at another.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Gateway, startGateway } from '../support/gateway.ts'
import { png } from '../support/samples.ts'
import {
  json,
  type Received,
  type Step,
  startUpstream,
  type Upstream,
} from '../support/upstream.ts'

const secret = 'key-of-the-vendors-4711-secret'
const picture = json(200, { image: png(64, 64).toString('base64'), finish_reason: 'SUCCESS' })
const limited = json(429, { name: 'rate_limit_exceeded', errors: ['slow down'] })
let upstream: Upstream
let gateway: Gateway
/** The first channel's answers to the calls of one test, counted from 1; the second channel always works. */
let answer: (count: number, request: Received) => Step
const calls = { first: 0, second: 0 }

function respond(request: Received): Step {
  if (!request.target.startsWith('/first')) {
    calls.second++
    return picture
  }
  calls.first++
  return answer(calls.first, request)
}

beforeAll(async () => {
  upstream = await startUpstream()
  upstream.on('*', [(turn) => respond(turn.request)(turn)])
  const base = upstream.url.replace(/\/v1$/, '')
  const channel = (name: string, vendor: string, model: string, priority: number) => ({
    id: `${vendor}-${name}`,
    vendor,
    baseUrl: `${base}/${name}`,
    key: secret,
    models: [model],
    priority,
  })
  gateway = await startGateway({
    config: {
      channels: [
        ...['sd3.5-large', 'sd3.5-medium', 'sd3.5-flash'].map((model, at) => ({
          ...channel('first', 'stability', model, 0),
          id: `first-${at}`,
        })),
        ...['sd3.5-large', 'sd3.5-medium', 'sd3.5-flash'].map((model, at) => ({
          ...channel('second', 'stability', model, 5),
          id: `second-${at}`,
        })),
        channel('first', 'bfl', 'flux-dev', 0),
        channel('second', 'bfl', 'flux-dev', 5),
      ],
      models: {
        'sd3.5-*': { kind: 'image', prices: { image: '65000' } },
        'flux-dev': { kind: 'image', prices: { image: '25000' } },
      },
    },
  })
})
afterAll(async () => {
  await gateway.stop()
  await upstream.close()
})

async function generate(model: string, n: number) {
  Object.assign(calls, { first: 0, second: 0 })
  const body = { model, n, prompt: 'a cat', response_format: 'b64_json' }
  const response = await gateway.post('/v1/images/generations', body)
  const reply = (await response.json()) as { data?: unknown[] }
  const row = await gateway.row(response.headers.get('x-request-id') ?? '')
  return { status: response.status, images: reply.data?.length ?? 0, row }
}

test('calls that a rate limit refuses are repeated: nothing is bought twice', async () => {
  answer = (count) => (count === 4 || count === 5 ? limited : picture)
  const { status, images, row } = await generate('sd3.5-large', 4)
  expect([status, images, calls]).toEqual([200, 4, { first: 6, second: 0 }])
  expect(row).toMatchObject({ chargeNano: 260_000_000n, vendorCostNano: 260_000_000n })
})

test('where every call is refused, another channel serves', async () => {
  answer = () => limited
  const { status, images, row } = await generate('sd3.5-medium', 3)
  expect([status, images, calls]).toEqual([200, 3, { first: 3, second: 3 }])
  expect(row.failedAttempts).toMatchObject([{ kind: 'rate_limited', costNano: '0' }])
})

test('where one fails, no other channel makes all again, and the cost is on record', async () => {
  answer = (count) => (count === 2 ? json(500, { name: 'internal_error' }) : picture)
  const { status, row } = await generate('sd3.5-flash', 3)
  expect([status, calls]).toEqual([500, { first: 3, second: 0 }])
  expect(row).toMatchObject({
    chargeNano: 0n,
    failedAttempts: [{ kind: 'vendor_error', costNano: '195000000', then: 'outcome_unknown' }],
  })
})

test('a job that was accepted is not given to another channel when its state is refused', async () => {
  const pollingUrl = `${upstream.url.replace(/\/v1$/, '')}/first/get_result`
  answer = (_count, { method }) =>
    method === 'POST'
      ? json(200, { id: 'j', polling_url: pollingUrl })
      : json(401, { detail: 'Not authenticated' })
  const { status, row } = await generate('flux-dev', 1)
  expect([status, calls]).toEqual([503, { first: 2, second: 0 }])
  expect(row.failedAttempts).toMatchObject([{ costNano: '25000000', then: 'outcome_unknown' }])
})
