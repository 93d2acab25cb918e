// Sorts the parts of a form: its text fields become one JSON object, its files go to the spool.

import { Buffer } from 'node:buffer'
import { createHash, type Hash } from 'node:crypto'
import { GatewayError, invalidRequest } from '../../../errors.ts'
import {
  type Keeper,
  MediaFault,
  type Payload,
  type Spool,
  type Upload,
} from '../../../vendors/media.ts'
import { durationOf } from '../../../wire/media/duration.ts'
import { sniffedType } from '../../../wire/media/sniff.ts'
import type { FormFields } from '../../../wire/request.ts'
import { FieldTexts } from './fields.ts'
import type { PartHead, PartSink } from './multipart.ts'
import { type FileRule, namedAs } from './rules.ts'

export interface FormOptions {
  readonly fields: FormFields
  readonly files: FileRule
  readonly spool: Spool
  /** Whether files are hashed, so that repeated requests are recognized. */
  readonly hashes: boolean
  /** Called with bytes that are held in memory; may throw. */
  grow(bytes: number): void
}

export interface Form {
  /** The text fields as one JSON object. */
  readonly body: Uint8Array
  readonly uploads: readonly Upload[]
  /** One hash per file, of its name and bytes; empty unless asked for. */
  readonly digests: readonly string[]
}

/** Most bytes of each file held in memory; the spool uses the same bound. */
const heldBytes = 65_536
const maxTextBytes = 65_536
const maxPromptBytes = 131_072
const maxTextsBytes = 1_048_576

/** A file part that is being received. */
interface FilePart {
  readonly field: string
  readonly head: PartHead
  readonly keeper: Keeper
  readonly hash: Hash | null
  bytes: number
}

interface TextPart {
  readonly name: string
  readonly maxBytes: number
  readonly chunks: Uint8Array[]
  bytes: number
}

/** Throws nothing but GatewayErrors that name the field. */
export class FormSorter implements PartSink {
  private readonly options: FormOptions
  private readonly texts: FieldTexts
  private readonly uploads: Upload[] = []
  private readonly digests: string[] = []
  private file: FilePart | null = null
  private text: TextPart | null = null
  private textsBytes = 0

  constructor(options: FormOptions) {
    this.options = options
    this.texts = new FieldTexts(options.fields)
  }

  begin(head: PartHead): void {
    const field = this.texts.baseOf(head.name)
    const kind = this.texts.kindOf(field)
    const takesFiles = kind === 'file' || kind === 'files'
    if (head.fileName === null) {
      if (takesFiles) throw invalidRequest(`${field} must be a file`, field)
      this.text = { name: head.name, maxBytes: textBound(field, kind), chunks: [], bytes: 0 }
      return
    }
    if (kind === null) throw invalidRequest(this.unknownFile(head.name), head.name)
    if (!takesFiles) throw invalidRequest(`${field} must be text, not a file`, field)
    if (kind === 'file' && this.uploads.some((upload) => upload.field === field))
      throw invalidRequest(`${field} may be given only once`, field)
    const keeper = this.options.spool.keeper(head.type)
    const hash = this.options.hashes ? createHash('sha256') : null
    this.file = { field, head, keeper, hash, bytes: 0 }
  }

  bytes(chunk: Uint8Array): void {
    if (this.file !== null) this.fileBytes(this.file, chunk)
    else if (this.text !== null) this.textBytes(this.text, chunk)
  }

  end(): void {
    if (this.file !== null) this.endFile(this.file)
    else if (this.text !== null) this.texts.add(this.text.name, decoded(this.text))
    this.file = null
    this.text = null
  }

  /** The result, once the form has ended. */
  form(): Form {
    const body = Buffer.from(JSON.stringify(this.texts.object()), 'utf8')
    return { body, uploads: this.uploads, digests: this.digests }
  }

  private fileBytes(file: FilePart, chunk: Uint8Array): void {
    const { files, grow } = this.options
    const held = Math.min(chunk.length, heldBytes - file.bytes)
    if (held > 0) grow(held)
    file.bytes += chunk.length
    if (file.bytes > files.maxBytes) {
      const message = `${file.field} is larger than ${files.maxBytes} bytes (${files.setting}).`
      throw new GatewayError('request_too_large', message, { param: file.field })
    }
    file.hash?.update(chunk)
    roomFor(() => file.keeper.push(chunk))
  }

  private textBytes(text: TextPart, chunk: Uint8Array): void {
    text.bytes += chunk.length
    this.textsBytes += chunk.length
    if (text.bytes > text.maxBytes) throw textTooLarge(text.name, text.maxBytes)
    if (this.textsBytes > maxTextsBytes) {
      const message = `The text fields of the form are larger than ${maxTextsBytes} bytes together.`
      throw new GatewayError('request_too_large', message, { param: text.name })
    }
    this.options.grow(chunk.length)
    text.chunks.push(chunk)
  }

  private endFile({ field, head, keeper, hash, bytes }: FilePart): void {
    const { files } = this.options
    if (bytes === 0) throw invalidRequest(`${field} is empty`, field)
    const kept = roomFor(() => keeper.end())
    const type = shownType(kept, head.type)
    if (type === null || !files.types.has(type)) {
      const found = type === null ? 'is none of them' : `is ${type}`
      throw invalidRequest(`${field} must be one of ${files.names}; this file ${found}`, field)
    }
    const payload = ofType(kept, type)
    const seconds = type.startsWith('image/') ? null : durationOf(payload, type)
    const name = namedAs(type, head.fileName ?? '', field)
    this.uploads.push({ field, name, payload, seconds })
    if (hash !== null) this.digests.push(`${field}\0${name}\0${hash.digest('hex')}`)
  }

  private unknownFile(name: string): string {
    const names = Object.entries(this.options.fields)
      .filter(([, kind]) => kind === 'file' || kind === 'files')
      .map(([field]) => field)
    return `${name} is no field for a file; files are taken in ${names.join(', ')}`
  }
}

function textBound(field: string, kind: FormFields[string] | null): number {
  if (kind === 'list') return maxTextsBytes
  return field === 'prompt' ? maxPromptBytes : maxTextBytes
}

function textTooLarge(name: string, maxBytes: number): GatewayError {
  const message = `${name} is larger than ${maxBytes} bytes.`
  return new GatewayError('request_too_large', message, { param: name })
}

/** The media type the bytes show. Video containers may hold sound alone: there the client's declared type decides. */
function shownType(payload: Payload, said: string): string | null {
  const type = sniffedType(payload)
  if (type === null || !said.startsWith('audio/')) return type
  return type.replace(/^video\/(webm|mp4)$/, 'audio/$1')
}

function ofType(payload: Payload, type: string): Payload {
  const { size } = payload
  return { type, size, read: (start, end, into) => payload.read(start, end, into) }
}

function decoded({ name, chunks }: TextPart): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.concat(chunks))
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    throw invalidRequest(`${name} is not valid UTF-8`, name)
  }
}

/** Turns a full disk into a refusal that does not blame the client. */
function roomFor<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (!(error instanceof MediaFault)) throw error
    throw new GatewayError(
      'service_unavailable',
      'The gateway has no room for uploads at present; retry shortly.',
      { retryAfterMs: 1_000 },
    )
  }
}
