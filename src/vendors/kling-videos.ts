// Videos of Kling: a task made of a text or an image, with its result behind another URL.

import type { JsonObject } from '../wire/ir.ts'
import { listOf, objectOf } from '../wire/json/value.ts'
import { JsonBody } from './base64.ts'
import { needed } from './images.ts'
import type { MediaTools, Payload, VendorReply } from './media.ts'
import {
  contentAtUrl,
  successOf,
  type VideoAdapter,
  type VideoNews,
  videoFailed,
  videoRequest,
} from './video.ts'

/** Documented at app.klingai.com/global/dev/document-api: text2video, image2video. */
export const klingVideos: VideoAdapter = {
  async start(call, tools) {
    const { prompt, seconds, ratio, lines, reference } = videoRequest(call)
    const body = new JsonBody()
    const kind = reference === null ? 'text2video' : 'image2video'
    const request = {
      model_name: call.model,
      prompt,
      duration: String(seconds),
      // `std` makes 720 lines, `pro` 1080.
      ...(lines > 720 && { mode: 'pro' }),
      ...(reference === null ? { aspect_ratio: ratio } : { image: imageIn(body, reference) }),
    }
    const url = `${tools.baseUrl}/videos/${kind}`
    const reply = await tools.ask({ method: 'POST', url, body: body.segments(request) })
    const handle = needed(dataOf(reply, tools)['task_id'], 'the vendor named no task')
    return { handle, kept: { kind } }
  },
  async poll({ handle, kept }, tools) {
    const url = `${tools.baseUrl}/videos/${String(kept['kind'])}/${encodeURIComponent(handle)}`
    return newsOf(dataOf(await tools.ask({ method: 'GET', url }), tools), kept)
  },
  content: contentAtUrl,
}

/** Kling takes a URL or bare base64. */
function imageIn(body: JsonBody, reference: Payload | string): string {
  if (typeof reference !== 'string') return body.hole(reference)
  return reference.startsWith('data:') ? reference.slice(reference.indexOf(',') + 1) : reference
}

/** A reply with status 200 may be an error: its `code` is not 0 then. */
function dataOf(reply: VendorReply, tools: MediaTools): JsonObject {
  const body = successOf(reply, tools)
  if (body['code'] != null && body['code'] !== 0) throw tools.faultOf(reply)
  return objectOf(body['data'])
}

function newsOf(data: JsonObject, kept: JsonObject): VideoNews {
  const { task_status: status, task_status_msg: message, task_result: result } = data
  if (status === 'failed') return videoFailed(message, 'video_generation_failed')
  if (status !== 'succeed')
    return { state: 'running', ...(status === 'submitted' && { queued: true }) }
  const [video] = listOf(objectOf(result)['videos'])
  const { url, duration } = objectOf(video)
  const address = needed(url, 'the video has no address')
  const seconds = Math.round(Number(duration ?? Number.NaN))
  return {
    state: 'completed',
    kept: { ...kept, url: address },
    ...(Number.isFinite(seconds) && { seconds }),
  }
}
