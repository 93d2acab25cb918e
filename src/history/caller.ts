// How a request is named, and who sent it as far as it tells: part of its record.

import { randomBytes } from 'node:crypto'
import type { ClientApplication } from './client-application.ts'

export interface Caller {
  /** The address it came from; null where the connection was gone already. */
  readonly address: string | null
  /** What the client calls the request. */
  readonly requestId: string | null
  /** As it came (W3C Trace Context), well formed. */
  readonly traceparent: string | null
  /** What tracing systems say beside it, where there is a trace. */
  readonly tracestate?: string | null
  /** The application that sent it; null where it does not say. */
  readonly client: ClientApplication | null
}

/** Of the record: the trace that the request is part of. */
export function traceIdOf({ traceparent }: Caller): string | null {
  return traceparent === null ? null : traceparent.slice(3, 35)
}

/** Distinguishes this process from every other, on this machine or another. */
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
