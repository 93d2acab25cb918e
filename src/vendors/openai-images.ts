// Images of vendors of OpenAI's format that return images in another way than asked: the client gets what it asked for.

import { imageModel } from '../catalog/images.ts'
import type { JsonObject } from '../wire/ir.ts'
import { text } from '../wire/json/value.ts'
import type { MediaAdapter, MediaCall } from './media.ts'

const gptImage = /^(gpt-image|chatgpt-image)/
/** These models cannot stream: the gateway sends their images as events. */
const older = /^dall-e-[23]$/

/** Observed: `response_format` is answered with 400 `unknown_parameter`. `nameOf`: OpenAI's name of the model. */
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
      const { askOpenai } = await import('./openai-images-ask.ts')
      const name = nameOf(call)
      const fields = inItsWords(name, call.fields)
      return askOpenai({ ...call, fields }, older.test(name), tools)
    },
  }
}

export const openaiImages = imagesNamed(({ model }) => model)

/** For deployments, which have the operator's own names: the model is recognized by the name that clients use. */
export const deployedImages = imagesNamed(({ model, fields }) =>
  imageModel(model) === null ? (text(fields['model']) ?? model) : model,
)

/** Replaces a quality that only other models of OpenAI have by the nearest one; else returns the same object. */
function inItsWords(model: string, fields: JsonObject): JsonObject {
  const { quality } = fields
  const known = typeof quality === 'string' ? imageModel(model) : null
  const nearest = known?.nearest?.get(String(quality))
  return nearest === undefined ? fields : { ...fields, quality: nearest }
}

/**
 * For servers of OpenAI's format that may ignore how images are requested: a reply in the requested form is relayed,
 * any other is converted.
 */
export const compatibleImages: MediaAdapter = {
  adapts: ({ model, fields, stream }) =>
    fields['response_format'] != null || stream || inItsWords(model, fields) !== fields,
  async serve(call, tools) {
    const { askCompatible } = await import('./openai-images-ask.ts')
    return askCompatible({ ...call, fields: inItsWords(call.model, call.fields) }, tools)
  },
}
