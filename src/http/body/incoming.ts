// The content of a request to a model: JSON held in memory or a form whose files are spooled; counts the memory it
// takes.

import type { Spools } from '../../blobs/spool.ts'
import type { ServerSettings, UploadSettings } from '../../config/types.ts'
import { GatewayError } from '../../errors.ts'
import type { ClientRequest, FilesTaken } from '../../operations/operation.ts'
import type { Deadlines } from '../../relay/deadlines.ts'
import type { Media } from '../../relay/request.ts'
import type { Spool, Upload } from '../../vendors/media.ts'
import type { ClientDialect } from '../../wire/dialect.ts'
import type { FileInfo } from '../../wire/request.ts'
import type { Load } from '../load.ts'
import { boundaryOf } from './head.ts'
import { declaredLength, readBody } from './read.ts'
import { readForm } from './upload/read.ts'
import { fileRuleFor, formBoundFor } from './upload/rules.ts'

export interface BodyRooms {
  readonly server: ServerSettings
  readonly uploads: UploadSettings
  readonly load: Load
  readonly spools: Spools
  readonly deadlines: Deadlines
}

export interface Content {
  /** JSON: the client's own, or the text fields of its form. */
  readonly body: Uint8Array
  /** The files of a form; null: the body is no form. */
  readonly files: readonly FileInfo[] | null
  readonly media: Media | null
  /** Hashes of the files, so that repeated requests are recognized; empty unless asked for. */
  readonly digests: readonly string[]
}

const shortBytes = 65_536
const none: readonly string[] = []

export class Incoming {
  /** Bytes counted in `Load` for this request; -1: it has no place there. */
  private reservedBytes = -1
  /** The declared content length; null where the client declares none. */
  private length: number | null = null
  /** The boundary of a form; null: the body is JSON. */
  private boundary: string | null = null
  private spool: Spool | null = null
  private readonly rooms: BodyRooms
  private readonly dialect: ClientDialect
  /** The kind of files that the operation takes; null: it takes and returns text alone. */
  private readonly taken: FilesTaken | null
  private readonly request: ClientRequest

  constructor(
    rooms: BodyRooms,
    dialect: ClientDialect,
    taken: FilesTaken | null,
    request: ClientRequest,
  ) {
    this.rooms = rooms
    this.dialect = dialect
    this.taken = taken
    this.request = request
  }

  get heldBytes(): number {
    return Math.max(0, this.reservedBytes)
  }

  /** Whether the body is JSON short enough to read even though the request is refused. */
  get isShort(): boolean {
    return this.boundary === null && this.length !== null && this.length <= shortBytes
  }

  /** Whether it is JSON whose length the client does not state; known once the request has entered. */
  get isOfUnstatedLength(): boolean {
    return this.boundary === null && this.length === null
  }

  /** Checks the head and takes a place under way. Throws GatewayError. */
  enter(): void {
    const { server, uploads } = this.rooms
    const { dialect, request, taken } = this
    if (request.method === 'GET') return this.take(0, 0)
    this.boundary = formBoundary(dialect, request.headers.get('content-type'))
    const isForm = this.boundary !== null
    const maxBytes = isForm ? formBoundFor(dialect, taken, uploads) : server.maxBodyBytes
    const length = declaredLength(request, maxBytes)
    // A form's files are spooled to disk, so they take no memory.
    this.take(length, isForm ? 0 : (length ?? 0))
  }

  private take(length: number | null, bytes: number): void {
    this.rooms.load.enter(bytes, this.rooms.server)
    this.length = length
    this.reservedBytes = bytes
  }

  /** Counts more bytes held in memory. Throws GatewayError `service_unavailable` where there is no room. */
  readonly grow = (bytes: number): void => {
    this.rooms.load.grow(bytes, this.rooms.server)
    this.reservedBytes += bytes
  }

  /**
   * `hashes`: digests of the files are needed, to recognize a repeated request. Throws, or rejects with, GatewayError.
   */
  read(hashes: boolean): Content | Promise<Content> {
    const { boundary, request } = this
    if (boundary !== null) return this.readForm(boundary, hashes)
    return request.arrived == null ? this.readLater() : this.contentOf(request.arrived)
  }

  private async readLater(): Promise<Content> {
    const { server, deadlines } = this.rooms
    const { maxBodyBytes: maxBytes, bodyTimeoutMs: timeoutMs } = server
    const bounds = { maxBytes, timeoutMs, grow: this.grow }
    return this.contentOf(await readBody(this.request, this.length, bounds, deadlines))
  }

  private contentOf(body: Uint8Array): Content {
    // Compressed bytes begin otherwise; the header is looked up only then.
    if (body[0] !== openingBrace) checkEncoding(this.request.headers.get('content-encoding'))
    return { body, files: null, media: this.mediaOf([], false), digests: none }
  }

  private async readForm(boundary: string, hashes: boolean): Promise<Content> {
    const { rooms, request, dialect, taken } = this
    const { server, deadlines } = rooms
    const { body, uploads, digests } = await readForm(
      request,
      boundary,
      {
        fields: dialect.client.form ?? {},
        files: fileRuleFor(taken, rooms.uploads),
        spool: this.openSpool(),
        hashes,
        grow: this.grow,
      },
      { maxBytes: formBoundFor(dialect, taken, rooms.uploads), progressMs: server.bodyTimeoutMs },
      deadlines,
    )
    return { body, files: uploads.map(infoOf), media: this.mediaOf(uploads, true), digests }
  }

  /** Gives the place back; false where it was given back before. */
  leave(): boolean {
    if (this.reservedBytes < 0) return false
    this.rooms.load.leave(this.reservedBytes)
    this.reservedBytes = -1
    return true
  }

  /** For a request that never reaches the relay, which otherwise closes the spool when the reply has ended. */
  closeSpool(): void {
    this.spool?.close()
    this.spool = null
  }

  private mediaOf(uploads: readonly Upload[], isForm: boolean): Media | null {
    if (this.taken === null) return null
    const { passed } = this.rooms.spools
    return { isForm, uploads, passed, spool: this.openSpool() }
  }

  private openSpool(): Spool {
    this.spool ??= this.rooms.spools.open(this.rooms.uploads.maxSpoolBytes)
    return this.spool
  }
}

function infoOf({ field, name, payload, seconds }: Upload): FileInfo {
  return { field, name, type: payload.type, size: payload.size, seconds }
}

/** The boundary of a form; null: the body is JSON. Throws GatewayError for a content type the format does not take. */
function formBoundary(dialect: ClientDialect, type: string | null): string | null {
  const boundary = dialect.client.form === undefined ? null : boundaryOf(type)
  if (boundary !== null) return boundary
  if (dialect.client.formOnly) {
    throw new GatewayError(
      'unsupported_media_type',
      'The request body must be a form: send content-type: multipart/form-data.',
    )
  }
  checkContentType(type, dialect.client.form !== undefined)
  return null
}

/** Throws GatewayError for a body whose content type is not JSON. */
function checkContentType(type: string | null, takesForms = false): void {
  if (type === null || type.startsWith('application/json')) return
  if (/^application\/[\w.+-]*json\b/i.test(type)) return
  throw new GatewayError(
    'unsupported_media_type',
    `The request body must be JSON: send content-type: application/json${takesForms ? ', or multipart/form-data' : ''}.`,
  )
}

const openingBrace = 0x7b

/** Throws GatewayError for a compressed body. */
function checkEncoding(encoding: string | null): void {
  if (encoding === null || encoding === '' || encoding.toLowerCase() === 'identity') return
  throw new GatewayError(
    'unsupported_media_type',
    'The request body must not be compressed: send it without content-encoding.',
  )
}
