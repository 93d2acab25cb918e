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

/** The client asked for bytes that the video does not have. */
interface NoSuchRange {
  readonly status: 416
  /** `bytes *\/LENGTH`; null where the vendor does not tell the length. */
  readonly contentRange: string | null
}

const headLimitMs = 60_000
const idleLimitMs = 60_000
const mostRedirects = 5
/** Longer than any vendor's video: a larger result is refused. */
const mostBytes = 2_147_483_648
const pieceBytes = 262_144

/**
 * Opens a video's content. `header`: the client's own `range`. Throws GatewayError: `invalid_request_error` for a variant
 * that the vendor lacks, `not_found` for a result that it no longer has, `service_unavailable` for any other answer.
 */
export async function openContent(
  rooms: VideoToolRooms,
  work: VideoWork,
  variant: VideoVariant,
  header: string | null,
): Promise<VideoBytes | NoSuchRange> {
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
  const range = rangeIn(header)
  const tools = openTools(rooms, channel)
  try {
    const adapter = await videos.load()
    const content = await within(headLimitMs, adapter.content(work, variant, tools.work))
    if ('payload' in content) return ofPayload(content.payload, range, tools.close)
    const stream = await within(headLimitMs, followed(tools.work, content.call, range))
    return await ofStream(stream, { variant, range }, tools.close)
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
  range: ByteRange | null,
): Promise<VendorStream> {
  const ranged = range === null ? [] : [['range', `bytes=${range.first}-${range.last}`] as const]
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
  { variant, range }: { readonly variant: VideoVariant; readonly range: ByteRange | null },
  close: () => void,
): Promise<VideoBytes | NoSuchRange> {
  const { status } = stream
  const part = stream.header('content-range')
  if (status === 416 && range !== null) {
    await drop(stream)
    close()
    return { status, contentRange: /^bytes \*\/\d+$/.test(part ?? '') ? part : null }
  }
  // A part that was not asked for, or that does not say which it is, would be taken for the whole.
  const isPart = status === 206 && range !== null && /^bytes \d+-\d+\/(\d+|\*)$/.test(part ?? '')
  if (status !== 200 && !isPart) {
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
  return { status: isPart ? 206 : 200, headers, body: bounded(stream, close), close }
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

function ofPayload(
  payload: Payload,
  range: ByteRange | null,
  close: () => void,
): VideoBytes | NoSuchRange {
  const { size, type } = payload
  const [start, end] = boundsOf(range, size)
  if (start >= end) {
    close()
    return { status: 416, contentRange: `bytes */${size}` }
  }
  const headers = {
    'content-type': type,
    'accept-ranges': 'bytes',
    'content-length': String(end - start),
  }
  const body = pieces(payload, start, end, close)
  if (range === null) return { status: 200, headers, body, close }
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

/** The digits of one byte range; either may be empty, not both. */
interface ByteRange {
  readonly first: string
  readonly last: string
}

/** Reads one byte range; any other header means the whole (RFC 9110, sections 14.1.1 and 14.2). */
function rangeIn(header: string | null): ByteRange | null {
  const [found, first = '', last = ''] = /^bytes=(\d*)-(\d*)$/.exec(header ?? '') ?? []
  if (found === undefined || (first === '' && last === '')) return null
  const isBackwards = first !== '' && last !== '' && Number(last) < Number(first)
  return isBackwards ? null : { first, last }
}

/** The bytes of a range: none, where its end is not behind its start. */
function boundsOf(range: ByteRange | null, size: number): readonly [start: number, end: number] {
  if (range === null) return [0, size]
  const { first, last } = range
  if (first === '') return [Math.max(0, size - Number(last)), size]
  return [Number(first), last === '' ? size : Math.min(size, Number(last) + 1)]
}
