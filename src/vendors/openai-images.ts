// OpenAI's GPT image models refuse to be told how to give their images: asked without it, and answered as was wished.

import type { JsonObject, JsonValue } from '../wire/ir.ts'
import { Lifted } from './base64.ts'
import { listOf, objectOf, pictureIn } from './images.ts'
import { isObject } from './json.ts'
import type {
  ImagesReply,
  MediaAdapter,
  MediaCall,
  MediaReply,
  MediaTools,
  VendorCall,
  VendorReply,
  VendorStream,
} from './media.ts'
import { type FormField, multipart } from './multipart.ts'

const gptImage = /^(gpt-image|chatgpt-image)/
/** An error says what it is within so many bytes. */
const maxErrorBytes = 65_536

/** Recorded: `response_format` is answered 400 `unknown_parameter`. */
export const openaiImages: MediaAdapter = {
  adapts: ({ model, fields }) => gptImage.test(model) && fields['response_format'] != null,
  async serve(call, tools) {
    const asked = vendorCall(call, tools)
    if (call.stream || call.fields['response_format'] === 'b64_json')
      return passed(await tools.open(asked), tools)
    const reply = await tools.ask(asked)
    if (!succeeded(reply)) throw tools.faultOf(reply)
    return imagesOf(new Lifted(reply.payload, tools.spool))
  },
}

function succeeded({ status }: { readonly status: number }): boolean {
  return status >= 200 && status < 300
}

function vendorCall(call: MediaCall, tools: MediaTools): VendorCall {
  const { response_format: _unknownThere, ...fields } = call.fields
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
  if (!succeeded(stream)) throw tools.faultOf(await heard(stream, tools))
  const type = stream.header('content-type') ?? 'application/json'
  return { kind: 'plain', type, chunks: stream.chunks }
}

/** The beginning of a reply that is no success. */
async function heard(stream: VendorStream, tools: MediaTools): Promise<VendorReply> {
  const keeper = tools.spool.keeper('application/json')
  let bytes = 0
  for await (const chunk of stream.chunks) {
    keeper.push(chunk)
    bytes += chunk.length
    if (bytes > maxErrorBytes) break
  }
  const payload = keeper.end()
  const json = () => new Lifted(payload, tools.spool).json
  return { status: stream.status, header: (name) => stream.header(name), payload, json }
}

/** A reply of OpenAI's kind, its images beside it. */
export function imagesOf(lifted: Lifted): ImagesReply {
  const { data, usage, created: _created, ...said } = objectOf(lifted.json)
  const images = listOf(data).map((each) => pictureIn(each, lifted))
  return { kind: 'images', images, usage: isObject(usage) ? usage : null, said }
}
