// The translate path of embeddings and reranking: one JSON in, one JSON out, through their common form.

import { Buffer } from 'node:buffer'
import type { ReplySummary } from '../../billing/settlement.ts'
import { invalidRequest } from '../../errors.ts'
import { parsedObject } from '../../relay/parsed.ts'
import type { PathListener, ReplyPath } from '../../relay/path.ts'
import type { RelayRequest, RelayRooms } from '../../relay/request.ts'
import type { Candidate } from '../../router/route.ts'
import type { ListCodec } from '../../wire/codec.ts'
import type { Dialect } from '../../wire/dialect.ts'
import type { JsonValue } from '../../wire/ir.ts'
import { join } from '../../wire/json/splice.ts'
import { isFault } from '../../wire/list/fields.ts'
import type { ListRequest } from '../../wire/list/list.ts'
import { BadVector } from '../../wire/openai-embeddings/vectors.ts'

/** Many long vectors; past it the reply is given up. */
const maxBytes = 67_108_864

export interface EncodedList {
  readonly segments: readonly Uint8Array[]
  readonly dropped: readonly string[]
  readonly list: ListRequest
}

/** null where either side has other operations. Throws GatewayError where it cannot be said to the vendor. */
export function encodedList(
  rooms: RelayRooms,
  request: RelayRequest,
  candidate: Candidate,
): EncodedList | null {
  const codecs = codecsOf(rooms, request.dialect, candidate)
  if (codecs === null) return null
  const { value, dropped } = codecs.client.decodeRequest(
    parsedObject(request.peek.body),
    request.address,
  )
  const encoded = codecs.vendor.encodeRequest(value, candidate.model)
  const bytes = Buffer.from(JSON.stringify(encoded.value), 'utf8')
  return { segments: [bytes], dropped: [...dropped, ...encoded.dropped], list: value }
}

function codecsOf(rooms: RelayRooms, dialect: Dialect, candidate: Candidate) {
  const client = dialect.list
  const vendor = rooms.dialects[candidate.dialect].list
  return client === undefined || vendor === undefined ? null : { client, vendor }
}

export interface ListTranslation {
  readonly rooms: RelayRooms
  readonly request: RelayRequest
  readonly candidate: Candidate
  readonly list: ListRequest
}

export function listPath(translation: ListTranslation, listener: PathListener): ReplyPath {
  const { rooms, request, candidate } = translation
  const codecs = codecsOf(rooms, request.dialect, candidate)
  if (codecs === null) throw invalidRequest('This model cannot be used on this endpoint.', 'model')
  return new TranslatedList(translation, codecs, listener)
}

class TranslatedList implements ReplyPath {
  summary: ReplySummary = { usage: null, outputBytes: 0, finishReason: null, model: null }
  readonly complete = false
  private readonly translation: ListTranslation
  private readonly codecs: { readonly client: ListCodec; readonly vendor: ListCodec }
  private readonly listener: PathListener
  private readonly chunks: Uint8Array[] = []
  private byteCount = 0

  constructor(
    translation: ListTranslation,
    codecs: { readonly client: ListCodec; readonly vendor: ListCodec },
    listener: PathListener,
  ) {
    this.translation = translation
    this.codecs = codecs
    this.listener = listener
  }

  bytes(chunk: Uint8Array): void {
    this.chunks.push(chunk)
    this.byteCount += chunk.length
    if (this.byteCount > maxBytes) this.unreadable('the reply is too long')
  }

  end(): void {
    const body = this.parsed()
    if (body === null) return
    const { request, candidate, list } = this.translation
    const reply = this.codecs.vendor.readReply(body, list)
    if (isFault(reply)) {
      this.listener.failed(reply)
      return
    }
    if (list.query === undefined && reply.vectors.length !== list.texts.length) {
      this.unreadable(`${reply.vectors.length} vectors for ${list.texts.length} texts`)
      return
    }
    const { usage, unbelieved = false, searches } = reply
    const model = reply.model ?? candidate.model
    const units = searches !== undefined && { units: { search: searches } }
    this.summary = { usage, unbelieved, outputBytes: 0, finishReason: null, model, ...units }
    const head = {
      id: request.dialect.idPrefix + request.requestId.slice(4),
      model: candidate.model,
      createdAt: Math.floor(request.at / 1000),
      wantsUsage: true,
    }
    try {
      const written = this.codecs.client.writeReply(reply, list, head)
      this.listener.answered(Buffer.from(JSON.stringify(written), 'utf8'), this.summary)
    } catch (error) {
      if (!(error instanceof BadVector)) throw error
      this.unreadable(`a vector of the reply: ${error.message}`)
    }
  }

  /** null: the vendor's bytes are no JSON, as was told. */
  private parsed(): JsonValue | null {
    try {
      return JSON.parse(Buffer.from(join(this.chunks)).toString('utf8')) as JsonValue
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error
      this.unreadable('the reply is not JSON')
      return null
    }
  }

  private unreadable(message: string): void {
    this.listener.failed({ kind: 'unreadable', message })
  }
}
