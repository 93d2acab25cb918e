// Stability AI: one form and one image per call, each model at its own path (REST API v2beta, "Stable Image").

import { ratioOf, stabilityRatios } from '../catalog/images.ts'
import { invalidRequest } from '../errors.ts'
import { objectOf, text } from '../wire/json/value.ts'
import {
  droppedFields,
  failed,
  givenImages,
  type ImageRequest,
  imageRequest,
  read,
  refuseTransparent,
  times,
  unreadable,
} from './images.ts'
import {
  type MediaAdapter,
  type MediaCall,
  type MediaTools,
  moderated,
  type Payload,
  type Picture,
} from './media.ts'
import { type FormField, multipart } from './multipart.ts'

/** How far the result may differ from the given image: the vendor's own default. */
const usualStrength = '0.7'

interface StabilityForm {
  readonly path: string
  readonly fields: readonly FormField[]
  readonly files: readonly (readonly [field: string, payload: Payload])[]
}

export const stabilityImages: MediaAdapter = {
  async serve(call, tools) {
    refuseTransparent(call)
    const asked = imageRequest(call)
    const { images, mask } = await givenImages(call, tools)
    if (images.length > 1) throw invalidRequest('This model takes one image.', 'image')
    const form =
      images[0] === undefined ? generation(call, asked) : edit(call, asked, images[0], mask)
    const made = await times(tools, asked.count, (index) => make(form, asked, tools, index))
    return {
      kind: 'images',
      images: made,
      usage: null,
      dropped: droppedFields(call, ['output_format']),
    }
  },
}

function generation({ model }: MediaCall, { prompt, size, ratio }: ImageRequest): StabilityForm {
  const found = size === null ? ratio : ratioOf(size, stabilityRatios)
  if (size !== null && found === null)
    throw invalidRequest(`size must have one of the ratios ${stabilityRatios.join(', ')}.`, 'size')
  const fields: FormField[] = [['prompt', prompt]]
  if (found !== null) fields.push(['aspect_ratio', found])
  if (isPlain(model)) fields.push(['model', model])
  return { path: `generate/${pathOf(model)}`, fields, files: [] }
}

/** With a mask, the masked area is replaced; without one, the image guides the whole result. */
function edit(
  { model }: MediaCall,
  { prompt }: ImageRequest,
  image: Payload,
  mask: Payload | null,
): StabilityForm {
  const fields: FormField[] = [['prompt', prompt]]
  if (mask !== null)
    return {
      path: 'edit/inpaint',
      fields,
      files: [
        ['image', image],
        ['mask', mask],
      ],
    }
  if (pathOf(model) === 'core')
    throw invalidRequest('This model changes images only where a mask says.', 'mask')
  fields.push(['strength', usualStrength])
  if (isPlain(model)) fields.push(['model', model], ['mode', 'image-to-image'])
  return { path: `generate/${pathOf(model)}`, fields, files: [['image', image]] }
}

/** Whether the form, and not the path, names the model. */
function isPlain(model: string): boolean {
  return pathOf(model) === 'sd3'
}

function pathOf(model: string): string {
  if (/ultra$/.test(model)) return 'ultra'
  return /core$/.test(model) ? 'core' : 'sd3'
}

async function make(
  { path, fields, files }: StabilityForm,
  { format, seed }: ImageRequest,
  tools: MediaTools,
  index: number,
): Promise<Picture> {
  const output: FormField = ['output_format', format ?? 'png']
  const seeded: FormField[] = seed === null ? [] : [['seed', String(seed + index)]]
  const { segments, contentType } = multipart(
    [...fields, output, ...seeded],
    files.map(([field, payload]) => ({ field, payload, name: fileName(field, payload) })),
  )
  const reply = await tools.ask({
    method: 'POST',
    url: `${tools.baseUrl}/v2beta/stable-image/${path}`,
    headers: [['accept', 'application/json']],
    body: segments,
    contentType,
  })
  const lifted = await read(reply, tools)
  const { image, finish_reason, errors } = objectOf(lifted.json)
  if (finish_reason === 'CONTENT_FILTERED') throw moderated('the image was filtered')
  if (finish_reason === 'ERROR') throw failed(`the image failed: ${JSON.stringify(errors ?? '')}`)
  const payload = lifted.bytesAt(text(image) ?? '')
  if (payload === null) throw unreadable('the reply has no image')
  return { payload }
}

function fileName(field: string, { type }: Payload): string {
  return `${field}.${type.replace(/^image\//, '')}`
}
