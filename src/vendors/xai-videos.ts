// Videos of xAI: a request that is polled by its id, with its result at a URL of its own.

import type { JsonObject } from '../wire/ir.ts'
import { objectOf, text } from '../wire/json/value.ts'
import { JsonBody } from './base64.ts'
import { needed } from './images.ts'
import {
  addressIn,
  contentAtUrl,
  postJson,
  successOf,
  type VideoAdapter,
  type VideoNews,
  videoFailed,
  videoRequest,
} from './video.ts'

/** Documented at docs.x.ai, "Video generation". */
export const xaiVideos: VideoAdapter = {
  async start(call, tools) {
    const { prompt, seconds, ratio, lines, reference } = videoRequest(call)
    const body = new JsonBody()
    const request = {
      model: call.model,
      prompt,
      duration: seconds,
      aspect_ratio: ratio,
      resolution: `${lines}p`,
      ...(reference !== null && { image: { url: addressIn(body, reference) } }),
    }
    const url = `${tools.baseUrl}/videos/generations`
    const { request_id: id } = await postJson(tools, url, request, body)
    return { handle: needed(id, 'the vendor named no request') }
  },
  async poll({ handle }, tools) {
    const url = `${tools.baseUrl}/videos/${encodeURIComponent(handle)}`
    const reply = await tools.ask({ method: 'GET', url })
    // The body may be empty while the video is being made.
    if (reply.status === 202 && reply.payload.size === 0) return { state: 'running' }
    return newsOf(successOf(reply, tools))
  },
  content: contentAtUrl,
}

function newsOf(reply: JsonObject): VideoNews {
  const { status, video, progress, error } = reply
  const { url, duration, respect_moderation: respects } = objectOf(video)
  if (status === 'failed' || status === 'expired') {
    const { code, message } = objectOf(error)
    return videoFailed(message, text(code) ?? `video_${status}`)
  }
  if (respects === false)
    return videoFailed('The video was blocked by moderation.', 'moderation_blocked')
  if (status === 'done' || (status == null && text(url) !== null)) {
    const kept = { url: needed(url, 'the video has no address') }
    return { state: 'completed', kept, ...(typeof duration === 'number' && { seconds: duration }) }
  }
  return { state: 'running', ...(typeof progress === 'number' && { progress }) }
}
