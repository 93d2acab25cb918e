// Tests Vertex with a service account: a token from a separate server, requested once, and what happens without one.

import { afterEach, beforeAll, beforeEach, expect, test } from 'bun:test'
import { exportPKCS8, generateKeyPair, jwtVerify } from 'jose'
import { ask, openaiClient } from './support/clients.ts'
import { type Gateway, startGateway } from './support/gateway.ts'

let keys: Awaited<ReturnType<typeof generateKeyPair>>
let privateKey = ''
beforeAll(async () => {
  keys = await generateKeyPair('RS256', { extractable: true })
  privateKey = await exportPKCS8(keys.privateKey)
})

let grants = 0
let refuses = false
let seen: { path: string; authorization: string | null }[] = []
let vendor: Bun.Server<undefined>
let gateway: Gateway

const email = 'robot@project-1.iam.gserviceaccount.com'

async function grant(request: Request, tokenUrl: string): Promise<Response> {
  const form = new URLSearchParams(await request.text())
  expect(form.get('grant_type')).toBe('urn:ietf:params:oauth:grant-type:jwt-bearer')
  const { payload, protectedHeader } = await jwtVerify(
    form.get('assertion') ?? '',
    keys.publicKey,
    {
      issuer: email,
      audience: tokenUrl,
    },
  )
  expect(protectedHeader).toMatchObject({ alg: 'RS256', kid: 'key-1' })
  expect(payload['scope']).toBe('https://www.googleapis.com/auth/cloud-platform')
  if (refuses) {
    const error = { error: 'invalid_grant', error_description: 'Account deleted' }
    return Response.json(error, { status: 400 })
  }
  return Response.json({
    access_token: `ya29.token-${++grants}`,
    expires_in: 3_599,
    token_type: 'Bearer',
  })
}

beforeEach(async () => {
  grants = 0
  refuses = false
  seen = []
  vendor = Bun.serve({
    port: 0,
    fetch: (request) => {
      const { pathname } = new URL(request.url)
      if (pathname === '/token') return grant(request, request.url)
      seen.push({ path: pathname, authorization: request.headers.get('authorization') })
      return Response.json({
        candidates: [
          { content: { parts: [{ text: 'Hello' }], role: 'model' }, finishReason: 'STOP' },
        ],
        usageMetadata: { promptTokenCount: 2, candidatesTokenCount: 1, totalTokenCount: 3 },
      })
    },
  })
  const url = `http://127.0.0.1:${vendor.port}`
  const account = {
    type: 'service_account',
    project_id: 'project-1',
    private_key_id: 'key-1',
    private_key: privateKey,
    client_email: email,
    token_uri: `${url}/token`,
  }
  const channel = {
    vendor: 'vertex',
    baseUrl: url,
    key: JSON.stringify(account),
    options: { region: 'europe-west4' },
  }
  gateway = await startGateway({
    config: {
      channels: [
        { ...channel, id: 'vertex', models: { alone: 'gemini-3-pro', either: 'gemini-3-pro' } },
        { ...channel, id: 'pictures', models: { picture: 'gemini-2.5-flash-image' } },
        {
          id: 'other',
          vendor: 'sandbox',
          priority: 1,
          models: { either: 'sandbox/chat', picture: 'sandbox/image' },
        },
      ],
      models: { picture: { kind: 'image', prices: { image: '10000' } } },
    },
  })
})
afterEach(async () => {
  await gateway.stop()
  await vendor.stop(true)
})

test('calls that come at once share a token, and each is signed with it', async () => {
  const client = openaiClient(gateway.url)
  const asked = Array.from({ length: 8 }, () =>
    client.chat.completions.create({ model: 'alone', messages: ask('hi') }),
  )
  for (const reply of await Promise.all(asked))
    expect(reply.choices[0]?.message.content).toBe('Hello')
  expect(grants).toBe(1)
  expect(seen).toHaveLength(8)
  const path =
    '/v1/projects/project-1/locations/europe-west4/publishers/google/models/gemini-3-pro:generateContent'
  expect(new Set(seen.map((each) => JSON.stringify(each)))).toEqual(
    new Set([JSON.stringify({ path, authorization: 'Bearer ya29.token-1' })]),
  )
})

test('a key the token server refuses is a matter of credentials: another channel serves', async () => {
  refuses = true
  const client = openaiClient(gateway.url)
  const reply = await client.chat.completions.create({ model: 'either', messages: ask('hi') })
  expect(reply.choices[0]?.message.content).toMatch(/sandbox/)
  await gateway.logged('invalid_grant')
  const failed = await gateway.post('/v1/chat/completions', { model: 'alone', messages: ask('hi') })
  expect(failed.status).toBe(503)
  expect(await failed.text()).not.toContain('invalid_grant')
  expect(seen).toEqual([])
  expect(gateway.stderr).not.toContain('BEGIN PRIVATE KEY')
})

test('so it is for pictures, which are not called an error of the gateway', async () => {
  refuses = true
  const asked = { model: 'picture', prompt: 'a hat' }
  const reply = await gateway.post('/v1/images/generations', asked)
  expect(reply.status).toBe(200)
  const row = await gateway.row(reply.headers.get('x-request-id') ?? '')
  expect(row.failedAttempts).toMatchObject([
    { channel: 'pictures', kind: 'credentials', then: 'next_channel' },
  ])
  expect(gateway.stderr).not.toContain('internal error')
  expect(seen).toEqual([])
})
