// Shared by the adapters of image vendors: reads requests, obtains given images, and polls jobs.

import { type FaultKind, invalidRequest } from '../errors.ts'
import type { JsonObject, JsonValue } from '../wire/ir.ts'
import { isObject, listOf, objectOf, text, wholeNumber } from '../wire/json/value.ts'
import { imageType, JsonBody, Lifted } from './base64.ts'
import {
  checkSuccess,
  type MediaCall,
  MediaFault,
  type MediaTools,
  type Payload,
  type Picture,
  type VendorCall,
  type VendorReply,
} from './media.ts'

/** The fields that all requests for images share, as an adapter reads them. */
export interface ImageRequest {
  readonly prompt: string
  readonly count: number
  /** `WIDTHxHEIGHT`; null: the model decides. */
  readonly size: string | null
  readonly width: number | null
  readonly height: number | null
  readonly format: string | null
  /** A vendor-specific ratio; a size takes precedence over it. */
  readonly ratio: string | null
  readonly seed: number | null
}

export function imageRequest({ fields }: MediaCall): ImageRequest {
  const size = text(fields['size'])
  const [, width, height] = /^(\d+)x(\d+)$/.exec(size ?? '') ?? []
  return {
    prompt: text(fields['prompt']) ?? '',
    count: wholeNumber(fields['n'], 1) ?? 1,
    size: width === undefined ? null : size,
    width: width === undefined ? null : Number(width),
    height: height === undefined ? null : Number(height),
    format: text(fields['output_format']),
    ratio: text(fields['aspect_ratio']),
    seed: wholeNumber(fields['seed'], 0),
  }
}

/** Fields that every vendor or the gateway itself handles. */
const commonFields: ReadonlySet<string> = new Set([
  ...['model', 'prompt', 'n', 'size', 'response_format', 'stream', 'image', 'images', 'mask'],
  ...['aspect_ratio', 'seed'],
])

/** Names of the fields that the client set and the vendor is not sent, except values that change nothing. */
export function droppedFields(
  { fields }: MediaCall,
  sent: readonly string[] = [],
): readonly string[] {
  return Object.entries(fields)
    .filter(([, value]) => value !== null && value !== 'auto')
    .map(([name]) => name)
    .filter((name) => !commonFields.has(name) && !sent.includes(name))
}

/** Throws `invalid_request_error` for a vendor that cannot make transparent images: it would make another image. */
export function refuseTransparent({ fields }: MediaCall): void {
  if (fields['background'] !== 'transparent') return
  throw invalidRequest('This model makes no transparent backgrounds.', 'background')
}

export interface GivenImages {
  readonly images: readonly Payload[]
  readonly mask: Payload | null
}

/** The images of an edit, uploaded or fetched from the URLs in the request. Throws `invalid_request_error`. */
export async function givenImages(call: MediaCall, tools: MediaTools): Promise<GivenImages> {
  const { fields, uploads } = call
  const images = uploads.filter(({ field }) => field === 'image').map(({ payload }) => payload)
  const mask = uploads.find(({ field }) => field === 'mask')?.payload ?? null
  if (images.length > 0) return { images, mask }
  const named = listOf(fields['images'])
  const had: Payload[] = []
  for (const [at, each] of named.entries()) had.push(await imageNamed(each, `images[${at}]`, tools))
  const { mask: namedMask } = fields
  return {
    images: had,
    mask: isObject(namedMask) ? await imageNamed(namedMask, 'mask', tools) : null,
  }
}

/** The image behind an `image_url`; `param` is the field's name, for errors. Throws `invalid_request_error`. */
export async function imageNamed(
  value: JsonValue,
  param: string,
  tools: MediaTools,
): Promise<Payload> {
  const url = isObject(value) ? text(value['image_url']) : null
  const named = `${param}.image_url`
  if (url === null) throw invalidRequest(`${named} is required`, named)
  const payload = url.startsWith('data:')
    ? inlined(url, named, tools)
    : await fetched(url, named, tools)
  if (payload.type.startsWith('image/')) return payload
  throw invalidRequest(`${named} is not an image`, named)
}

function inlined(url: string, param: string, tools: MediaTools): Payload {
  const comma = url.indexOf(',')
  try {
    const bytes = Uint8Array.fromBase64(url.slice(comma + 1))
    const said = /^data:([\w.+/-]+)/.exec(url)?.[1] ?? ''
    return tools.spool.inMemory(bytes, imageType(bytes) ?? said.toLowerCase())
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    throw invalidRequest(`${param} does not contain base64`, param)
  }
}

async function fetched(url: string, param: string, tools: MediaTools): Promise<Payload> {
  try {
    return await tools.fetch(url)
  } catch (error) {
    // The client named the URL, so this is not the vendor's fault.
    if (!(error instanceof MediaFault) || error.fault.kind !== 'unreadable') throw error
    throw invalidRequest(`${param} cannot be fetched: ${error.fault.message}`, param)
  }
}

/** Rounds of calls that may all be refused, after one that was not. */
const mostIdleRounds = 5
/** A vendor that says to wait longer is not asked again. */
const mostRetryAfterMs = 60_000

/**
 * Repeats a call as often as the client wants images, for vendors that make one image per call. Where a vendor's rate
 * limit refuses some of them, those are made later: the images there are must not be lost, or made again elsewhere.
 */
export async function times<T>(
  tools: MediaTools,
  count: number,
  work: (index: number) => Promise<T>,
): Promise<T[]> {
  const made = new Map<number, T>()
  let left = Array.from({ length: count }, (_, index) => index)
  for (let idleRounds = 0; ; ) {
    const before = made.size
    const ends = await Promise.allSettled(
      left.map(async (index) => void made.set(index, await work(index))),
    )
    if (made.size === count) return inOrder(made)
    const errors = ends.flatMap((end) => (end.status === 'rejected' ? [end.reason as unknown] : []))
    const waitMs = errors.map(repeatableAfter).reduce(longest)
    idleRounds = made.size > before ? 0 : idleRounds + 1
    if (waitMs === null || made.size === 0 || idleRounds > mostIdleRounds) {
      const error = errors.find((each) => repeatableAfter(each) === null) ?? errors[0]
      throw made.size === 0 ? error : partlyDone(error)
    }
    left = left.filter((index) => !made.has(index))
    await tools.wait(Math.max(waitMs, Math.min(longestWaitMs, firstWaitMs * 2 ** idleRounds)))
  }
}

function inOrder<T>(made: ReadonlyMap<number, T>): T[] {
  return [...made].sort(([one], [other]) => one - other).map(([, each]) => each)
}

/** How long to wait before a call that failed so is repeated; null: it is not. */
function repeatableAfter(error: unknown): number | null {
  if (!(error instanceof MediaFault) || error.fault.kind !== 'rate_limited') return null
  const { retryAfterMs = 0 } = error.fault
  return retryAfterMs > mostRetryAfterMs ? null : retryAfterMs
}

function longest(one: number | null, other: number | null): number | null {
  return one === null || other === null ? null : Math.max(one, other)
}

/** For steps that follow the vendor's work. */
export async function afterWork<T>(step: () => Promise<T>): Promise<T> {
  try {
    return await step()
  } catch (error) {
    throw partlyDone(error)
  }
}

/** The vendor has done some of the work, and may bill it: no other is asked for the whole. */
function partlyDone(error: unknown): unknown {
  return error instanceof MediaFault ? new MediaFault({ ...error.fault, worked: true }) : error
}

/** Sends JSON and reads the reply. Rejects with MediaFault where it is not a success. */
export async function askJson(
  tools: MediaTools,
  call: Omit<VendorCall, 'method' | 'body'>,
  value: JsonObject,
  body = new JsonBody(),
): Promise<Lifted> {
  const reply = await tools.ask({ ...call, method: 'POST', body: body.segments(value) })
  return read(reply, tools)
}

/** Throws, or rejects with, MediaFault where the reply is not a success or not JSON. */
export function read(reply: VendorReply, tools: MediaTools): Promise<Lifted> {
  checkSuccess(reply, tools)
  return Lifted.of(reply.payload, tools.spool, () => tools.wait(0))
}

const firstWaitMs = 500
const longestWaitMs = 5_000

/**
 * Polls a job until it has ended: soon at first, then less and less often. The attempt's own timer ends a job that
 * never ends.
 */
export async function untilDone<T>(tools: MediaTools, look: () => Promise<T | null>): Promise<T> {
  for (let waitMs = firstWaitMs; ; waitMs = Math.min(longestWaitMs, waitMs * 1.3)) {
    await tools.wait(waitMs)
    const found = await look()
    if (found !== null) return found
  }
}

/** Of a poll that was not answered, or not in full: the vendor goes on with the job, and bills it. */
const unanswered: ReadonlySet<FaultKind> = new Set(['unreachable', 'timeout', 'reset', 'cut'])

/** Polls a job once; null for a temporary error, which says nothing about the job. */
export async function lookAfter(
  tools: MediaTools,
  call: Omit<VendorCall, 'method'>,
): Promise<JsonObject | null> {
  try {
    const reply = await tools.ask({ ...call, method: 'GET' })
    if (reply.status === 429 || reply.status >= 500) return null
    return objectOf((await read(reply, tools)).json)
  } catch (error) {
    if (error instanceof MediaFault && unanswered.has(error.fault.kind)) return null
    throw partlyDone(error)
  }
}

/** The fault of a vendor that accepted the job and could not do it. */
export function failed(message: string): MediaFault {
  return new MediaFault({ kind: 'vendor_error', message })
}

export function unreadable(message: string): MediaFault {
  return new MediaFault({ kind: 'unreadable', message })
}

/** A text that the vendor's reply must have. Throws MediaFault with `missing` where it does not. */
export function needed(value: JsonValue | undefined, missing: string): string {
  const found = text(value)
  if (found === null) throw unreadable(missing)
  return found
}

/** The URL of a job, which must be at the vendor's own origin, because the key is sent there. Throws MediaFault. */
export function jobAddress(value: JsonValue | undefined, { baseUrl }: MediaTools): string {
  const address = needed(value, 'the job has no address')
  if (!URL.canParse(address)) throw unreadable('the job has no address')
  if (new URL(address).origin === new URL(baseUrl).origin) return address
  throw unreadable("the job's URL is on another host than the vendor's")
}

/** An image of a reply in OpenAI's form, whether it is base64 or a URL. */
export function pictureIn(value: JsonValue, lifted: Lifted): Picture {
  const { b64_json, url, revised_prompt } = objectOf(value)
  const revisedPrompt = text(revised_prompt)
  const revised = revisedPrompt === null ? {} : { revisedPrompt }
  const payload = lifted.bytesAt(b64_json)
  if (payload !== null) return { payload, ...revised }
  return { ...placed(url, lifted), ...revised }
}

/** An image behind a URL, or inside a `data:` URL. */
export function placed(url: JsonValue | undefined, lifted: Lifted): Picture {
  const address = text(url)
  if (address === null) throw unreadable('an image without its bytes or its address')
  if (/^https?:/i.test(address) && URL.canParse(address)) return { url: address }
  const payload = lifted.bytesAt(address)
  if (payload === null) throw unreadable('an image without its bytes')
  return { payload }
}
