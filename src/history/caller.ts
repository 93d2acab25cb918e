// The id of a request, and what it tells about its sender: part of its record.

import { randomBytes } from 'node:crypto'
import type { ClientApplication } from './client-application.ts'

export interface Caller {
  /** The IP address it came from; null if the connection was gone already. */
  readonly address: string | null
  /** The client's own id of the request. */
  readonly requestId: string | null
  /** The `traceparent` header as received (W3C Trace Context), if well formed. */
  readonly traceparent: string | null
  /** The `tracestate` header, if there is a trace. */
  readonly tracestate?: string | null
  /** The application that sent it; null if it does not say. */
  readonly client: ClientApplication | null
  /** What the client labelled the request with, as received. */
  readonly tag?: string | null
}

const validTag = /^[\w.:/@+=-]{1,64}$/

/** Whether a label is short and plain enough for a list of choices and an address. */
export function isTag(label: string): boolean {
  return validTag.test(label)
}

/** The request's label; null if it has none, or none that is valid. */
export function tagOf({ tag }: Caller): string | null {
  return tag != null && isTag(tag) ? tag : null
}

/** The id of the trace that the request belongs to. */
export function traceIdOf({ traceparent }: Caller): string | null {
  return traceparent === null ? null : traceparent.slice(3, 35)
}

/** Distinguishes this process from all others, on this machine or another. */
const node = randomBytes(5).toString('hex')
let counter = 0

let lastAtMs = -1
let prefix = ''

/** `req_` and 28 hex digits: milliseconds, counter, node. */
export function newRequestId(atMs: number): string {
  if (atMs !== lastAtMs) {
    lastAtMs = atMs
    prefix = `req_${atMs.toString(16).padStart(12, '0')}`
  }
  counter = counter === 0xffffff ? 0 : counter + 1
  return `${prefix}${(counter + 0x1000000).toString(16).slice(1)}${node}`
}
