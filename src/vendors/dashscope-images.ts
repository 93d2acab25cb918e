// Images of Alibaba Cloud's Model Studio: Qwen-Image answers in one reply, Wan with a job to poll.

import { invalidRequest } from '../errors.ts'
import type { JsonObject, JsonValue } from '../wire/ir.ts'
import { listOf, objectOf, text } from '../wire/json/value.ts'
import { JsonBody } from './base64.ts'
import {
  askJson,
  droppedFields,
  failed,
  givenImages,
  type ImageRequest,
  imageRequest,
  lookAfter,
  needed,
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
  type Payload,
  type Picture,
} from './media.ts'

/** Models that make several images in one call; others make one per call. */
const makesSeveral = /^(qwen-image-2|qwen-image-edit-(plus|max)|wan)/
const isWan = /^wan[\d.x]*-/

/** Model Studio, "Qwen-Image" and "Wan text to image". */
export const dashscopeImages: MediaAdapter = {
  async serve(call, tools) {
    refuseTransparent(call)
    const asked = imageRequest(call)
    const images = isWan.test(call.model)
      ? await wan(call, tools, asked)
      : await qwen(call, tools, asked)
    return { kind: 'images', images, usage: null, dropped: droppedFields(call) }
  },
}

/** The native API has its own path beside the compatible mode, on the same regional host. */
export function native({ baseUrl }: MediaTools): string {
  return `${baseUrl.replace(/\/compatible-mode(\/v\d+)?$/, '')}/api/v1`
}

function parametersOf({ size, seed }: ImageRequest, count: number | null): JsonObject {
  return {
    ...(size !== null && { size: size.replace('x', '*') }),
    ...(count !== null && { n: count }),
    ...(seed !== null && { seed }),
    watermark: false,
  }
}

async function qwen(call: MediaCall, tools: MediaTools, asked: ImageRequest): Promise<Picture[]> {
  const { images, mask } = await givenImages(call, tools)
  if (mask !== null)
    throw invalidRequest('This model takes no mask; say in the prompt what to change.', 'mask')
  const several = makesSeveral.test(call.model)
  const made = await times(tools, several ? 1 : asked.count, () =>
    qwenCall(call, tools, { asked, images, several }),
  )
  return made.flat()
}

interface QwenCall {
  readonly asked: ImageRequest
  readonly images: readonly Payload[]
  readonly several: boolean
}

async function qwenCall(
  call: MediaCall,
  tools: MediaTools,
  { asked, images, several }: QwenCall,
): Promise<Picture[]> {
  const body = new JsonBody()
  const content: JsonValue[] = images.map((payload) => ({ image: body.hole(payload, 'address') }))
  content.push({ text: asked.prompt })
  const url = `${native(tools)}/services/aigc/multimodal-generation/generation`
  const value = {
    model: call.model,
    input: { messages: [{ role: 'user', content }] },
    parameters: parametersOf(asked, several ? asked.count : null),
  }
  const { output } = objectOf((await askJson(tools, { url }, value, body)).json)
  const choices = listOf(objectOf(output)['choices']).map(objectOf)
  const parts = choices.flatMap((each) => listOf(objectOf(each['message'])['content']))
  return addressed(
    parts.map((part) => objectOf(part)['image']).filter((each) => each !== undefined),
  )
}

async function wan(call: MediaCall, tools: MediaTools, asked: ImageRequest): Promise<Picture[]> {
  if (call.dialect !== 'openai-images')
    throw invalidRequest('This model does not change images.', 'model')
  const url = `${native(tools)}/services/aigc/text2image/image-synthesis`
  const headers = [['x-dashscope-async', 'enable']] as const
  const value = {
    model: call.model,
    input: { prompt: asked.prompt },
    parameters: parametersOf(asked, asked.count),
  }
  const { output } = objectOf((await askJson(tools, { url, headers }, value)).json)
  const id = needed(objectOf(output)['task_id'], 'the job has no task_id')
  const jobUrl = `${native(tools)}/tasks/${encodeURIComponent(id)}`
  return untilDone(tools, async () => {
    const seen = await lookAfter(tools, { url: jobUrl })
    return seen === null ? null : resultOf(objectOf(seen['output']))
  })
}

/** Null while the job runs. */
function resultOf(task: JsonObject): Picture[] | null {
  const { task_status, code, message } = task
  switch (task_status) {
    case 'SUCCEEDED': {
      const results = listOf(task['results']).map(objectOf)
      const refused = results.find((each) => text(each['url']) === null)
      if (refused !== undefined) throw faultOf(refused['code'], refused['message'])
      return addressed(results.map((each) => each['url']))
    }
    case 'FAILED':
    case 'CANCELED':
    case 'UNKNOWN':
      throw faultOf(code, message ?? task_status)
    default:
      return null
  }
}

/** `DataInspectionFailed` is the code of the moderation. */
function faultOf(code: JsonValue | undefined, message: JsonValue | undefined) {
  const said = text(message) ?? 'no reason was given'
  return /DataInspection/i.test(text(code) ?? '')
    ? moderated(said)
    : failed(`the job failed: ${said}`)
}

function addressed(values: readonly (JsonValue | undefined)[]): Picture[] {
  const urls = values.map(text)
  if (urls.length === 0) throw unreadable('the reply has no image')
  return urls.map((url) => {
    if (url === null || !/^https?:/i.test(url)) throw unreadable('an image without its address')
    return { url }
  })
}
