// Black Forest Labs (FLUX): every image is a job to poll at the URL the vendor names, with its result on another host.

import { fluxRatios, ratioOf } from '../catalog/images.ts'
import { invalidRequest } from '../errors.ts'
import type { JsonObject } from '../wire/ir.ts'
import { objectOf, text } from '../wire/json/value.ts'
import { JsonBody } from './base64.ts'
import {
  askJson,
  droppedFields,
  failed,
  type GivenImages,
  givenImages,
  type ImageRequest,
  imageRequest,
  lookAfter,
  refuseTransparent,
  times,
  unreadable,
  untilDone,
} from './images.ts'
import {
  type MediaAdapter,
  type MediaCall,
  type MediaTools,
  moderated,
  type Picture,
} from './media.ts'
import { pathSegment } from './path-segment.ts'

/** Models that take a width and a height; the others take a ratio. */
const sided = /^flux-(2-|pro$|pro-1\.1$|dev$)/
const fills = /fill/
const edits = /kontext|^flux-2-|fill/

export const bflImages: MediaAdapter = {
  async serve(call, tools) {
    refuseTransparent(call)
    const asked = imageRequest(call)
    const given = await givenImages(call, tools)
    const images = await times(tools, asked.count, (index) =>
      make(call, tools, { asked, given, index }),
    )
    return { kind: 'images', images, usage: null, dropped: droppedFields(call, ['output_format']) }
  },
}

interface Job {
  readonly asked: ImageRequest
  readonly given: GivenImages
  readonly index: number
}

async function make(call: MediaCall, tools: MediaTools, job: Job): Promise<Picture> {
  const body = new JsonBody()
  const url = `${tools.baseUrl}/${pathSegment(call.model)}`
  const submitted = await askJson(tools, { url }, requestOf(call, job, body), body)
  const { id, polling_url } = objectOf(submitted.json)
  const jobUrl = pollingUrl(text(polling_url), text(id), tools)
  return untilDone(tools, async () => {
    const seen = await lookAfter(tools, { url: jobUrl, signed: isOwn(jobUrl, tools) })
    return seen === null ? null : resultOf(seen)
  })
}

function requestOf(call: MediaCall, { asked, given, index }: Job, body: JsonBody): JsonObject {
  const { prompt, format, seed } = asked
  if (format !== null && format !== 'png' && format !== 'jpeg')
    throw invalidRequest('output_format must be png or jpeg for this model.', 'output_format')
  return {
    prompt,
    ...shapeOf(call.model, asked, given.images.length === 0),
    ...(seed !== null && { seed: seed + index }),
    output_format: format ?? 'png',
    ...imagesOf(call.model, given, body),
  }
}

function shapeOf(
  model: string,
  { size, width, height, ratio }: ImageRequest,
  usual: boolean,
): JsonObject {
  if (size === null && ratio !== null) return { aspect_ratio: ratio }
  // The price assumes this size where none is given, so it is requested explicitly.
  if (size === null) return usual && /^flux-2-/.test(model) ? { width: 1_024, height: 1_024 } : {}
  if (sided.test(model)) return { width, height }
  if (fills.test(model)) return {}
  const found = ratioOf(size, fluxRatios)
  if (found === null)
    throw invalidRequest(`size must have one of the ratios ${fluxRatios.join(', ')}.`, 'size')
  return { aspect_ratio: found }
}

/** FLUX.1 Fill takes an image and a mask; Kontext and FLUX.2 take only images. */
function imagesOf(model: string, { images, mask }: GivenImages, body: JsonBody): JsonObject {
  const [first, ...others] = images
  if (first === undefined) return {}
  if (!edits.test(model)) throw invalidRequest('This model does not change images.', 'model')
  if (fills.test(model)) {
    if (others.length > 0) throw invalidRequest('This model takes one image.', 'image')
    return { image: body.hole(first), ...(mask !== null && { mask: body.hole(mask) }) }
  }
  if (mask !== null)
    throw invalidRequest('This model takes no mask; say in the prompt what to change.', 'mask')
  const further = others.map((payload, at) => [`input_image_${at + 2}`, body.hole(payload)])
  return { input_image: body.hole(first), ...Object.fromEntries(further) }
}

function pollingUrl(address: string | null, id: string | null, tools: MediaTools): string {
  if (address === null) throw unreadable('the job has no polling_url')
  try {
    const url = new URL(address, `${tools.baseUrl}/`)
    if (id !== null && !url.searchParams.has('id')) url.searchParams.set('id', id)
    return url.href
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    throw unreadable('the polling_url of the job is no address')
  }
}

/** The key is sent to the base address and, since jobs run in regions, to the vendor's other hosts; to nobody else. */
function isOwn(address: string, { baseUrl }: MediaTools): boolean {
  const [url, base] = [new URL(address), new URL(baseUrl)]
  if (url.origin === base.origin) return true
  return (
    url.protocol === 'https:' && /\.bfl\.ai$/.test(url.hostname) && /\.bfl\.ai$/.test(base.hostname)
  )
}

/** Null while the job runs. */
function resultOf(seen: JsonObject): Picture | null {
  const status = text(seen['status']) ?? text(seen['state']) ?? ''
  if (/moderated/i.test(status)) throw moderated(status)
  if (status === 'Ready') {
    const { sample } = objectOf(seen['result'])
    const url = text(sample)
    if (url === null || !/^https?:/i.test(url)) throw unreadable('the job has no result')
    return { url }
  }
  if (/^(error|failed|task not found)$/i.test(status)) throw failed(`the job ended: ${status}`)
  return null
}
