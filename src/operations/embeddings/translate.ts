// The translate path of embeddings and reranking: one JSON in, one JSON out, through their common form.

import { Buffer } from 'node:buffer'
import type { ReplySummary } from '../../billing/settlement.ts'
import type { AttemptPlan, EncodedRequest, RelayOperation } from '../../relay/operation.ts'
import { parsedObject } from '../../relay/parsed.ts'
import type { PathListener, ReplyPath } from '../../relay/path.ts'
import type { RelayRequest } from '../../relay/request.ts'
import type { Candidate } from '../../router/route.ts'
import { type ClientList, UnfitReply, type VendorList } from '../../wire/codec.ts'
import type { JsonValue } from '../../wire/ir.ts'
import { join } from '../../wire/json/splice.ts'
import { isFault } from '../../wire/list/fields.ts'
import type { ListRequest } from '../../wire/list/list.ts'
import type { Peek } from '../../wire/request.ts'

/** Room for many long vectors; a longer reply is refused. */
const maxBytes = 67_108_864

export const listRelay: RelayOperation = { isCostly: false, encode: encodedList }

/** Null where the client's own bytes are relayed, or either side has no list form. */
function encodedList(plan: AttemptPlan, own: Peek | null): EncodedRequest | null {
  const { rooms, request, candidate } = plan
  const client = request.dialect.client.list
  const vendor = rooms.dialects[candidate.dialect].vendor.list
  if (own !== null || client === undefined || vendor === undefined) return null
  const { value: list, dropped } = client.decodeRequest(
    parsedObject(request.peek.body),
    request.address,
  )
  const encoded = vendor.encodeRequest(list, candidate.model)
  const translation = { request, candidate, list, client, vendor }
  return {
    segments: [Buffer.from(JSON.stringify(encoded.value), 'utf8')],
    contentType: null,
    dropped: [...dropped, ...encoded.dropped],
    path: (listener) => new TranslatedList(translation, listener),
  }
}

interface ListTranslation {
  readonly request: RelayRequest
  readonly candidate: Candidate
  readonly list: ListRequest
  readonly client: ClientList
  readonly vendor: VendorList
}

class TranslatedList implements ReplyPath {
  summary: ReplySummary = { usage: null, outputBytes: 0, finishReason: null, model: null }
  readonly complete = false
  private readonly translation: ListTranslation
  private readonly listener: PathListener
  private readonly chunks: Uint8Array[] = []
  private byteCount = 0

  constructor(translation: ListTranslation, listener: PathListener) {
    this.translation = translation
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
    const { request, candidate, list, client, vendor } = this.translation
    const reply = vendor.readReply(body, list)
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
      id: request.dialect.client.idPrefix + request.requestId.slice(4),
      model: candidate.model,
      createdAt: Math.floor(request.at / 1000),
      wantsUsage: true,
    }
    try {
      const written = client.writeReply(reply, list, head)
      this.listener.answered(Buffer.from(JSON.stringify(written), 'utf8'), this.summary)
    } catch (error) {
      if (!(error instanceof UnfitReply)) throw error
      this.unreadable(error.message)
    }
  }

  /** Null: the vendor's bytes are not JSON, and the failure was reported. */
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
