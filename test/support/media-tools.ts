// The tools of an adapter without any connection: a function plays the vendor, and time passes at once.

import { expect } from 'bun:test'
import { Buffer } from 'node:buffer'
import {
  type ImagesReply,
  type MediaCall,
  MediaFault,
  type MediaTools,
  type Payload,
  type Spool,
  type Upload,
  type VendorCall,
  type VendorReply,
} from '../../src/vendors/media.ts'
import { vendors } from '../../src/vendors/registry.ts'
import { dialects } from '../../src/wire/dialects.ts'
import type { VendorDialectId } from '../../src/wire/formats.ts'
import type { JsonObject, JsonValue } from '../../src/wire/ir.ts'

/** A request as the vendor saw it. */
export interface PlayedRequest {
  readonly method: string
  readonly url: string
  readonly path: string
  readonly signed: boolean | undefined
  readonly headers: Readonly<Record<string, string>>
  readonly contentType: string
  readonly text: string
  /** The values of a JSON body. */
  readonly json: JsonObject
}

export type Answer =
  | { readonly status?: number; readonly json: unknown }
  | { readonly status?: number; readonly bytes: Uint8Array; readonly type: string }

export interface PlayedVendor {
  readonly baseUrl?: string
  answer(request: PlayedRequest, count: number): Answer
  /** The content at an address. */
  fetched?(url: string): Payload
}

export interface PlayedTools {
  readonly tools: MediaTools
  readonly requests: readonly PlayedRequest[]
  readonly fetched: readonly string[]
  readonly waitedMs: readonly number[]
}

export function payload(bytes: Uint8Array, type = 'image/png'): Payload {
  return { type, size: bytes.length, read: (start, end) => bytes.subarray(start, end) }
}

export function upload(field: string, bytes: Uint8Array, type = 'image/png'): Upload {
  return { field, name: `${field}.png`, payload: payload(bytes, type), seconds: null }
}

const spool: Spool = {
  keeper(type) {
    const chunks: Uint8Array[] = []
    return {
      push: (chunk) => void chunks.push(Uint8Array.from(chunk)),
      end: () => payload(Buffer.concat(chunks), type),
    }
  },
  inMemory: payload,
  close: () => undefined,
}

class Reply implements VendorReply {
  readonly status: number
  readonly payload: Payload

  constructor(answer: Answer) {
    this.status = answer.status ?? 200
    this.payload =
      'json' in answer
        ? payload(Buffer.from(JSON.stringify(answer.json)), 'application/json')
        : payload(answer.bytes, answer.type)
  }

  header(name: string): string | null {
    return name === 'content-type' ? this.payload.type : null
  }

  json(): JsonValue {
    return JSON.parse(Buffer.from(this.payload.read(0, this.payload.size)).toString()) as JsonValue
  }
}

function hear(call: VendorCall): PlayedRequest {
  const pieces = (call.body ?? []).map((each) =>
    each instanceof Uint8Array ? each : each.read(0, each.size),
  )
  const text = Buffer.concat(pieces).toString('latin1')
  const contentType = call.contentType ?? 'application/json'
  const { origin } = new URL(call.url)
  return {
    method: call.method,
    url: call.url,
    path: call.url.slice(origin.length),
    signed: call.signed,
    headers: Object.fromEntries(call.headers ?? []),
    contentType,
    text,
    json: text !== '' && contentType === 'application/json' ? JSON.parse(text) : {},
  }
}

/** Calls of one vendor, by its name in the configuration. */
export function playedTools(vendorId: string, played: PlayedVendor): PlayedTools {
  const vendor = vendors[vendorId]
  if (vendor === undefined) throw new Error(`no vendor ${vendorId}`)
  const baseUrl = played.baseUrl ?? vendor.baseUrl ?? 'https://vendor.example/v1'
  const requests: PlayedRequest[] = []
  const fetched: string[] = []
  const waitedMs: number[] = []
  const tools: MediaTools = {
    baseUrl,
    spool,
    nowMs: 1_700_000_000_000,
    addressOf: (dialect, model) =>
      vendor.address({ dialect, model, stream: false }, { baseUrl, key: 'k', options: {} }),
    async ask(call) {
      requests.push(hear(call))
      const last = requests.at(-1)
      if (last === undefined) throw new Error('nothing was heard')
      return new Reply(played.answer(last, requests.length))
    },
    open: () => Promise.reject(new Error('nothing is streamed here')),
    faultOf(reply) {
      const body = Buffer.from(reply.payload.read(0, reply.payload.size)).toString()
      const fault = dialects['openai-images'].vendor.fault(
        reply.status,
        (name) => reply.header(name),
        body,
      )
      return new MediaFault(vendor.quirks.refine?.(fault, reply.status, body) ?? fault)
    },
    async fetch(url) {
      fetched.push(url)
      if (played.fetched === undefined)
        throw new MediaFault({ kind: 'unreadable', message: 'nothing is there' })
      return played.fetched(url)
    },
    async wait(ms) {
      waitedMs.push(ms)
    },
  }
  return { tools, requests, fetched, waitedMs }
}

export function mediaCall(
  dialect: VendorDialectId,
  model: string,
  fields: JsonObject,
  uploads: readonly Upload[] = [],
): MediaCall {
  return { dialect, model, fields: { model: 'public', ...fields }, uploads, stream: false }
}

/** The vendor's adapter's result for a request for a cat. */
export async function servedImages(
  vendor: string,
  model: string,
  played: PlayedTools,
  fields: JsonObject,
  uploads: readonly Upload[] = [],
  dialect: 'openai-images' | 'openai-image-edits' = uploads.length > 0
    ? 'openai-image-edits'
    : 'openai-images',
): Promise<ImagesReply> {
  const adapter = vendors[vendor]?.adapters?.[dialect]
  const call = mediaCall(dialect, model, { prompt: 'a cat', ...fields }, uploads)
  const reply = await adapter?.serve(call, played.tools)
  if (reply?.kind !== 'images') throw new Error('these are no images')
  return reply
}

export function play(
  vendor: string,
  answer: (request: PlayedRequest, count: number) => Answer,
  baseUrl?: string,
) {
  return playedTools(vendor, { answer, ...(baseUrl !== undefined && { baseUrl }) })
}

export function bytesOf({ images }: ImagesReply): (Buffer | null)[] {
  return images.map(({ payload }) =>
    payload === undefined ? null : Buffer.from(payload.read(0, payload.size)),
  )
}

/** The fault of a request that violates a vendor's rules. */
export const moderatedFault = (message: RegExp) => ({
  fault: {
    kind: 'rejected',
    code: 'content_policy_violation',
    message: expect.stringMatching(message),
  },
})
