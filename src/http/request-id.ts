// Names each request: unique across nodes, growing with time so that stores keep them in order.

import { randomBytes } from 'node:crypto'

/** Distinguishes this process from every other, on this machine or another. */
const node = randomBytes(6).toString('hex')
let counter = 0

/** `req_` and 28 hex digits: milliseconds, node, counter. */
export function newRequestId(atMs: number): string {
  counter = (counter + 1) % 0x1000000
  return `req_${atMs.toString(16).padStart(12, '0')}${(counter + 0x1000000).toString(16).slice(1)}${node.slice(0, 10)}`
}
