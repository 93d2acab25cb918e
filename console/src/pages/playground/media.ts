// Pictures and speech: one request, one whole reply.

import { callModel, failureBy, refusalOf } from './call.ts'
import type { Failure } from './chat.ts'

export type MediaKind = 'image' | 'speech'

export interface MediaAsked {
  readonly model: string
  readonly text: string
  /** For pictures; empty: the model's default. */
  readonly size: string
  readonly voice: string
}

export interface MediaResult {
  readonly id: string
  readonly model: string
  readonly text: string
  readonly state: 'waiting' | 'done' | 'stopped' | 'failed'
  /** Addresses of this page's own data, or of other sites. */
  readonly sources: readonly string[]
  readonly requestId: string | null
  readonly failure: Failure | null
}

export const mediaPaths: Readonly<Record<MediaKind, string>> = {
  image: '/v1/images/generations',
  speech: '/v1/audio/speech',
}

export function mediaBody(kind: MediaKind, { model, text, size, voice }: MediaAsked): object {
  if (kind === 'speech') return { model, input: text, voice }
  return { model, prompt: text, ...(size !== '' && { size }) }
}

interface MediaCall {
  readonly kind: MediaKind
  readonly asked: MediaAsked
  readonly group: string | undefined
  readonly signal: AbortSignal
}

/** The result; never throws. */
export async function askMedia({
  kind,
  asked,
  group,
  signal,
}: MediaCall): Promise<Partial<MediaResult>> {
  let requestId: string | null = null
  try {
    const body = mediaBody(kind, asked)
    const reply = await callModel({ path: mediaPaths[kind], body, group, signal })
    requestId = reply.headers.get('x-request-id')
    if (!reply.ok) return { requestId, state: 'failed', failure: await refusalOf(reply) }
    const sources =
      kind === 'speech' ? [URL.createObjectURL(await reply.blob())] : await picturesOf(reply)
    return { requestId, state: 'done', sources }
  } catch (error) {
    if (signal.aborted) return { requestId, state: 'stopped' }
    return { requestId, state: 'failed', failure: failureBy(error) }
  }
}

async function picturesOf(reply: Response): Promise<readonly string[]> {
  const { data }: { data: readonly { b64_json?: string; url?: string }[] } = await reply.json()
  return data.flatMap(({ b64_json: bytes, url }) =>
    bytes === undefined ? (url === undefined ? [] : [url]) : [pictureUrl(bytes)],
  )
}

/** PNG, JPEG and WebP begin differently; browsers detect the type from the bytes. */
function pictureUrl(base64: string): string {
  const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0))
  return URL.createObjectURL(new Blob([bytes], { type: 'image/png' }))
}
