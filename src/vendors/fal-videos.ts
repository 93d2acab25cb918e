// Videos of fal: a job in a queue, like its images.

import { invalidRequest } from '../errors.ts'
import { objectOf, text } from '../wire/json/value.ts'
import { JsonBody } from './base64.ts'
import { jobAddress, needed } from './images.ts'
import { checkSuccess, type MediaTools, type VendorReply } from './media.ts'
import { pathSegments } from './path-segment.ts'
import {
  addressIn,
  contentAtUrl,
  getJson,
  postJson,
  successOf,
  type VideoAdapter,
  type VideoNews,
  videoFailed,
  videoRequest,
} from './video.ts'

/** fal, "Queue API", and the pages of its models. */
export const falVideos: VideoAdapter = {
  async start(call, tools) {
    const { prompt, seconds, ratio, lines, reference } = videoRequest(call)
    const { model } = call
    const body = new JsonBody()
    if (reference !== null && model.includes('text-to-video'))
      throw invalidRequest('This model makes videos of a text alone.', 'input_reference')
    const request = {
      prompt,
      duration: durationFor(model, seconds),
      aspect_ratio: ratio,
      resolution: `${lines}p`,
      ...(reference !== null && { image_url: addressIn(body, reference) }),
    }
    const started = await postJson(tools, `${tools.baseUrl}/${pathSegments(model)}`, request, body)
    const { request_id: id, status_url: state, response_url: result } = started
    const kept = { state: jobAddress(state, tools), result: jobAddress(result, tools) }
    return { handle: text(id) ?? kept.state, kept }
  },
  async poll({ kept }, tools) {
    const { status, error } = await getJson(tools, String(kept['state']))
    if (status === 'IN_QUEUE') return { state: 'running', queued: true }
    if (status === 'IN_PROGRESS') return { state: 'running' }
    if (status !== 'COMPLETED' || text(error) !== null) return videoFailed(error, `fal_${status}`)
    const reply = await tools.ask({ method: 'GET', url: String(kept['result']) })
    return resultOf(reply, tools)
  },
  content: contentAtUrl,
  async cancel({ kept }, tools) {
    const url = `${String(kept['result'])}/cancel`
    const reply = await tools.ask({ method: 'PUT', url })
    checkSuccess(reply, tools)
  },
}

/** Veo takes `8s`, Sora a number, the others a number as text (the schemas of fal's pages of its models). */
function durationFor(model: string, seconds: number): string | number {
  if (/veo/.test(model)) return `${seconds}s`
  return /sora/.test(model) ? seconds : String(seconds)
}

/** 400 and 422 mean that the model refuses the request itself, so the job has failed. */
function resultOf(reply: VendorReply, tools: MediaTools): VideoNews {
  if (reply.status === 422 || reply.status === 400) {
    const { detail } = objectOf(reply.json())
    return videoFailed(typeof detail === 'string' ? detail : JSON.stringify(detail), 'fal_refused')
  }
  const { url, duration } = objectOf(successOf(reply, tools)['video'])
  const kept = { url: needed(url, 'the video has no address') }
  return { state: 'completed', kept, ...(typeof duration === 'number' && { seconds: duration }) }
}
