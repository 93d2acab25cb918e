// A gateway in front of a video vendor, with several models and accounts, and the calls that tests make to both.

import { authorized, eventually, openaiClient } from './clients.ts'
import { type Gateway, startGateway, testKey } from './gateway.ts'
import { startVideoVendor, type VideoVendor } from './video-vendor.ts'

export const otherKey = 'sk-other-0123456789abcdef'
export const poorKey = 'sk-poor-0123456789abcdef'

export interface VideoScene {
  readonly vendor: VideoVendor
  readonly gateway: Gateway
  client(key?: string): ReturnType<typeof openaiClient>
  /** A request below `/v1/videos`. */
  get(path: string, headers?: Readonly<Record<string, string>>): Promise<Response>
  /** A video that is completed. */
  made(body?: Readonly<Record<string, unknown>>): ReturnType<VideoScene['ended']>
  ended(id: string): Promise<Awaited<ReturnType<Videos['retrieve']>>>
  /** The record of the request that began it. */
  rowOf(id: string): ReturnType<Gateway['row']>
  /** Restores the vendor's initial state. */
  reset(): void
  stop(): Promise<void>
}

type Videos = ReturnType<typeof openaiClient>['videos']

export async function startVideoScene(): Promise<VideoScene> {
  const vendor = startVideoVendor()
  const gateway = await startGateway({ config: configFor(vendor) })
  const client = (key = testKey) => openaiClient(gateway.url, { key })
  const url = (path: string) => `${gateway.url}/v1/videos${path}`
  const ended = (id: string) =>
    eventually(async () => {
      const video = await client().videos.retrieve(id)
      return video.status === 'completed' || video.status === 'failed' ? video : undefined
    })
  return {
    vendor,
    gateway,
    client,
    get: (path, headers = authorized()) => fetch(url(path), { headers }),
    async made(body = {}) {
      vendor.first = 'completed'
      const asked = { model: 'sora-2', prompt: 'a cat', ...body }
      const video = await client().videos.create(asked as Parameters<Videos['create']>[0])
      return ended(video.id)
    },
    ended,
    rowOf: (id) => gateway.row(`req_${id.slice('video_'.length)}`),
    reset() {
      vendor.hooks = {}
      vendor.first = 'queued'
      vendor.hintMs = 50
    },
    async stop() {
      await gateway.stop()
      await vendor.stop()
    },
  }
}

function configFor(vendor: VideoVendor) {
  const sora = { kind: 'video', prices: { second: '100000' } }
  const pro = { kind: 'video', prices: { 'second/720p': '300000', 'second/1024p': '500000' } }
  return {
    channels: [
      {
        id: 'films',
        vendor: 'openai',
        baseUrl: vendor.url,
        key: 'sk-up-0123456789',
        models: {
          'sora-2': 'sora-2',
          'sora-2-pro': 'sora-2-pro',
          'my-film': 'sora-9',
          'film-portrait': 'sora-2',
          'film-landscape': 'sora-2',
          unpriced: 'sora-unknown',
          chatty: 'gpt',
        },
      },
    ],
    models: {
      '*': {},
      'sora-2': sora,
      'sora-2-pro': pro,
      'my-film': sora,
      'film-portrait': sora,
      'film-landscape': sora,
      unpriced: { kind: 'video' },
      chatty: { kind: 'chat', prices: { input: '1', output: '1' } },
    },
    keys: [
      { name: 'test', secret: testKey },
      { name: 'other', secret: otherKey, account: 'other' },
      { name: 'poor', secret: poorKey, account: 'poor' },
    ],
    accounts: { poor: { credit: '0.39' } },
  }
}
