// Fetches the bytes of a finished video from its vendor and streams them, within bounds.

import { GatewayError } from '../../errors.ts'
import {
  MediaFault,
  type MediaTools,
  type Payload,
  type VendorCall,
  type VendorStream,
} from '../../vendors/media.ts'
import type { VideoVariant } from '../../vendors/video.ts'
import { typeOf } from '../adapters/tools.ts'
import { openTools, type VideoToolRooms, within } from './tools.ts'
import type { VideoWork } from './work.ts'

export interface VideoBytes {
  readonly status: 200 | 206
  readonly headers: Readonly<Record<string, string>>
  readonly body: AsyncGenerator<Uint8Array, void, void>
  /** Aborts the vendor's request; called where the body is not read to its end. */
  close(): void
}

const headLimitMs = 60_000
const idleLimitMs = 60_000
const mostRedirects = 5
/** Longer than any vendor's video: a larger result is refused. */
const mostBytes = 2_147_483_648
const pieceBytes = 262_144

/**
 * Opens a video's content. `range`: the client's own header. Throws GatewayError: `invalid_request_error` for a variant
 * that the vendor lacks, `not_found` for a result that it no longer has, `service_unavailable` for any other answer.
 */
export async function openContent(
  rooms: VideoToolRooms,
  work: VideoWork,
  variant: VideoVariant,
  range: string | null,
): Promise<VideoBytes> {
  const channel = rooms.relay().channels.get(work.channel)
  const videos = channel?.vendor.videos
  if (channel === undefined || videos === undefined)
    throw new GatewayError('service_unavailable', 'The channel of this video is not configured.')
  if (!videos.variants.includes(variant)) {
    const known = videos.variants.join(', ')
    throw new GatewayError(
      'invalid_request_error',
      `variant: the model of this video has no ${variant}; it has ${known}.`,
      { param: 'variant' },
    )
  }
  const tools = openTools(rooms, channel)
  try {
    const adapter = await videos.load()
    const content = await within(headLimitMs, adapter.content(work, variant, tools.work))
    if ('payload' in content) return ofPayload(content.payload, range, tools.close)
    const stream = await within(headLimitMs, followed(tools.work, content.call, range))
    return await ofStream(stream, variant, tools.close)
  } catch (error) {
    tools.close()
    throw refusalFor(error)
  }
}

function refusalFor(error: unknown): unknown {
  if (!(error instanceof MediaFault)) return error
  const { status } = error.fault
  if (status === 404 || status === 410 || status === 403) return expired()
  return new GatewayError(
    'service_unavailable',
    'The vendor did not return the content of this video; retry shortly.',
    { retryAfterMs: 1_000 },
  )
}

function expired(): GatewayError {
  return new GatewayError(
    'not_found',
    'The content of this video has expired: its vendor does not keep it any more.',
  )
}

/** Follows redirects, through safe fetch unless at the vendor's own origin; the key is sent nowhere else. */
async function followed(
  tools: MediaTools,
  call: VendorCall,
  range: string | null,
): Promise<VendorStream> {
  const ranged = range === null ? [] : [['range', range] as const]
  let next: VendorCall = { ...call, headers: [...(call.headers ?? []), ...ranged] }
  for (let hop = 0; hop <= mostRedirects; hop += 1) {
    const stream = await tools.open(next)
    const location = stream.status >= 300 && stream.status < 400 ? stream.header('location') : null
    if (location === null) return stream
    await drop(stream)
    const url = URL.parse(location, next.url)
    if (url === null)
      throw new MediaFault({
        kind: 'unreadable',
        message: 'the result is redirected to no address',
      })
    // A key sent where the vendor asked for it is not sent to another origin.
    const own = url.origin === new URL(tools.baseUrl).origin
    next = { method: 'GET', url: url.href, headers: ranged, signed: own && call.signed !== false }
  }
  throw new MediaFault({ kind: 'unreadable', message: 'the result is redirected for ever' })
}

async function drop({ chunks }: VendorStream): Promise<void> {
  await chunks[Symbol.asyncIterator]().return?.()
}

const kinds: Readonly<Record<VideoVariant, RegExp>> = {
  video: /^(video\/|application\/octet-stream$|binary\/octet-stream$)/,
  thumbnail: /^(image\/|application\/octet-stream$|binary\/octet-stream$)/,
  spritesheet: /^(image\/|application\/octet-stream$|binary\/octet-stream$)/,
}

const usualTypes: Readonly<Record<VideoVariant, string>> = {
  video: 'video/mp4',
  thumbnail: 'image/webp',
  spritesheet: 'image/jpeg',
}

async function ofStream(
  stream: VendorStream,
  variant: VideoVariant,
  close: () => void,
): Promise<VideoBytes> {
  const { status } = stream
  if (status === 416) {
    await drop(stream)
    throw new GatewayError('invalid_request_error', 'range: the video has no such bytes.', {
      param: 'range',
    })
  }
  if (status !== 200 && status !== 206) {
    await drop(stream)
    throw new MediaFault({ kind: 'vendor_error', message: `the result: ${status}`, status })
  }
  const type = typeOf(stream)
  const length = Number(stream.header('content-length') ?? 0)
  if (!kinds[variant].test(type) || !(length <= mostBytes)) {
    await drop(stream)
    throw new MediaFault({ kind: 'unreadable', message: `the result is ${type}, ${length} bytes` })
  }
  const headers: Record<string, string> = {
    'content-type': type.endsWith('/octet-stream') ? usualTypes[variant] : type,
  }
  for (const name of [
    'content-length',
    'content-range',
    'accept-ranges',
    'etag',
    'last-modified',
  ]) {
    const value = stream.header(name)
    if (value !== null) headers[name] = value
  }
  return { status, headers, body: bounded(stream, close), close }
}

async function* bounded({ chunks }: VendorStream, close: () => void) {
  const source = chunks[Symbol.asyncIterator]()
  let bytes = 0
  try {
    for (;;) {
      const next = await within(idleLimitMs, source.next())
      if (next.done === true) return
      bytes += next.value.length
      if (bytes > mostBytes)
        throw new MediaFault({ kind: 'unreadable', message: 'the result is too long' })
      yield next.value
    }
  } finally {
    close()
  }
}

function ofPayload(payload: Payload, range: string | null, close: () => void): VideoBytes {
  const { size, type } = payload
  const [start, end] = rangeOf(range, size)
  const headers = {
    'content-type': type,
    'accept-ranges': 'bytes',
    'content-length': String(end - start),
  }
  const body = pieces(payload, start, end, close)
  if (start === 0 && end === size) return { status: 200, headers, body, close }
  const content = { 'content-range': `bytes ${start}-${end - 1}/${size}` }
  return { status: 206, headers: { ...headers, ...content }, body, close }
}

async function* pieces(payload: Payload, from: number, to: number, close: () => void) {
  try {
    for (let at = from; at < to; at += pieceBytes)
      yield payload.read(at, Math.min(to, at + pieceBytes))
  } finally {
    close()
  }
}

/** Reads one byte range (RFC 9110, section 14); any other header means the whole. */
function rangeOf(range: string | null, size: number): readonly [start: number, end: number] {
  const found = /^bytes=(\d*)-(\d*)$/.exec(range ?? '')
  const [, first = '', last = ''] = found ?? []
  if (first === '' && last === '') return [0, size]
  const start = first === '' ? Math.max(0, size - Number(last)) : Number(first)
  const end = first === '' || last === '' ? size : Math.min(size, Number(last) + 1)
  if (start < end) return [start, end]
  throw new GatewayError('invalid_request_error', 'range: the video has no such bytes.', {
    param: 'range',
  })
}
