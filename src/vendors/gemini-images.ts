// Images of Gemini's own models: one content with the prompt and the given images; one call per image.

import { geminiRatios, geminiWideRatios, ratioOf, sideClass } from '../catalog/images.ts'
import { invalidRequest } from '../errors.ts'
import type { JsonObject, JsonValue } from '../wire/ir.ts'
import { listOf, objectOf, text, wholeNumber } from '../wire/json/value.ts'
import { JsonBody, type Lifted } from './base64.ts'
import { askGemini } from './gemini-ask.ts'
import {
  droppedFields,
  failed,
  givenImages,
  type ImageRequest,
  imageRequest,
  refuseTransparent,
  times,
} from './images.ts'
import {
  type MediaAdapter,
  type MediaCall,
  type MediaTools,
  type MediaUsage,
  moderated,
  type Payload,
  type Picture,
} from './media.ts'

/** Google, "Image generation with Gemini" and "GenerateContentResponse". */
export const geminiImages: MediaAdapter = {
  async serve(call, tools) {
    refuseTransparent(call)
    const asked = imageRequest(call)
    const { images: given, mask } = await givenImages(call, tools)
    if (mask !== null)
      throw invalidRequest('This model takes no mask; say in the prompt what to change.', 'mask')
    const shape = imageConfig(call.model, asked)
    const drawn = await times(tools, asked.count, () => draw(call, tools, { asked, given, shape }))
    const images = drawn.flatMap((each) => each.images)
    const usage = sum(drawn.map((each) => each.usage))
    return { kind: 'images', images, usage, dropped: droppedFields(call) }
  },
}

interface Drawing {
  readonly asked: ImageRequest
  readonly given: readonly Payload[]
  readonly shape: JsonObject
}

interface Drawn {
  readonly images: readonly Picture[]
  readonly usage: JsonObject
}

/** `aspectRatio` and, for sizes other than 1K, `imageSize`. Throws where the model has no such shape. */
function imageConfig(model: string, { size, ratio }: ImageRequest): JsonObject {
  const wide = /3\.1-flash-image/.test(model)
  const ratios = wide ? geminiWideRatios : geminiRatios
  if (size === null) return ratio === null ? {} : { aspectRatio: ratio }
  const aspectRatio = ratioOf(size, ratios)
  if (aspectRatio === null) {
    throw invalidRequest(`size must have one of the ratios ${ratios.join(', ')}.`, 'size')
  }
  const imageSize = sideClass(size)
  if (imageSize === '1K') return { aspectRatio }
  if (/2\.5-flash-image/.test(model))
    throw invalidRequest('This model makes images of about 1024x1024 alone.', 'size')
  return { aspectRatio, imageSize }
}

async function draw(call: MediaCall, tools: MediaTools, drawing: Drawing): Promise<Drawn> {
  const { asked, given, shape } = drawing
  const body = new JsonBody()
  const parts: JsonValue[] = given.map((payload) => ({
    inlineData: { mimeType: payload.type, data: body.hole(payload) },
  }))
  parts.push({ text: asked.prompt })
  const generationConfig = {
    responseModalities: ['IMAGE'],
    ...(Object.keys(shape).length > 0 && { imageConfig: shape }),
    ...(asked.seed !== null && { seed: asked.seed }),
  }
  const value = { contents: [{ role: 'user', parts }], generationConfig }
  return readReply(await askGemini(call, tools, value, body))
}

/** Finish reasons with which Gemini refuses. */
const refusing =
  /^(SAFETY|IMAGE_SAFETY|PROHIBITED_CONTENT|IMAGE_PROHIBITED_CONTENT|BLOCKLIST|SPII|RECITATION|IMAGE_RECITATION)$/

function readReply(lifted: Lifted): Drawn {
  const reply = objectOf(lifted.json)
  const { blockReason } = objectOf(reply['promptFeedback'])
  if (text(blockReason) !== null) throw moderated(`the prompt was blocked (${blockReason})`)
  const images: Picture[] = []
  let said = ''
  let finish = ''
  for (const candidate of listOf(reply['candidates']).map(objectOf)) {
    finish = text(candidate['finishReason']) ?? finish
    for (const part of listOf(objectOf(candidate['content'])['parts']).map(objectOf)) {
      // Parts marked as thoughts are drafts of the image.
      if (part['thought'] === true) continue
      const { data } = objectOf(part['inlineData'] ?? part['inline_data'])
      const payload = lifted.bytesAt(data)
      if (payload !== null) images.push({ payload })
      else said += text(part['text']) ?? ''
    }
  }
  if (images.length > 0) return { images, usage: objectOf(reply['usageMetadata']) }
  if (refusing.test(finish)) throw moderated(`the model stopped for ${finish}`)
  const why = said === '' ? finish || 'no reason' : said.slice(0, 300)
  throw failed(`the model answered without an image: ${why}`)
}

function tokens(value: JsonValue | undefined): number {
  return wholeNumber(value, 0) ?? 0
}

/** Tokens of one modality in `promptTokensDetails` or `candidatesTokensDetails`; null where there are no details. */
function modality(details: JsonValue | undefined, name: string): number | null {
  const found = listOf(details).map(objectOf)
  if (found.length === 0) return null
  return found
    .filter((each) => each['modality'] === name)
    .reduce((total, each) => total + tokens(each['tokenCount']), 0)
}

/** The usage of all calls in the form of OpenAI's images; null where none was reported. */
function sum(all: readonly JsonObject[]): MediaUsage | null {
  let [input, inputImages, output, outputImages, thoughts] = [0, 0, 0, 0, 0]
  for (const usage of all) {
    const made = tokens(usage['candidatesTokenCount'])
    input += tokens(usage['promptTokenCount'])
    inputImages += modality(usage['promptTokensDetails'], 'IMAGE') ?? 0
    output += made
    outputImages += modality(usage['candidatesTokensDetails'], 'IMAGE') ?? made
    thoughts += tokens(usage['thoughtsTokenCount'])
  }
  if (input + output + thoughts === 0) return null
  return {
    input_tokens: input,
    input_tokens_details: { text_tokens: input - inputImages, image_tokens: inputImages },
    output_tokens: output + thoughts,
    output_tokens_details: {
      text_tokens: output - outputImages,
      image_tokens: outputImages,
      ...(thoughts > 0 && { reasoning_tokens: thoughts }),
    },
    total_tokens: input + output + thoughts,
  }
}
