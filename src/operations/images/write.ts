// Writes images in OpenAI's form: as base64 or as URLs, as the client asked; in a stream, one event for each.

import type { Results } from '../../blobs/results.ts'
import { GatewayError } from '../../errors.ts'
import { NotFetched } from '../../safe-fetch/safe-fetch.ts'
import {
  type ImagesReply,
  type MediaCall,
  MediaFault,
  type Payload,
  type Picture,
} from '../../vendors/media.ts'
import type { JsonObject } from '../../wire/ir.ts'
import { imageDialects } from '../../wire/openai-images/dialects.ts'
import type { WriteRooms, Written } from '../adapters/written.ts'

/** A multiple of three, so that the pieces' base64 can be joined without padding. */
const pieceBytes = 196_608
const encoder = new TextEncoder()
/** Shared by all replies: each piece is encoded before the next is read. */
const scratch = new Uint8Array(pieceBytes)
/** OpenAI's models that return base64 only. */
const base64Models = /^(gpt-image|chatgpt-image)/

/** Refuses a request for addresses before its images are made, where they cannot be hosted. Throws GatewayError. */
export function refuseUnhosted(call: MediaCall, results: Results): void {
  const { dialect, stream } = call
  const isImage = dialect in imageDialects
  if (!isImage || stream || wantsBase64(call) || results.isRefusing?.() !== true) return
  const message =
    'No addresses can be given for results at present. Ask with response_format b64_json.'
  throw new GatewayError('service_unavailable', message, {
    param: 'response_format',
    retry: false,
  })
}

/** Rejects with MediaFault where an image cannot be fetched or hosted. */
export async function writeImages(
  reply: ImagesReply,
  call: MediaCall,
  rooms: WriteRooms,
): Promise<Written> {
  if (reply.images.length === 0) throw unreadable('the vendor returned no image')
  const images = await Promise.all(reply.images.map((image) => had(image, rooms)))
  if (call.stream) return { type: 'text/event-stream', chunks: events(reply, images, call, rooms) }
  const shown: Shown[] = []
  for (const image of images)
    shown.push(wantsBase64(call) ? image : { ...image, url: await hosted(image, rooms) })
  return { type: 'application/json', chunks: json(reply, shown, rooms.createdAt) }
}

/** By default as OpenAI's models do: the newer ones return base64, all others a URL. */
function wantsBase64({ fields, model }: MediaCall): boolean {
  const format = fields['response_format'] ?? null
  return format === null ? base64Models.test(model) : format === 'b64_json'
}

interface Had {
  readonly payload: Payload
  readonly revisedPrompt: string | null
}

interface Shown extends Had {
  /** Shown instead of the bytes. */
  readonly url?: string
}

async function had({ payload, url, revisedPrompt }: Picture, rooms: WriteRooms): Promise<Had> {
  const bytes = payload ?? (url === undefined ? null : await fetched(url, rooms))
  if (bytes === null) throw unreadable('an image without its bytes')
  if (!bytes.type.startsWith('image/'))
    throw unreadable(`the vendor's result is not an image but ${bytes.type}`)
  return { payload: bytes, revisedPrompt: revisedPrompt ?? null }
}

async function fetched(url: string, { results, spool }: WriteRooms): Promise<Payload> {
  try {
    return await results.fetchInto(url, spool)
  } catch (error) {
    if (error instanceof NotFetched) throw unreadable(`the vendor's result: ${error.message}`)
    throw error
  }
}

function hosted({ payload }: Had, { results, account }: WriteRooms): Promise<string> {
  return results.host(payload, account)
}

function unreadable(message: string): MediaFault {
  return new MediaFault({ kind: 'unreadable', message })
}

function* base64(payload: Payload): Generator<Uint8Array> {
  for (let start = 0; start < payload.size; start += pieceBytes) {
    const piece = payload.read(start, Math.min(payload.size, start + pieceBytes), scratch)
    yield encoder.encode(piece.toBase64())
  }
}

async function* json(
  { usage, said = {} }: ImagesReply,
  images: readonly Shown[],
  createdAt: number,
): AsyncGenerator<Uint8Array> {
  yield encoder.encode(`{"created":${createdAt},"data":[`)
  for (const [at, { payload, url, revisedPrompt }] of images.entries()) {
    yield encoder.encode(at === 0 ? '{' : ',{')
    if (revisedPrompt !== null)
      yield encoder.encode(`"revised_prompt":${JSON.stringify(revisedPrompt)},`)
    if (url !== undefined) yield encoder.encode(`"url":${JSON.stringify(url)}`)
    else {
      yield encoder.encode('"b64_json":"')
      yield* base64(payload)
      yield encoder.encode('"')
    }
    yield encoder.encode('}')
  }
  const rest = { ...said, ...(usage !== null && { usage }) }
  const members = JSON.stringify(rest).slice(1, -1)
  yield encoder.encode(members === '' ? ']}' : `],${members}}`)
}

/** Usage is reported once, with the last image; the others report zeros. */
const noUsage: JsonObject = {
  input_tokens: 0,
  input_tokens_details: { text_tokens: 0, image_tokens: 0 },
  output_tokens: 0,
  total_tokens: 0,
}

async function* events(
  { usage, said = {} }: ImagesReply,
  images: readonly Had[],
  { dialect, fields }: MediaCall,
  { createdAt }: WriteRooms,
): AsyncGenerator<Uint8Array> {
  const type = `${dialect === 'openai-images' ? 'image_generation' : 'image_edit'}.completed`
  for (const [at, { payload }] of images.entries()) {
    const head = {
      type,
      created_at: createdAt,
      size: said['size'] ?? fields['size'] ?? 'auto',
      quality: said['quality'] ?? fields['quality'] ?? 'auto',
      background: said['background'] ?? 'auto',
      output_format: said['output_format'] ?? payload.type.replace(/^image\//, ''),
      usage: (at === images.length - 1 ? usage : null) ?? noUsage,
    }
    const members = JSON.stringify(head).slice(1, -1)
    yield encoder.encode(`event: ${type}\ndata: {"b64_json":"`)
    yield* base64(payload)
    yield encoder.encode(`",${members}}\n\n`)
  }
}
