// The interface of a vendor of videos: a job is started, polled to its end, and its result fetched.

import type { JsonObject } from '../wire/ir.ts'
import { isObject } from '../wire/json/value.ts'
import type { JsonBody } from './base64.ts'
import {
  checkSuccess,
  type MediaAdapter,
  type MediaCall,
  MediaFault,
  type MediaTools,
  type Payload,
  type VendorCall,
  type VendorReply,
} from './media.ts'

/** One job, as the gateway has stored it. */
export interface VideoJob {
  /** The vendor's own name of the model. */
  readonly model: string
  /** The vendor's id of the job. */
  readonly handle: string
  /** Data that the adapter stores with the job. */
  readonly kept: JsonObject
  readonly seconds: number
  /** `WIDTHxHEIGHT`. */
  readonly size: string
}

interface VideoStarted {
  readonly handle: string
  readonly kept?: JsonObject
  readonly pollAfterMs?: number
}

export type VideoNews =
  | {
      readonly state: 'running'
      /** 0 to 99; absent where the vendor reports none. */
      readonly progress?: number
      /** The job is still queued. */
      readonly queued?: true
      readonly kept?: JsonObject
      readonly pollAfterMs?: number
    }
  | {
      readonly state: 'completed'
      /** Data to find the result; replaces what was stored before. */
      readonly kept?: JsonObject
      /** The seconds to charge, where they are fewer than requested. */
      readonly seconds?: number
      /** Unix milliseconds after which the vendor no longer has the result. */
      readonly expiresAt?: number
    }
  | { readonly state: 'failed'; readonly code: string; readonly message: string }

export const videoVariants = ['video', 'thumbnail', 'spritesheet'] as const
export type VideoVariant = (typeof videoVariants)[number]

/** A call that fetches the content, following redirects; or the content itself. */
type VideoContent = { readonly call: VendorCall } | { readonly payload: Payload }

/** Facts about a vendor's videos that are known before its code is loaded. */
export interface VendorVideos {
  readonly variants: readonly VideoVariant[]
  /** The vendor accepts OpenAI's own request and answers with OpenAI's object: its adapter has no `start`. */
  readonly startsPlainly?: true
  load(): Promise<VideoAdapter>
}

export interface VideoAdapter {
  /** Absent: see `startsPlainly`. Rejects like `MediaAdapter.serve`. */
  start?(call: MediaCall, tools: MediaTools): Promise<VideoStarted>
  /** Rejects with MediaFault where the vendor could not be reached; it is then polled again. */
  poll(job: VideoJob, tools: MediaTools): Promise<VideoNews>
  /** The content of a completed job, as one of the vendor's `variants`. */
  content(job: VideoJob, variant: VideoVariant, tools: MediaTools): Promise<VideoContent>
  /** Makes another video from a completed one. Absent: the vendor cannot. */
  remix?(job: VideoJob, prompt: string, tools: MediaTools): Promise<VideoStarted>
  /** Stops a running job; rejects with MediaFault where the vendor goes on with it. Absent: the vendor always does. */
  cancel?(job: VideoJob, tools: MediaTools): Promise<void>
  /** Removes an ended job with its result, or what the vendor has of it. Absent: the vendor offers no removal. */
  remove?(job: VideoJob, tools: MediaTools): Promise<void>
}

/** A field of the request with the job of the source video. Never set by a client: admission removes theirs. */
export const remixField = 'remixed_job'

/** Starts jobs in the vendor's own way; the answer is OpenAI's object, by which the gateway knows the job. */
export function videoStarts(videos: VendorVideos): MediaAdapter {
  return {
    adapts: ({ fields }) => !videos.startsPlainly || fields[remixField] !== undefined,
    async serve(call, tools) {
      const started = await startOf(await videos.load(), call, tools)
      const { handle, kept = {}, pollAfterMs = null } = started
      const body = JSON.stringify({ id: handle, kept, poll_after_ms: pollAfterMs })
      return { kind: 'plain', type: 'application/json', chunks: once(body) }
    },
  }
}

function startOf(videos: VideoAdapter, call: MediaCall, tools: MediaTools): Promise<VideoStarted> {
  const { [remixField]: source, prompt } = call.fields
  if (source !== undefined && videos.remix !== undefined)
    return videos.remix(source as unknown as VideoJob, String(prompt), tools)
  if (source !== undefined || videos.start === undefined)
    throw new MediaFault({ kind: 'rejected', message: 'This model cannot remix videos.' })
  return videos.start(call, tools)
}

async function* once(text: string): AsyncGenerator<Uint8Array> {
  yield new TextEncoder().encode(text)
}

/** The object in a successful reply. Throws MediaFault. */
export function successOf(reply: VendorReply, tools: MediaTools): JsonObject {
  checkSuccess(reply, tools)
  const body = reply.json()
  if (isObject(body)) return body
  throw new MediaFault({ kind: 'unreadable', message: 'the reply is no object' })
}

/** Posts JSON that may contain payloads, and returns the reply's object. Rejects with MediaFault. */
export async function postJson(
  tools: MediaTools,
  url: string,
  value: JsonObject,
  body: JsonBody,
): Promise<JsonObject> {
  return successOf(await tools.ask({ method: 'POST', url, body: body.segments(value) }), tools)
}

/** Returns the object in the reply to a poll. Rejects with MediaFault. */
export async function getJson(tools: MediaTools, url: string): Promise<JsonObject> {
  return successOf(await tools.ask({ method: 'GET', url }), tools)
}

/** Asks a vendor to remove something; that it is gone already is a success. Rejects with MediaFault. */
export async function removeAt(tools: MediaTools, call: VendorCall): Promise<void> {
  const reply = await tools.ask(call)
  if (reply.status !== 404) checkSuccess(reply, tools)
}

/** The content of a completed job at a URL of its own, which needs no key. */
export async function contentAtUrl({ kept }: VideoJob): Promise<VideoContent> {
  return { call: { method: 'GET', url: String(kept['url']), signed: false } }
}

/** An image for vendors that take a URL: its URL, or a `data:` URL of its bytes. */
export function addressIn(body: JsonBody, reference: Payload | string): string {
  return typeof reference === 'string' ? reference : body.hole(reference, 'address')
}

/** The end of a job without a video; `message`: the vendor's own, if it is a text. */
export function videoFailed(message: unknown, code: string): VideoNews {
  const said = typeof message === 'string' && message !== '' ? message : usualFailure
  return { state: 'failed', code, message: said }
}

const usualFailure = 'The vendor could not make this video.'

/** A JSON call below the channel's base address. */
export function jsonCall(url: string, body: JsonObject): VendorCall {
  return { method: 'POST', url, body: [new TextEncoder().encode(JSON.stringify(body))] }
}

/** The fields that most requests for videos share, as an adapter reads them. */
export function videoRequest(call: MediaCall) {
  const { prompt, seconds, size } = call.fields
  return {
    prompt: String(prompt),
    seconds: Number(seconds),
    ratio: ratioOf(String(size)),
    lines: linesOf(String(size)),
    reference: referenceOf(call),
  }
}

/** The image that a video begins with: uploaded bytes, or its URL (`https:`, `data:`); null: none. */
function referenceOf({ uploads, fields }: MediaCall): Payload | string | null {
  const upload = uploads.find(({ field }) => field === 'input_reference')
  if (upload !== undefined) return upload.payload
  const { input_reference: reference } = fields
  const url = isObject(reference) ? reference['image_url'] : undefined
  return typeof url === 'string' ? url : null
}

/** The nearest of the usual ratios to a size, such as `16:9`, `9:16` or `1:1`. */
function ratioOf(size: string): string {
  const [width = 1, height = 1] = size.split('x').map(Number)
  const ratio = width / height
  const known = [
    [16, 9],
    [9, 16],
    [1, 1],
    [4, 3],
    [3, 4],
    [3, 2],
    [2, 3],
  ] as const
  let best: readonly [number, number] = known[0]
  for (const each of known)
    if (Math.abs(ratio - each[0] / each[1]) < Math.abs(ratio - best[0] / best[1])) best = each
  return best.join(':')
}

/** A size's resolution by its shorter side: 1280x720 and 720x1280 both have 720 lines. */
function linesOf(size: string): number {
  return Math.min(...size.split('x').map(Number))
}
