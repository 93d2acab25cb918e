// Images of vendors that speak OpenAI's form but for how the images are to come: answered as was wished all the same.

import { imageModel } from '../catalog/images.ts'
import type { JsonObject, JsonValue } from '../wire/ir.ts'
import { isObject, listOf, objectOf, text } from '../wire/json/value.ts'
import type { Lifted } from './base64.ts'
import { pictureIn, read, unreadable } from './images.ts'
import type {
  ImagesReply,
  MediaAdapter,
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

const gptImage = /^(gpt-image|chatgpt-image)/
/** They know no streams: what they make is sent as events here. */
const older = /^dall-e-[23]$/
/** An error says what it is within so many bytes. */
const maxErrorBytes = 65_536

/** Recorded: `response_format` is answered 400 `unknown_parameter`. `nameOf`: the model as OpenAI calls it. */
function imagesNamed(nameOf: (call: MediaCall) => string): MediaAdapter {
  return {
    adapts(call) {
      const { fields, stream } = call
      const name = nameOf(call)
      if (older.test(name)) return stream || inItsWords(name, fields) !== fields
      if (!gptImage.test(name)) return false
      return fields['response_format'] != null || inItsWords(name, fields) !== fields
    },
    async serve(call, tools) {
      const name = nameOf(call)
      const said = inItsWords(name, call.fields)
      if (older.test(name)) {
        if (call.stream) return whole({ ...call, fields: said }, tools)
        return passed(await tools.open(vendorCall(call, said, tools)), tools)
      }
      const { response_format: wanted, ...fields } = said
      const asked = vendorCall(call, fields, tools)
      // What it returns unasked is what is wanted.
      if (call.stream || wanted !== 'url') return passed(await tools.open(asked), tools)
      const reply = await tools.ask(asked)
      return imagesOf(await read(reply, tools))
    },
  }
}

export const openaiImages = imagesNamed(({ model }) => model)

/** Of deployments, which have names of the operator's own: such a one is known by what clients call it. */
export const deployedImages = imagesNamed(({ model, fields }) =>
  imageModel(model) === null ? (text(fields['model']) ?? model) : model,
)

/** The fields with a quality that the model has, where another of OpenAI's models has the client's: else the very same. */
function inItsWords(model: string, fields: JsonObject): JsonObject {
  const { quality } = fields
  const known = typeof quality === 'string' ? imageModel(model) : null
  const nearest = known?.nearest?.[String(quality)]
  return nearest === undefined ? fields : { ...fields, quality: nearest }
}

/** Asked for without a stream. */
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

/** What comes is already what the client wants. */
async function passed(stream: VendorStream, tools: MediaTools): Promise<MediaReply> {
  if (!succeeded(stream)) throw tools.faultOf(await readReply(stream, tools))
  const type = stream.header('content-type') ?? 'application/json'
  return { kind: 'plain', type, chunks: stream.chunks }
}

/** A reply to its end, or the beginning of one that is no success. */
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
  // Nobody asks for all of it at once.
  const json = (): never => {
    throw unreadable('the reply is too long')
  }
  return { status: stream.status, header: (name) => stream.header(name), payload, json }
}

/**
 * Servers that take OpenAI's words and may not heed how the images are wanted: a reply that has them so passes as it
 * came, any other is brought into form.
 */
export const compatibleImages: MediaAdapter = {
  adapts: ({ model, fields, stream }) =>
    fields['response_format'] != null || stream || inItsWords(model, fields) !== fields,
  async serve(call, tools) {
    const fields = inItsWords(call.model, call.fields)
    const asked = vendorCall(call, fields, tools)
    if (call.stream) return streamed(await tools.open(asked), tools)
    const reply = await tools.ask(asked)
    const lifted = await read(reply, tools)
    const wanted = fields['response_format'] === 'url' ? 'url' : 'b64_json'
    const data = listOf(objectOf(lifted.json)['data']).map(objectOf)
    if (data.length > 0 && data.every((each) => text(each[wanted]) !== null))
      return { kind: 'plain', type: 'application/json', chunks: piecesOf(reply.payload) }
    return nearImages(lifted, tools)
  },
}

/** Servers that know no streams of images answer in one piece: it becomes events. */
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

/** What the operator's own server keeps may be in a network that nobody else may be led into. */
async function near(image: Picture, tools: MediaTools): Promise<Picture> {
  const { url, ...rest } = image
  if (url === undefined || new URL(url).origin !== new URL(tools.baseUrl).origin) return image
  const reply = await tools.ask({ method: 'GET', url, signed: false })
  if (!succeeded(reply)) throw unreadable('the image is not where the reply says')
  return { ...rest, payload: reply.payload }
}

/** A reply of OpenAI's kind, its images beside it. */
export function imagesOf(lifted: Lifted): ImagesReply {
  const { data, usage, created: _created, ...said } = objectOf(lifted.json)
  const images = listOf(data).map((each) => pictureIn(each, lifted))
  return { kind: 'images', images, usage: isObject(usage) ? usage : null, said }
}
