// A vendor that makes videos: begun as a job, asked for until it ends, and then fetched from.

import type { JsonObject } from '../wire/ir.ts'
import { isObject } from '../wire/json/value.ts'
import type { JsonBody } from './base64.ts'
import {
  type MediaAdapter,
  type MediaCall,
  MediaFault,
  type MediaTools,
  type Payload,
  type VendorCall,
  type VendorReply,
} from './media.ts'

/** One job, as the gateway has kept it. */
export interface VideoJob {
  /** The vendor's own name of the model. */
  readonly model: string
  /** The vendor's name of the job. */
  readonly handle: string
  /** What the adapter wanted to remember of it. */
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
      /** 0 to 99; absent where the vendor does not say. */
      readonly progress?: number
      /** Still waits for its turn. */
      readonly queued?: true
      readonly kept?: JsonObject
      readonly pollAfterMs?: number
    }
  | {
      readonly state: 'completed'
      /** What finds the result; takes the place of what was kept before. */
      readonly kept?: JsonObject
      /** What it is charged for, where that is less than was asked. */
      readonly seconds?: number
      /** Unix milliseconds after which the vendor has it no more. */
      readonly expiresAt?: number
    }
  | { readonly state: 'failed'; readonly code: string; readonly message: string }

export const videoVariants = ['video', 'thumbnail', 'spritesheet'] as const
export type VideoVariant = (typeof videoVariants)[number]

/** What is fetched as the call says, following redirects; or what is here already. */
type VideoContent = { readonly call: VendorCall } | { readonly payload: Payload }

/** What is known of a vendor's videos before the code that makes them is loaded. */
export interface VendorVideos {
  readonly variants: readonly VideoVariant[]
  /** The vendor takes OpenAI's own request, and answers with OpenAI's object: its adapter has no `start`. */
  readonly startsPlainly?: true
  load(): Promise<VideoAdapter>
}

export interface VideoAdapter {
  /** Absent: see `startsPlainly`. Rejects as `MediaAdapter.serve`. */
  start?(call: MediaCall, tools: MediaTools): Promise<VideoStarted>
  /** Rejects with MediaFault where the vendor could not be reached; it is then asked again. */
  poll(job: VideoJob, tools: MediaTools): Promise<VideoNews>
  /** One of the vendor's `variants`, of a job that was completed. */
  content(job: VideoJob, variant: VideoVariant, tools: MediaTools): Promise<VideoContent>
  /** Another video from one that was completed. Absent: the vendor has no such thing. */
  remix?(job: VideoJob, prompt: string, tools: MediaTools): Promise<VideoStarted>
  /** Nobody wants the job or its result any more. */
  remove?(job: VideoJob, tools: MediaTools): Promise<void>
}

/** In a request: the job of the video it is to be made from. Never a client's: theirs is removed at admission. */
export const remixField = 'remixed_job'

/** Begins jobs in the vendor's own way; what comes back is put as OpenAI's object, by which the gateway knows the job. */
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

/** What a vendor answered with a success, as an object. Throws MediaFault. */
export function successOf(reply: VendorReply, tools: MediaTools): JsonObject {
  if (reply.status < 200 || reply.status >= 300) throw tools.faultOf(reply)
  const body = reply.json()
  if (isObject(body)) return body
  throw new MediaFault({ kind: 'unreadable', message: 'the reply is no object' })
}

/** What a vendor answers to JSON in which payloads may stand. Rejects with MediaFault. */
export async function postJson(
  tools: MediaTools,
  url: string,
  value: JsonObject,
  body: JsonBody,
): Promise<JsonObject> {
  return successOf(await tools.ask({ method: 'POST', url, body: body.segments(value) }), tools)
}

/** What a vendor answers to a question after its job. Rejects with MediaFault. */
export async function getJson(tools: MediaTools, url: string): Promise<JsonObject> {
  return successOf(await tools.ask({ method: 'GET', url }), tools)
}

/** The content of a job that was completed at an address of its own, which takes no key. */
export async function contentAtUrl({ kept }: VideoJob): Promise<VideoContent> {
  return { call: { method: 'GET', url: String(kept['url']), signed: false } }
}

/** An image as vendors take it that fetch it themselves: its address, or all of it as one. */
export function addressIn(body: JsonBody, reference: Payload | string): string {
  return typeof reference === 'string' ? reference : body.hole(reference, 'address')
}

/** A job's end without a video; `message` is the vendor's own word, where it is one. */
export function videoFailed(message: unknown, code: string): VideoNews {
  const said = typeof message === 'string' && message !== '' ? message : usualFailure
  return { state: 'failed', code, message: said }
}

const usualFailure = 'The vendor could not make this video.'

/** A JSON call below the channel's base address. */
export function jsonCall(url: string, body: JsonObject): VendorCall {
  return { method: 'POST', url, body: [new TextEncoder().encode(JSON.stringify(body))] }
}

/** What is common to most requests for videos, by what the fields are to an adapter. */
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

/** The image a video is to begin with: bytes of a form, or where it is (`https:`, `data:`); null: none. */
function referenceOf({ uploads, fields }: MediaCall): Payload | string | null {
  const upload = uploads.find(({ field }) => field === 'input_reference')
  if (upload !== undefined) return upload.payload
  const { input_reference: reference } = fields
  const url = isObject(reference) ? reference['image_url'] : undefined
  return typeof url === 'string' ? url : null
}

/** `16:9`, `9:16`, `1:1`: the ratio of a size, reduced; near ones are taken for them. */
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

/** Lines of a size, as resolutions are named: 1280x720 and 720x1280 have 720. */
function linesOf(size: string): number {
  return Math.min(...size.split('x').map(Number))
}
