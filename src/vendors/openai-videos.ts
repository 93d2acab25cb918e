// Videos through OpenAI's own API, and servers that copy it: the video object is read as it is.

import type { JsonObject } from '../wire/ir.ts'
import { isObject } from '../wire/json/value.ts'
import { checkSuccess, MediaFault } from './media.ts'
import { jsonCall, removeAt, successOf, type VideoAdapter, type VideoNews } from './video.ts'

/** Paths below the base address are those of the API reference, "Videos". */
export const openaiVideos: VideoAdapter = {
  async poll({ handle }, tools) {
    const reply = await tools.ask({ method: 'GET', url: placeOf(tools.baseUrl, handle) })
    const hint = Number(reply.header('openai-poll-after-ms') ?? Number.NaN)
    return newsOf(successOf(reply, tools), Number.isFinite(hint) ? hint : null)
  },
  async content({ handle }, variant, { baseUrl }) {
    const query = variant === 'video' ? '' : `?variant=${variant}`
    return { call: { method: 'GET', url: `${placeOf(baseUrl, handle)}/content${query}` } }
  },
  async remix({ handle }, prompt, tools) {
    const call = jsonCall(`${placeOf(tools.baseUrl, handle)}/remix`, { prompt })
    const { id } = successOf(await tools.ask(call), tools)
    if (typeof id === 'string' && id !== '') return { handle: id }
    throw new MediaFault({ kind: 'unreadable', message: "the vendor's reply has no job id" })
  },
  async cancel({ handle }, tools) {
    const url = placeOf(tools.baseUrl, handle)
    const reply = await tools.ask({ method: 'DELETE', url })
    // A server without this endpoint answers 404 too, and still makes the video.
    if (reply.status === 404 && (await tools.ask({ method: 'GET', url })).status === 404) return
    checkSuccess(reply, tools)
  },
  remove: ({ handle }, tools) =>
    removeAt(tools, { method: 'DELETE', url: placeOf(tools.baseUrl, handle) }),
}

function placeOf(baseUrl: string, handle: string): string {
  return `${baseUrl}/videos/${encodeURIComponent(handle)}`
}

function newsOf(video: JsonObject, hintMs: number | null): VideoNews {
  const { status, progress, error, expires_at: expiresAt } = video
  if (status === 'failed') return failed(error)
  if (status === 'completed') {
    return typeof expiresAt === 'number'
      ? { state: 'completed', expiresAt: expiresAt * 1000 }
      : { state: 'completed' }
  }
  if (status !== 'queued' && status !== 'in_progress')
    throw new MediaFault({ kind: 'unreadable', message: `the job is ${String(status)}` })
  return {
    state: 'running',
    ...(status === 'queued' && { queued: true }),
    ...(typeof progress === 'number' && { progress }),
    ...(hintMs !== null && { pollAfterMs: hintMs }),
  }
}

function failed(error: unknown): VideoNews {
  const { code, message } = isObject(error as JsonObject) ? (error as JsonObject) : {}
  return {
    state: 'failed',
    code: typeof code === 'string' ? code : 'video_generation_failed',
    message: typeof message === 'string' ? message : 'The vendor could not make this video.',
  }
}
