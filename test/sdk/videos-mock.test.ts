// Tests the official openai SDK on an independent mock of three video vendors: OpenAI, xAI and Google's Veo.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { LLMock } from '@copilotkit/aimock'
import type OpenAI from 'openai'
import { toFile } from 'openai'
import { eventually, openaiClient } from '../support/clients.ts'
import { type Gateway, startGateway } from '../support/gateway.ts'
import { png } from '../support/samples.ts'

let mock: LLMock
let gateway: Gateway
let client: OpenAI

beforeAll(async () => {
  mock = new LLMock({ port: 0, host: '127.0.0.1' })
  mock.onVideo(/cat/, {
    video: { id: 'film', status: 'completed', url: 'https://films.example/x' },
  })
  mock.onVideo(/dog/, { video: { id: 'none', status: 'failed', error: 'no dogs' } })
  const url = await mock.start()
  const channel = (vendor: string, base: string, model: string) => ({
    id: vendor,
    vendor,
    baseUrl: `${url}${base}`,
    key: 'sk-up-0123456789',
    models: [model],
  })
  const priced = { kind: 'video', prices: { second: '100000' } }
  gateway = await startGateway({
    config: {
      channels: [
        channel('openai', '/v1', 'sora-2'),
        channel('xai', '/v1', 'grok-imagine-video'),
        channel('google', '/v1beta', 'veo-3.1-generate-preview'),
      ],
      models: {
        'sora-2': priced,
        'grok-imagine-video': priced,
        'veo-3.1-generate-preview': priced,
      },
    },
  })
  client = openaiClient(gateway.url)
})
afterAll(async () => {
  await gateway.stop()
  await mock.stop()
})

async function ended(id: string) {
  return eventually(async () => {
    const video = await client.videos.retrieve(id)
    return video.status === 'completed' || video.status === 'failed' ? video : undefined
  }, 20_000)
}

describe.each([
  ['sora-2', '8'],
  ['grok-imagine-video', '6'],
  ['veo-3.1-generate-preview', '8'],
] as const)('%s', (model, seconds) => {
  test('is made, listed and paid for by the second', async () => {
    const reference = await toFile(png(8, 8), 'cat.png', { type: 'image/png' })
    const asked = { prompt: 'a cat', seconds: seconds as '8', size: '1280x720' } as const
    const begun = await client.videos.create({ ...asked, model, input_reference: reference })
    expect(begun).toMatchObject({ object: 'video', status: 'queued', model, seconds })
    const video = await ended(begun.id)
    expect(video).toMatchObject({ id: begun.id, status: 'completed', progress: 100, error: null })
    const row = await gateway.row(`req_${begun.id.slice('video_'.length)}`)
    expect(row).toMatchObject({ status: 200, chargeNano: BigInt(seconds) * 100_000_000n })
    const listed = await client.videos.list({ limit: 1 })
    expect(listed.data.map(({ id }) => id)).toEqual([begun.id])
    expect(await client.videos.delete(begun.id)).toMatchObject({ deleted: true })
  }, 30_000)

  test('that fails is shown as failed, and free', async () => {
    const begun = await client.videos.create({ prompt: 'a dog', model })
    const video = await ended(begun.id)
    expect(video.status).toBe('failed')
    expect(video.error?.message).toBeString()
    const row = await gateway.row(`req_${begun.id.slice('video_'.length)}`)
    expect(row).toMatchObject({ status: 500, chargeNano: 0n })
  }, 30_000)
})
