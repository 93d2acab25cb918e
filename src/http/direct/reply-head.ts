// Writes the head of a reply.

import { STATUS_CODES } from 'node:http'
import type { HttpReply } from '../reply.ts'

/** The characters a head may consist of. Values are checked for line ends apart: one would begin another field. */
const wellFormed = /^[\t\x20-\x7e\x80-\xff\r\n]*$/
const lineEnd = /[\r\n]/

let dateSecond = 0
let date = ''

/** The Date field (RFC 9110, section 6.6.1), formatted once a second. */
function dateField(): string {
  const second = Math.floor(Date.now() / 1000)
  if (second !== dateSecond) {
    dateSecond = second
    date = `date: ${new Date(second * 1000).toUTCString()}\r\n`
  }
  return date
}

/**
 * `framing`: the fields that say where the body ends, each with its line end. Throws Error where a field contains
 * characters that are not allowed.
 */
export function replyHead(
  { status = 200, fields }: HttpReply,
  framing: string,
  closes: boolean,
): string {
  let text = status === 200 ? 'HTTP/1.1 200 OK\r\n' : statusLine(status)
  for (const name in fields) {
    const value = fields[name] ?? ''
    if (lineEnd.test(value)) throw new Error(`the header ${name} of a reply has a line end`)
    text += `${name}: ${value}\r\n`
  }
  text += closes
    ? `${dateField()}${framing}connection: close\r\n\r\n`
    : `${dateField()}${framing}\r\n`
  if (!wellFormed.test(text)) throw new Error('a reply header contains invalid characters')
  return text
}

function statusLine(status: number): string {
  return `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n`
}
