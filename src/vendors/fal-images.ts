// Images of fal: a job in a queue, with separate URLs for its state and its result.

import { geminiRatios, ratioOf, sideClass } from '../catalog/images.ts'
import { invalidRequest } from '../errors.ts'
import type { JsonObject } from '../wire/ir.ts'
import { listOf, objectOf, text } from '../wire/json/value.ts'
import { JsonBody, type Lifted } from './base64.ts'
import {
  afterWork,
  askJson,
  droppedFields,
  failed,
  type GivenImages,
  givenImages,
  type ImageRequest,
  imageRequest,
  jobAddress,
  lookAfter,
  placed,
  read,
  refuseTransparent,
  untilDone,
} from './images.ts'
import { type ImagesReply, type MediaAdapter, moderated } from './media.ts'
import { pathSegments } from './path-segment.ts'

/** Models that accept several images, under another parameter name. */
const takesSeveral = /(flux-2|nano-banana|seedream|gemini|gpt-image|qwen-image-edit-plus)/
/** Models that take a ratio instead of a size. */
const inRatios = /(ultra|kontext|imagen)/

const usualSize = { width: 1_024, height: 1_024 }

/** fal, "Queue API". */
export const falImages: MediaAdapter = {
  async serve(call, tools) {
    refuseTransparent(call)
    const given = await givenImages(call, tools)
    const body = new JsonBody()
    const url = `${tools.baseUrl}/${pathSegments(call.model)}`
    const asked = requestOf(call.model, imageRequest(call), given, body)
    const { json } = await askJson(tools, { url }, asked, body)
    const { status_url, response_url } = objectOf(json)
    const [stateUrl, resultUrl] = [jobAddress(status_url, tools), jobAddress(response_url, tools)]
    await untilDone(tools, async () => {
      const state = await lookAfter(tools, { url: stateUrl })
      return state === null ? null : isDone(state)
    })
    const result = await afterWork(async () =>
      read(await tools.ask({ method: 'GET', url: resultUrl }), tools),
    )
    return { ...resultOf(result), dropped: droppedFields(call, ['output_format']) }
  },
}

function requestOf(
  model: string,
  asked: ImageRequest,
  { images, mask }: GivenImages,
  body: JsonBody,
): JsonObject {
  const { prompt, count, width, height, ratio, seed, format } = asked
  const addresses = images.map((payload) => body.hole(payload, 'address'))
  const [first, ...others] = addresses
  if (others.length > 0 && !takesSeveral.test(model))
    throw invalidRequest('This model takes one image.', 'image')
  if (mask !== null && takesSeveral.test(model))
    throw invalidRequest('This model takes no mask; say in the prompt what to change.', 'mask')
  return {
    prompt,
    num_images: count,
    ...shapeOf(model, width, height, ratio),
    ...(seed !== null && { seed }),
    ...(format !== null && { output_format: format }),
    ...(first !== undefined &&
      (takesSeveral.test(model) ? { image_urls: addresses } : { image_url: first })),
    ...(mask !== null && { mask_url: body.hole(mask, 'address') }),
  }
}

function shapeOf(
  model: string,
  width: number | null,
  height: number | null,
  ratio: string | null,
): JsonObject {
  if (width === null || height === null) {
    if (ratio !== null) return { aspect_ratio: ratio }
    // The price assumes this size where none is given, so it is requested explicitly.
    return /^fal-ai\/(flux-pro\/v1\.1|flux\/(dev|schnell))$/.test(model)
      ? { image_size: usualSize }
      : {}
  }
  if (/nano-banana/.test(model)) return bananaShape(model, `${width}x${height}`)
  if (!inRatios.test(model)) return { image_size: { width, height } }
  const common = divisor(width, height)
  return { aspect_ratio: `${width / common}:${height / common}` }
}

/** The shape for Google's models, in fal's parameters. */
function bananaShape(model: string, size: string): JsonObject {
  const ratio = ratioOf(size, geminiRatios)
  if (ratio === null)
    throw invalidRequest(`size must have one of the ratios ${geminiRatios.join(', ')}.`, 'size')
  const shape = { aspect_ratio: ratio }
  return /nano-banana-(pro|2)/.test(model) ? { ...shape, resolution: sideClass(size) } : shape
}

function divisor(one: number, other: number): number {
  return other === 0 ? one : divisor(other, one % other)
}

function isDone(state: JsonObject): true | null {
  const { status, error } = state
  if (status === 'COMPLETED') {
    if (text(error) !== null) throw failed(`the job failed: ${text(error)}`)
    return true
  }
  if (status === 'FAILED' || status === 'ERROR' || status === 'CANCELLED')
    throw failed(`the job ended: ${status}`)
  return null
}

function resultOf(lifted: Lifted): ImagesReply {
  const reply = objectOf(lifted.json)
  const nsfw = listOf(reply['has_nsfw_concepts'] ?? reply['nsfw_content_detected'])
  const found = reply['image'] === undefined ? listOf(reply['images']) : [reply['image']]
  if (nsfw.length > 0 && nsfw.every((each) => each === true))
    throw moderated('every image was filtered')
  const images = found.map((each) => placed(objectOf(each)['url'], lifted))
  return { kind: 'images', images, usage: null }
}
