// Names each request: unique across nodes, growing with time so that stores keep them in order.

import { randomBytes } from 'node:crypto'

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
