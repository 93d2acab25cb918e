// Tests where Vertex is called, by project, region and kind of key.

import { describe, expect, test } from 'bun:test'
import type { Call } from './vendor.ts'
import { vertex } from './vertex.ts'

const baseUrl = 'https://aiplatform.googleapis.com'
const call: Call = { dialect: 'gemini', model: 'gemini-3-pro', stream: false }
const account = JSON.stringify({
  type: 'service_account',
  project_id: 'own',
  private_key: 'secret',
  client_email: 'a@b',
})
const models = 'publishers/google/models/gemini-3-pro:generateContent'

test.each([
  ['key', {}, `${baseUrl}/v1/${models}`],
  ['key', { project: 'p' }, `${baseUrl}/v1/projects/p/locations/global/${models}`],
  [
    account,
    { region: 'europe-west4' },
    `https://europe-west4-aiplatform.googleapis.com/v1/projects/own/locations/europe-west4/${models}`,
  ],
  [
    account,
    { project: 'p', region: 'eu' },
    `https://aiplatform.eu.rep.googleapis.com/v1/projects/p/locations/eu/${models}`,
  ],
])('%s with %j', (key, options, expected) => {
  expect(vertex.address(call, { baseUrl, key, options })).toBe(expected)
})

test('a stream, an endpoint, another address', () => {
  const settings = {
    baseUrl: 'https://proxy.example',
    key: account,
    options: { region: 'us-central1' },
  }
  expect(vertex.address({ ...call, model: 'endpoints/12', stream: true }, settings)).toBe(
    'https://proxy.example/v1/projects/own/locations/us-central1/endpoints/12:streamGenerateContent?alt=sse',
  )
})

describe('a service account', () => {
  const settings = { baseUrl, key: account, options: {} }
  test('signs with a token and not with itself', async () => {
    expect(vertex.signature.headers(settings)).toEqual([])
    expect(vertex.signature.authorize(settings)?.url).toBe('https://oauth2.googleapis.com/token')
    // The private key is not valid.
    expect(vertex.signature.authorize(settings)?.body(0)).rejects.toThrow()
    expect(vertex.signature.authorize({ ...settings, key: 'plain' })).toBeNull()
  })

  test.each(['{', '{}', '{"client_email":"a@b"}'])('broken: %s', (key) => {
    expect(() => vertex.signature.authorize({ ...settings, key })).toThrow('vertex')
  })
})
