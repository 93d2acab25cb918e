// Images of xAI: OpenAI's path and reply, but ratios instead of sizes, and given images as JSON.

import { nearestQuality, ratioOf, sideClass, xaiRatios } from '../catalog/images.ts'
import { invalidRequest } from '../errors.ts'
import { objectOf, text } from '../wire/json/value.ts'
import { JsonBody } from './base64.ts'
import {
  askJson,
  droppedFields,
  givenImages,
  type ImageRequest,
  imageRequest,
  refuseTransparent,
} from './images.ts'
import { type MediaAdapter, moderated } from './media.ts'
import { imagesOf } from './openai-images-ask.ts'

/** xAI, "Image generations" and "Image edits". */
export const xaiImages: MediaAdapter = {
  async serve(call, tools) {
    refuseTransparent(call)
    const asked = imageRequest(call)
    const { images, mask } = await givenImages(call, tools)
    if (mask !== null)
      throw invalidRequest('This model takes no mask; say in the prompt what to change.', 'mask')
    const said = text(call.fields['quality'])
    const quality = nearestQuality.get(said ?? '') ?? said
    const body = new JsonBody()
    const given = images.map((payload) => ({
      url: body.hole(payload, 'address'),
      type: 'image_url',
    }))
    const lifted = await askJson(
      tools,
      { url: tools.addressOf(call.dialect, call.model) },
      {
        model: call.model,
        prompt: asked.prompt,
        n: asked.count,
        // Images at URLs would have to be fetched.
        response_format: 'b64_json',
        ...shapeOf(call.model, asked),
        ...(quality !== null && quality !== 'auto' && { quality }),
        ...(given.length === 1 && given[0] !== undefined && { image: given[0] }),
        ...(given.length > 1 && { images: given }),
      },
      body,
    )
    const reply = objectOf(lifted.json)
    if (reply['respect_moderation'] === false) throw moderated('the image was not shown')
    const { images: made } = imagesOf(lifted)
    // xAI reports its cost in units of its own, which are not tokens.
    return { kind: 'images', images: made, usage: null, dropped: droppedFields(call, ['quality']) }
  },
}

function shapeOf(model: string, { size, ratio }: ImageRequest) {
  if (size === null) return ratio === null ? {} : { aspect_ratio: ratio }
  if (/^grok-2-image/.test(model))
    throw invalidRequest('This model makes images of one size alone; leave size out.', 'size')
  const found = ratioOf(size, xaiRatios)
  if (found === null)
    throw invalidRequest(`size must have one of the ratios ${xaiRatios.join(', ')}.`, 'size')
  return { aspect_ratio: found, ...(sideClass(size) !== '1K' && { resolution: '2k' }) }
}
