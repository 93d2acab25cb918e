// Asks vendors of OpenAI's format for images, as JSON or as a form; relays their replies or converts them.

import type { JsonObject, JsonValue } from '../wire/ir.ts'
import { isObject, listOf, objectOf, text } from '../wire/json/value.ts'
import type { Lifted } from './base64.ts'
import { pictureIn, read, unreadable } from './images.ts'
import type {
  ImagesReply,
  MediaCall,
  MediaReply,
  MediaTools,
  Payload,
  Picture,
  VendorCall,
  VendorReply,
  VendorStream,
} from './media.ts'
import { type FormField, multipart } from './multipart.ts'

/** The most bytes read of an error's body. */
const maxErrorBytes = 65_536

/** For OpenAI's own models. `older`: those that cannot stream, and honour `response_format`. */
export async function askOpenai(
  call: MediaCall,
  older: boolean,
  tools: MediaTools,
): Promise<MediaReply> {
  if (older) {
    if (call.stream) return whole(call, tools)
    return passed(await tools.open(vendorCall(call, call.fields, tools)), tools)
  }
  const { response_format: wanted, ...fields } = call.fields
  const asked = vendorCall(call, fields, tools)
  // By default these models return base64, which is what is wanted.
  if (call.stream || wanted !== 'url') return passed(await tools.open(asked), tools)
  const reply = await tools.ask(asked)
  return imagesOf(await read(reply, tools))
}

/** For servers that may ignore the requested `response_format`. */
export async function askCompatible(call: MediaCall, tools: MediaTools): Promise<MediaReply> {
  const { fields } = call
  const asked = vendorCall(call, fields, tools)
  if (call.stream) return streamed(await tools.open(asked), tools)
  const reply = await tools.ask(asked)
  const lifted = await read(reply, tools)
  const wanted = fields['response_format'] === 'url' ? 'url' : 'b64_json'
  const data = listOf(objectOf(lifted.json)['data']).map(objectOf)
  if (data.length > 0 && data.every((each) => text(each[wanted]) !== null))
    return { kind: 'plain', type: 'application/json', chunks: piecesOf(reply.payload) }
  return nearImages(lifted, tools)
}

/** Asks without streaming. */
async function whole(call: MediaCall, tools: MediaTools): Promise<ImagesReply> {
  const { stream: _stream, partial_images: _partials, ...fields } = call.fields
  const reply = await tools.ask(vendorCall(call, { ...fields, response_format: 'b64_json' }, tools))
  return imagesOf(await read(reply, tools))
}

function succeeded({ status }: { readonly status: number }): boolean {
  return status >= 200 && status < 300
}

function vendorCall(call: MediaCall, fields: JsonObject, tools: MediaTools): VendorCall {
  const url = tools.addressOf(call.dialect, call.model)
  const body: JsonObject = { ...fields, model: call.model }
  if (call.uploads.length === 0)
    return { method: 'POST', url, body: [new TextEncoder().encode(JSON.stringify(body))] }
  const given = Object.entries(body).filter(([, value]) => value !== null && value !== undefined)
  const texts = given.map(([name, value]): FormField => [name, textOf(value)])
  const images = call.uploads.filter(({ field }) => field === 'image').length
  const files = call.uploads.map((upload) =>
    upload.field === 'image' && images > 1 ? { ...upload, field: 'image[]' } : upload,
  )
  const { segments, contentType } = multipart(texts, files)
  return { method: 'POST', url, body: segments, contentType }
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** Relays a reply that is already in the wanted form. */
async function passed(stream: VendorStream, tools: MediaTools): Promise<MediaReply> {
  if (!succeeded(stream)) throw tools.faultOf(await readReply(stream, tools))
  const type = stream.header('content-type') ?? 'application/json'
  return { kind: 'plain', type, chunks: stream.chunks }
}

/** Reads a reply to its end, or only the beginning of an unsuccessful one. */
async function readReply(stream: VendorStream, tools: MediaTools): Promise<VendorReply> {
  const most = succeeded(stream) ? Number.POSITIVE_INFINITY : maxErrorBytes
  const keeper = tools.spool.keeper('application/json')
  let bytes = 0
  for await (const chunk of stream.chunks) {
    keeper.push(chunk)
    bytes += chunk.length
    if (bytes > most) break
  }
  const payload = keeper.end()
  // Never called: the reply is read in pieces.
  const json = (): never => {
    throw unreadable('the reply is too long')
  }
  return { status: stream.status, header: (name) => stream.header(name), payload, json }
}

/** Servers that cannot stream images answer with one reply, which is turned into events. */
async function streamed(stream: VendorStream, tools: MediaTools): Promise<MediaReply> {
  const type = stream.header('content-type') ?? ''
  if (!succeeded(stream) || type.includes('event-stream')) return passed(stream, tools)
  return nearImages(await read(await readReply(stream, tools), tools), tools)
}

async function nearImages(lifted: Lifted, tools: MediaTools): Promise<ImagesReply> {
  const made = imagesOf(lifted)
  const images = await Promise.all(made.images.map((image) => near(image, tools)))
  return { ...made, images }
}

const pieceBytes = 262_144

async function* piecesOf(payload: Payload): AsyncGenerator<Uint8Array> {
  for (let start = 0; start < payload.size; start += pieceBytes)
    yield payload.read(start, Math.min(payload.size, start + pieceBytes))
}

/** Fetches an image from the operator's own server: it may be in a private network, closed to clients' URLs. */
async function near(image: Picture, tools: MediaTools): Promise<Picture> {
  const { url, ...rest } = image
  if (url === undefined || new URL(url).origin !== new URL(tools.baseUrl).origin) return image
  const reply = await tools.ask({ method: 'GET', url, signed: false })
  if (!succeeded(reply)) throw unreadable('the image is not where the reply says')
  return { ...rest, payload: reply.payload }
}

/** The images in a reply of OpenAI's form. */
export function imagesOf(lifted: Lifted): ImagesReply {
  const { data, usage, created: _created, ...said } = objectOf(lifted.json)
  const images = listOf(data).map((each) => pictureIn(each, lifted))
  return { kind: 'images', images, usage: isObject(usage) ? usage : null, said }
}
