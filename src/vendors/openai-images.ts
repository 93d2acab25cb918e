// Images of vendors that speak OpenAI's form but for how the images are to come: answered as was wished all the same.

import { imageModel } from '../catalog/images.ts'
import type { JsonObject } from '../wire/ir.ts'
import { text } from '../wire/json/value.ts'
import type { MediaAdapter, MediaCall } from './media.ts'

const gptImage = /^(gpt-image|chatgpt-image)/
/** They know no streams: what they make is sent as events here. */
const older = /^dall-e-[23]$/

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
      const { askOpenai } = await import('./openai-images-ask.ts')
      const name = nameOf(call)
      const fields = inItsWords(name, call.fields)
      return askOpenai({ ...call, fields }, older.test(name), tools)
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
  const nearest = known?.nearest?.get(String(quality))
  return nearest === undefined ? fields : { ...fields, quality: nearest }
}

/**
 * Servers that take OpenAI's words and may not heed how the images are wanted: a reply that has them so passes as it
 * came, any other is brought into form.
 */
export const compatibleImages: MediaAdapter = {
  adapts: ({ model, fields, stream }) =>
    fields['response_format'] != null || stream || inItsWords(model, fields) !== fields,
  async serve(call, tools) {
    const { askCompatible } = await import('./openai-images-ask.ts')
    return askCompatible({ ...call, fields: inItsWords(call.model, call.fields) }, tools)
  },
}
