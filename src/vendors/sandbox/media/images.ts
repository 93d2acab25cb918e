// The sandbox's image model: pictures that depend only on the request, whole or as a stream.

import { invalidRequest } from '../../../errors.ts'
import type { JsonObject } from '../../../wire/ir.ts'
import { stringOf, wholeNumber } from '../../../wire/json/value.ts'
import { identifier } from '../../hash.ts'
import type { MediaCall, MediaReply, MediaTools, Payload, Upload } from '../../media.ts'
import { createdAt } from '../chat.ts'
import { countTokens } from '../text.ts'
import { jpeg } from './jpeg.ts'
import { png } from './png.ts'
import { sceneOf } from './scene.ts'

interface Size {
  readonly width: number
  readonly height: number
}

interface DrawingRequest extends Size {
  readonly text: string
  readonly count: number
  readonly partials: number
  readonly type: 'png' | 'jpeg'
  readonly transparent: boolean
  readonly usage: JsonObject
}

const usualSize: Size = { width: 1024, height: 1024 }
const maxSide = 4_096
/** The bytes at the beginning of an upload that identify it. */
const identifiedBytes = 4_096
/** The bytes of a PNG up to and including its height. */
const pngHeadBytes = 24

/** Throws `invalid_request_error` where the request is invalid. */
export function imageReply(call: MediaCall, tools: MediaTools): MediaReply {
  const asked = read(call)
  if (call.stream) return { kind: 'plain', type: 'text/event-stream', chunks: events(call, asked) }
  const images = Array.from({ length: asked.count }, (_, index) => {
    const bytes = draw(asked, index, 0)
    return { payload: tools.spool.inMemory(bytes, `image/${asked.type}`) }
  })
  return { kind: 'images', images, usage: asked.usage, said: said(call, asked) }
}

function read(call: MediaCall): DrawingRequest {
  const { fields, uploads } = call
  const { prompt, background, output_format: format } = fields
  const images = uploads.filter(({ field }) => field === 'image')
  const text = [stringOf(prompt), ...images.map(nameOf)].join('\n')
  const size = sizeOf(fields, images[0])
  const count = wholeNumber(fields['n'], 1) ?? 1
  const tiles = Math.ceil(size.width / 32) * Math.ceil(size.height / 32)
  const textTokens = countTokens(stringOf(prompt))
  const imageTokens = images.length * 256
  const [input, output] = [textTokens + imageTokens, count * tiles]
  return {
    ...size,
    text,
    count,
    partials: wholeNumber(fields['partial_images'], 0) ?? 0,
    type: format === 'jpeg' ? 'jpeg' : 'png',
    transparent: background === 'transparent' && format !== 'jpeg',
    usage: {
      input_tokens: input,
      input_tokens_details: { text_tokens: textTokens, image_tokens: imageTokens },
      output_tokens: output,
      output_tokens_details: { text_tokens: 0, image_tokens: output },
      total_tokens: input + output,
    },
  }
}

/** The requested size, else that of the uploaded picture, if it is a PNG. */
function sizeOf({ size }: JsonObject, image: Upload | undefined): Size {
  if (size === undefined || size === null || size === 'auto')
    return (image && pngSize(image.payload)) ?? usualSize
  const match = /^(\d{1,4})x(\d{1,4})$/.exec(String(size))
  const [width, height] = [Number(match?.[1]), Number(match?.[2])]
  if (!isSide(width) || !isSide(height)) {
    throw invalidRequest(
      `'size' must be 'auto' or a width and height from 1 to ${maxSide}, like '1024x1024'`,
      'size',
    )
  }
  return { width, height }
}

function pngSize(payload: Payload): Size | null {
  if (payload.type !== 'image/png' || payload.size < pngHeadBytes) return null
  const head = payload.read(0, pngHeadBytes)
  const view = new DataView(head.buffer, head.byteOffset, head.byteLength)
  const [width, height] = [view.getUint32(16), view.getUint32(20)]
  return isSide(width) && isSide(height) ? { width, height } : null
}

function isSide(pixels: number): boolean {
  return pixels >= 1 && pixels <= maxSide
}

/** The same for equal bytes, of which only the beginning is compared. */
function nameOf({ payload }: Upload): string {
  const bytes = payload.read(0, Math.min(payload.size, identifiedBytes))
  return identifier(`${payload.size}\n${bytes.toBase64()}`)
}

/** `moment`: how far the picture is from its final state. */
function draw(asked: DrawingRequest, index: number, moment: number): Uint8Array {
  const { text, width, height, transparent } = asked
  const scene = sceneOf(index === 0 ? text : `${text}\n${index}`, moment)
  return asked.type === 'jpeg'
    ? jpeg(scene, width, height)
    : png(scene, { width, height, transparent })
}

/** The reply's description of its pictures; webp is not supported, so png is reported. */
function said({ fields }: MediaCall, asked: DrawingRequest): JsonObject {
  return {
    background: asked.transparent ? 'transparent' : 'opaque',
    output_format: asked.type,
    quality: typeof fields['quality'] === 'string' ? fields['quality'] : 'auto',
    size: `${asked.width}x${asked.height}`,
  }
}

/** Sends each picture several times unfinished, then complete; the last event has the usage of all. */
async function* events(call: MediaCall, asked: DrawingRequest): AsyncGenerator<Uint8Array> {
  const name = call.dialect === 'openai-image-edits' ? 'image_edit' : 'image_generation'
  const frame = (type: string, bytes: Uint8Array, more: JsonObject): Uint8Array => {
    const event = { type, b64_json: bytes.toBase64(), created_at: createdAt, ...said(call, asked) }
    return new TextEncoder().encode(
      `event: ${type}\ndata: ${JSON.stringify({ ...event, ...more })}\n\n`,
    )
  }
  for (let index = 0; index < asked.count; index += 1) {
    for (let partial = 0; partial < asked.partials; partial += 1) {
      const moment = (asked.partials - partial) / 10
      const more = { partial_image_index: partial }
      yield frame(`${name}.partial_image`, draw(asked, index, moment), more)
    }
    const last = index === asked.count - 1
    const usage = last ? { usage: asked.usage } : {}
    yield frame(`${name}.completed`, draw(asked, index, 0), usage)
  }
}
