// Videos of Alibaba Cloud's Model Studio (Wan): a task of the native API, beside the compatible mode.

import type { JsonObject } from '../wire/ir.ts'
import { objectOf, text } from '../wire/json/value.ts'
import { JsonBody } from './base64.ts'
import { native } from './dashscope-images.ts'
import { needed } from './images.ts'
import { checkSuccess } from './media.ts'
import {
  addressIn,
  contentAtUrl,
  getJson,
  successOf,
  type VideoAdapter,
  type VideoNews,
  videoFailed,
  videoRequest,
} from './video.ts'

/** Results are kept for one day. */
const keptMs = 86_400_000

/** Model Studio, "Wan video generation", models from 2.7 on. */
export const wan: VideoAdapter = {
  async start(call, tools) {
    const { prompt, seconds, ratio, lines, reference } = videoRequest(call)
    const body = new JsonBody()
    const media =
      reference === null ? [] : [{ type: 'first_frame', url: addressIn(body, reference) }]
    const request = {
      model: call.model,
      input: { prompt, ...(media.length > 0 && { media }) },
      parameters: {
        resolution: `${lines}P`,
        ratio: ratio,
        duration: seconds,
        watermark: false,
      },
    }
    const url = `${native(tools)}/services/aigc/video-generation/video-synthesis`
    const headers = [['x-dashscope-async', 'enable']] as const
    const reply = await tools.ask({ method: 'POST', url, headers, body: body.segments(request) })
    const { task_id: id } = objectOf(successOf(reply, tools)['output'])
    return { handle: needed(id, 'the vendor named no task') }
  },
  async poll({ handle }, tools) {
    const url = `${native(tools)}/tasks/${encodeURIComponent(handle)}`
    const { output } = await getJson(tools, url)
    return newsOf(objectOf(output), tools.nowMs)
  },
  content: contentAtUrl,
  /** "Manage asynchronous tasks": only a task that has not begun can be cancelled. */
  async cancel({ handle }, tools) {
    const url = `${native(tools)}/tasks/${encodeURIComponent(handle)}/cancel`
    const reply = await tools.ask({ method: 'POST', url })
    checkSuccess(reply, tools)
  },
}

function newsOf(task: JsonObject, nowMs: number): VideoNews {
  const { task_status: status, video_url: address, code, message } = task
  if (status === 'PENDING') return { state: 'running', queued: true }
  if (status === 'RUNNING') return { state: 'running' }
  if (status !== 'SUCCEEDED')
    return videoFailed(message, text(code) ?? `task_${String(status).toLowerCase()}`)
  const url = needed(address, 'the video has no address')
  return { state: 'completed', kept: { url }, expiresAt: nowMs + keptMs }
}
