// Builds a multipart form of texts and files (RFC 7578); files are read while they are sent.

import { Buffer } from 'node:buffer'
import { randomBytes } from 'node:crypto'
import type { Segment, Upload } from './media.ts'

export interface Form {
  readonly segments: readonly Segment[]
  readonly contentType: string
}

export type FormField = readonly [name: string, value: string]

export function multipart(
  fields: readonly FormField[],
  files: readonly Pick<Upload, 'field' | 'name' | 'payload'>[],
): Form {
  // Long enough not to occur in a file by chance.
  const boundary = `tollgate-${randomBytes(18).toString('hex')}`
  const segments: Segment[] = []
  for (const [name, value] of fields) {
    const head = `--${boundary}\r\nContent-Disposition: form-data; name="${quoted(name)}"\r\n\r\n`
    segments.push(Buffer.from(`${head}${value}\r\n`, 'utf8'))
  }
  for (const { field, name, payload } of files) {
    const named = `name="${quoted(field)}"; filename="${quoted(name)}"`
    const head = `--${boundary}\r\nContent-Disposition: form-data; ${named}\r\nContent-Type: ${payload.type}\r\n\r\n`
    segments.push(Buffer.from(head, 'utf8'), payload, Buffer.from('\r\n', 'latin1'))
  }
  segments.push(Buffer.from(`--${boundary}--\r\n`, 'latin1'))
  return { segments, contentType: `multipart/form-data; boundary=${boundary}` }
}

/** Escapes names as browsers do (WHATWG HTML, multipart/form-data encoding). */
function quoted(name: string): string {
  return name.replace(/\n/g, '%0A').replace(/\r/g, '%0D').replace(/"/g, '%22')
}
