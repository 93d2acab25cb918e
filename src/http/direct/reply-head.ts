// Puts the head of a reply into text.

import { STATUS_CODES } from 'node:http'
import type { HttpReply } from '../reply.ts'

/** What a field may say: a line end in one would begin another. */
const wellFormed = /^[\t\x20-\x7e\x80-\xff\r\n]*$/
const lineEnd = /[\r\n]/

let dateSecond = 0
let date = ''

/** RFC 9110, section 6.6.1; made anew once a second. */
function dateField(): string {
  const second = Math.floor(Date.now() / 1000)
  if (second !== dateSecond) {
    dateSecond = second
    date = `date: ${new Date(second * 1000).toUTCString()}\r\n`
  }
  return date
}

/**
 * `framing`: the fields that say where the body ends, each with its line end. Throws Error where a field has what no
 * field may have.
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
  if (!wellFormed.test(text)) throw new Error('a header of a reply is no text')
  return text
}

function statusLine(status: number): string {
  return `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n`
}
