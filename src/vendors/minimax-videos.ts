// Videos of MiniMax (Hailuo): a task, which leads to a file, which has a URL.

import type { JsonObject } from '../wire/ir.ts'
import { objectOf, text } from '../wire/json/value.ts'
import { JsonBody } from './base64.ts'
import { unreadable } from './images.ts'
import { MediaFault, type MediaTools, type VendorReply } from './media.ts'
import {
  addressIn,
  jsonCall,
  successOf,
  type VideoAdapter,
  type VideoNews,
  videoFailed,
  videoRequest,
} from './video.ts'

/** Documented at platform.minimax.io/docs, "Video generation". */
export const minimaxVideos: VideoAdapter = {
  async start(call, tools) {
    const { prompt, seconds, lines, reference } = videoRequest(call)
    const body = new JsonBody()
    const request = {
      model: call.model,
      prompt,
      duration: seconds,
      resolution: `${lines}P`,
      ...(reference !== null && { first_frame_image: addressIn(body, reference) }),
    }
    const url = `${tools.baseUrl}/video_generation`
    const reply = await tools.ask({ method: 'POST', url, body: body.segments(request) })
    const { task_id: task } = doneOf(reply, tools)
    if (task == null || task === '') throw unreadable('the vendor named no task')
    return { handle: String(task) }
  },
  async poll({ handle }, tools) {
    const query = `task_id=${encodeURIComponent(handle)}`
    const url = `${tools.baseUrl}/query/video_generation?${query}`
    return newsOf(doneOf(await tools.ask({ method: 'GET', url }), tools))
  },
  async content({ kept }, _, tools) {
    const query = `file_id=${encodeURIComponent(String(kept['file']))}`
    const url = `${tools.baseUrl}/files/retrieve?${query}`
    const { file } = doneOf(await tools.ask({ method: 'GET', url }), tools)
    const address = text(objectOf(file)['download_url'])
    // A file that no longer exists has no URL.
    if (address === null)
      throw new MediaFault({ kind: 'vendor_error', message: 'the file is gone', status: 404 })
    return { call: { method: 'GET', url: address, signed: false } }
  },
  async remove({ kept: { file } }, tools) {
    if (file === undefined) return
    const number = Number(file)
    const id = Number.isSafeInteger(number) ? number : String(file)
    const body = { file_id: id, purpose: 'video_generation' }
    doneOf(await tools.ask(jsonCall(`${tools.baseUrl}/files/delete`, body)), tools)
  },
}

/** A reply with status 200 may be an error: `base_resp.status_code` is not 0 then. */
function doneOf(reply: VendorReply, tools: MediaTools): JsonObject {
  const body = successOf(reply, tools)
  const { status_code: code } = objectOf(body['base_resp'])
  if (code != null && code !== 0) throw tools.faultOf(reply)
  return body
}

function newsOf({ status, file_id: file }: JsonObject): VideoNews {
  if (status === 'Fail')
    return videoFailed('The vendor could not make this video.', 'video_generation_failed')
  if (status === 'Success') {
    if (file == null || file === '') throw unreadable('the video has no file')
    return { state: 'completed', kept: { file: String(file) } }
  }
  const queued = status === 'Preparing' || status === 'Queueing'
  return { state: 'running', ...(queued && { queued: true }) }
}
