// A form for a vendor that speaks OpenAI's format: the client's fields and files with the vendor's name of the model.

import { Buffer } from 'node:buffer'
import { randomBytes } from 'node:crypto'
import type { Segment, Upload } from '../../vendors/media.ts'
import type { Dialect, Peek } from '../../wire/dialect.ts'
import type { JsonValue } from '../../wire/ir.ts'
import { parsedObject } from '../parsed.ts'

export interface Form {
  readonly segments: readonly Segment[]
  readonly contentType: string
}

type Field = readonly [name: string, value: string]

/** A form of texts and files (RFC 7578); files are sent from where they lie. */
export function multipart(fields: readonly Field[], files: readonly Upload[]): Form {
  // Long enough to stand in no file by chance.
  const boundary = `tollgate-${randomBytes(18).toString('hex')}`
  const segments: Segment[] = []
  for (const [name, value] of fields) {
    const head = `--${boundary}\r\ncontent-disposition: form-data; name="${quoted(name)}"\r\n\r\n`
    segments.push(Buffer.from(`${head}${value}\r\n`, 'utf8'))
  }
  for (const { field, name, payload } of files) {
    const named = `name="${quoted(field)}"; filename="${quoted(name)}"`
    const head = `--${boundary}\r\ncontent-disposition: form-data; ${named}\r\ncontent-type: ${payload.type}\r\n\r\n`
    segments.push(Buffer.from(head, 'utf8'), payload, Buffer.from('\r\n', 'latin1'))
  }
  segments.push(Buffer.from(`--${boundary}--\r\n`, 'latin1'))
  return { segments, contentType: `multipart/form-data; boundary=${boundary}` }
}

/** The client's own form, told to another: OpenAI's names for lists are `name[]`. */
export function formOf(
  dialect: Dialect,
  peek: Peek,
  uploads: readonly Upload[],
  model: string,
): Form {
  const fields: Field[] = []
  for (const [name, value] of Object.entries(parsedObject(peek.body))) {
    const kind = Object.hasOwn(dialect.form ?? {}, name) ? dialect.form?.[name] : undefined
    if (name === 'model') fields.push([name, model])
    else if (Array.isArray(value) && (kind === 'list' || name.endsWith('[]')))
      for (const each of value) fields.push([kind === 'list' ? `${name}[]` : name, textOf(each)])
    else if (kind === 'json') fields.push(...membersOf(name, value))
    else if (value !== null && value !== undefined) fields.push([name, textOf(value)])
  }
  const files = uploads.map((upload) => {
    const several = uploads.filter(({ field }) => field === upload.field).length > 1
    return several ? { ...upload, field: `${upload.field}[]` } : upload
  })
  return multipart(fields, files)
}

/** As OpenAI's own clients write objects: `chunking_strategy[type]`. */
function membersOf(name: string, value: JsonValue | undefined): Field[] {
  if (value === null || value === undefined) return []
  if (typeof value !== 'object') return [[name, textOf(value)]]
  if (Array.isArray(value)) return value.flatMap((each) => membersOf(`${name}[]`, each))
  return Object.entries(value).flatMap(([key, each]) => membersOf(`${name}[${key}]`, each))
}

function textOf(value: JsonValue): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** As browsers write names (WHATWG HTML, multipart/form-data encoding). */
function quoted(name: string): string {
  return name.replace(/\n/g, '%0A').replace(/\r/g, '%0D').replace(/"/g, '%22')
}
