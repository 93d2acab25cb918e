// Forms as bytes on the connection, and a gateway that accepts them in front of a vendor that records them.

import { Buffer } from 'node:buffer'
import { readdirSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import { authorized } from './clients.ts'
import { type Gateway, startGateway, testKey } from './gateway.ts'
import { json, type Script, startUpstream, type Upstream } from './upstream.ts'

export const imageBytes = 200_000
export const audioBytes = 300_000
export const edits = '/v1/images/edits'
export const transcriptions = '/v1/audio/transcriptions'
export const formType = 'multipart/form-data; boundary=b'

/** An answer to either. */
export const served: Script = [
  json(200, { created: 1, data: [{ b64_json: 'AAAA' }], text: 'hello' }),
]

export interface FormStage extends AsyncDisposable {
  readonly upstream: Upstream
  readonly gateway: Gateway
  send(path: string, parts: readonly Uint8Array[], type?: string): Promise<Response>
  /** The upload files that the gateway has on disk now; they have no names. */
  openFiles(): number
}

/** The models `paint` and `hear`; small limits, and a second for 64 KiB. */
export async function startFormStage(): Promise<FormStage> {
  const upstream = await startUpstream()
  upstream.on('*', served)
  const gateway = await startGateway({
    config: {
      server: { bodyTimeoutMs: 1_000 },
      uploads: { maxImageBytes: imageBytes, maxAudioBytes: audioBytes, maxFormBytes: 1_000_000 },
      channels: [
        {
          id: 'main',
          vendor: 'openai',
          baseUrl: upstream.url,
          key: 'sk-up',
          models: { paint: 'vendors-paint', hear: 'vendors-hear', 'dall-e-2': 'dall-e-2' },
        },
      ],
      models: {
        paint: { kind: 'image', prices: { image: '40000' } },
        hear: { kind: 'transcription', prices: { second: '100' } },
        'dall-e-2': { kind: 'image', prices: { image: '20000' } },
      },
    },
  })
  return {
    upstream,
    gateway,
    send: (path, parts, type = formType) => sendForm(gateway.url + path, parts, type),
    openFiles: () => openFiles(gateway),
    async [Symbol.asyncDispose]() {
      await gateway.stop()
      await upstream.close()
    },
  }
}

function sendForm(url: string, parts: readonly Uint8Array[], type: string): Promise<Response> {
  const headers = { ...authorized(), 'content-type': type }
  return fetch(url, { method: 'POST', headers, body: Buffer.concat(parts) })
}

function openFiles({ pid, dataDir }: Gateway): number {
  const folder = `/proc/${pid}/fd`
  return readdirSync(folder).filter((file) => {
    try {
      return readlinkSync(join(folder, file)).startsWith(join(dataDir, 'tmp'))
    } catch {
      // Closed meanwhile.
      return false
    }
  }).length
}

/** The head of a request on a bare socket; `length` is the header that declares it. */
export const headOf = (path: string, length: string) =>
  `POST ${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${testKey}\r\n` +
  `content-type: ${formType}\r\n${length}\r\n\r\n`

export function part(disposition: string, body: string | Uint8Array, type?: string): Buffer {
  const typed = type === undefined ? '' : `\r\nContent-Type: ${type}`
  return Buffer.concat([
    Buffer.from(`--b\r\nContent-Disposition: form-data; ${disposition}${typed}\r\n\r\n`),
    Buffer.from(body as string),
    Buffer.from('\r\n'),
  ])
}

export const end = Buffer.from('--b--\r\n')
export const field = (name: string, value: string) => part(`name="${name}"`, value)
export const file = (name: string, fileName: string, bytes: string | Uint8Array) =>
  part(`name="${name}"; filename="${fileName}"`, bytes, 'application/octet-stream')
export const paint = [field('model', 'paint'), field('prompt', 'a cat')]
export const hear = [field('model', 'hear')]
