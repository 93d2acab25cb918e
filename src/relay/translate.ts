// The translate path: a request is decoded once into the hub and encoded for the vendor; its reply comes back likewise.

import { Buffer } from 'node:buffer'
import { shownCost } from '../billing/charging-policy.ts'
import type { ReplySummary } from '../billing/settlement.ts'
import { type GatewayError, invalidRequest } from '../errors.ts'
import type { Candidate } from '../router/route.ts'
import {
  type ClientHub,
  type Decoded,
  type Reader,
  type ReplyContext,
  UnfitReply,
  type VendorHub,
  type Writer,
} from '../wire/codec.ts'
import type { ClientSide } from '../wire/dialect.ts'
import { withAnswersInPlace } from '../wire/hub/answers-in-place.ts'
import { withPicturesAsked } from '../wire/hub/asked-pictures.ts'
import { withDistinctCalls } from '../wire/hub/distinct-calls.ts'
import { type Fitted, fitReply, type Restorer, restorersOf } from '../wire/hub/fit-reply.ts'
import { fitTools, type ToolTraits } from '../wire/hub/fit-tools.ts'
import type { ChatEvent, ChatRequest, JsonObject, JsonValue, Usage } from '../wire/ir.ts'
import { parsedWithCalls } from '../wire/json/exact.ts'
import { join } from '../wire/json/splice.ts'
import { FrameError, type FrameSource } from '../wire/reply.ts'
import { SseFrames } from '../wire/sse-frames.ts'
import type { Channel } from './channel.ts'
import { clientName, inClientName, inClientNames } from './client-names.ts'
import { fetchMissing, type Inlined, missingAddresses, withBytes } from './inline-files.ts'
import { markedEvent, openedRequest, withoutThoughts } from './opaque-state.ts'
import { ruleFor, withoutRefused } from './parameters.ts'
import { parsedObject } from './parsed.ts'
import type { PathListener, ReplyPath } from './path.ts'
import type { RelayRequest, RelayRooms } from './request.ts'

/** A whole reply of a vendor that is longer than this counts as unreadable. */
const maxWholeBytes = 67_108_864
const nothing = new Uint8Array(0)
/** Leaves out a byte order mark, which some vendors send. */
const utf8 = new TextDecoder()

/** The client's request in the hub's form. */
export interface DecodedRequest {
  /** Decodes at the first call. Throws GatewayError where that is impossible. */
  readonly request: () => Decoded<ChatRequest>
  /** Files fetched for the request, shared by all channels that need them. */
  readonly inlined: Inlined
}

export function decodedRequestOf(request: RelayRequest): DecodedRequest {
  let decoded: Decoded<ChatRequest> | null = null
  return {
    inlined: new Map(),
    request() {
      const { hub } = request.dialect.client
      if (hub === undefined) throw notHere(request)
      decoded ??= hub.decodeRequest(parsedObject(request.peek.body), request.address)
      return decoded
    },
  }
}

export interface Encoded {
  readonly segments: readonly Uint8Array[]
  readonly decoded: ChatRequest
  readonly fitted: Fitted
  readonly dropped: readonly string[]
}

/**
 * Encodes the request for the vendor; a promise where files have to be fetched first. Throws GatewayError where the
 * vendor's format cannot express it.
 */
export function encoded(
  rooms: RelayRooms,
  request: RelayRequest,
  candidate: Candidate,
  channel: Channel,
  client: DecodedRequest,
): Encoded | Promise<Encoded> {
  const { hub } = rooms.dialects[candidate.dialect].vendor
  if (hub === undefined) throw notHere(request)
  const { value } = client.request()
  const missing = inClientNames(request, () => missingAddresses(value, hub, client.inlined))
  const now = () =>
    inClientNames(request, () => encodedNow(rooms, request, candidate, channel, client))
  if (missing.length === 0) return now()
  return fetchMissing(missing, rooms.safeFetch, client.inlined).then(now, (error: unknown) => {
    throw inClientName(request, error)
  })
}

function encodedNow(
  rooms: RelayRooms,
  request: RelayRequest,
  candidate: Candidate,
  channel: Channel,
  client: DecodedRequest,
): Encoded {
  const { hub: target, usageAlways, opaqueFrom } = rooms.dialects[candidate.dialect].vendor
  if (target === undefined) throw notHere(request)
  const { vendor } = channel
  const { dialect, model } = candidate
  const { value, dropped } = client.request()
  const decoded = withBytes(value, target, client.inlined)
  const same = request.dialect.id === dialect
  // Between a client and a vendor of one format the history is the vendor's to judge.
  const ordered = same ? decoded : withAnswersInPlace(withDistinctCalls(decoded))
  const own = openedRequest(ordered, opaqueFrom ?? dialect, channel, same)
  // Vendors that know only OpenAI's members refuse pictures of the assistant from clients of their own format too.
  const shows = target.saysPictures === true || (same && vendor.quirks.refusesThoughts !== true)
  const pictured = shows ? own : withPicturesAsked(own, dialect)
  const keeps = same || target.anyReply === true
  const { request: shaped, wrapped } = keeps
    ? { request: pictured, wrapped: false }
    : fitReply(pictured)
  const fitted = { ...fitTools(shaped, toolTraits(candidate, channel, target)), wrapped }
  const kept = vendor.quirks.cacheMarks?.(model) ?? null
  const marked =
    kept === null || same
      ? fitted.request
      : (target.withCacheMarks?.(fitted.request, kept) ?? fitted.request)
  const written = target.encodeRequest(
    vendor.quirks.refusesThoughts ? withoutThoughts(marked) : marked,
    model,
    channel.options,
  )
  const body = written.value
  if (decoded.stream && vendor.quirks.usageOnStream === 'ask' && !usageAlways)
    body['stream_options'] = { include_usage: true }
  const rule = ruleFor(vendor, candidate, request.peek, Object.keys(body))
  const refused = rule === null ? [] : withoutRefused(rule, body)
  const { amend } = vendor.quirks
  const call = { dialect, model, stream: decoded.stream, baseUrl: channel.baseUrl }
  const amended = amend?.body(body, call, channel.options) ?? body
  return {
    segments: [Buffer.from(JSON.stringify(amended), 'utf8')],
    decoded,
    fitted,
    dropped: [...dropped, ...fitted.dropped, ...written.dropped, ...refused].map((name) =>
      clientName(request, name),
    ),
  }
}

function toolTraits(
  { dialect }: Candidate,
  { vendor }: Channel,
  { hasToo }: Pick<VendorHub, 'hasToo'>,
): ToolTraits {
  return { dialect, everyType: vendor.quirks.everyTool === true, hasToo }
}

/** Whether the request has tools the vendor knows only in another form, though it speaks the client's format. */
export function offersForeign(
  request: RelayRequest,
  candidate: Candidate,
  channel: Channel,
  client: DecodedRequest,
): boolean {
  const { dialect, peek } = request
  const { toolMarks, hub = {} } = dialect.vendor ?? {}
  if (toolMarks === undefined) return false
  const body = Buffer.from(peek.body.buffer, peek.body.byteOffset, peek.body.byteLength)
  if (!toolMarks.some((mark) => body.includes(mark))) return false
  const { value } = client.request()
  return fitTools(value, toolTraits(candidate, channel, hub)).request !== value
}

function notHere(request: RelayRequest): GatewayError {
  return invalidRequest(
    `The model '${request.peek.model}' cannot be used on this endpoint.`,
    'model',
  )
}

export interface Translation {
  readonly rooms: RelayRooms
  readonly request: RelayRequest
  readonly candidate: Candidate
  readonly channel: Channel
  /** The client's request; null where its bytes were relayed. */
  readonly decoded: ChatRequest | null
  readonly fitted: Fitted | null
  /** The vendor answered with a stream, whatever the client asked for. */
  readonly streamed: boolean
}

/** Reads a reply of the vendor's dialect and writes it in the client's, streamed or whole as the client asked. */
export function translatedPath(translation: Translation, listener: PathListener): ReplyPath {
  const { rooms, request, candidate } = translation
  const { vendor, identity } = rooms.dialects[candidate.dialect]
  const { hub: source, frames } = vendor
  const target = request.dialect.client.hub
  if (source === undefined || target === undefined) return new Unreadable(listener)
  return new Translated(
    translation,
    { source, target, frames: frames?.() ?? new SseFrames(identity?.maxFrameBytes) },
    listener,
  )
}

/** Refuses a reply that has no reader, such as a stream where the operation has none (embeddings). */
class Unreadable implements ReplyPath {
  readonly summary: ReplySummary = { usage: null, outputBytes: 0, finishReason: null, model: null }
  readonly complete = false
  private readonly listener: PathListener

  constructor(listener: PathListener) {
    this.listener = listener
  }

  bytes(): void {
    this.listener.failed({
      kind: 'unreadable',
      message: 'the reply has an unexpected content type',
    })
  }

  end(): void {
    this.bytes()
  }
}

/** Collects a summary from events, as a Watcher does from bytes. */
class EventSummary implements ReplySummary {
  /** Choices that have ended. */
  ends = 0
  usage: Usage | null = null
  unbelieved = false
  outputBytes = 0
  finishReason: string | null = null
  model: string | null = null
  /** The current part is an image: Base64 is not text whose tokens could be counted. */
  private inImage = false

  note(event: ChatEvent): void {
    if (event.type === 'usage') {
      this.usage = event.usage
      this.unbelieved = event.usage === null
    } else if (event.type === 'part-start') this.inImage = event.head.type === 'image'
    else if (event.type === 'part-delta' && !this.inImage)
      this.outputBytes += Buffer.byteLength(event.text)
    else if (event.type === 'choice-end') {
      this.finishReason = event.reason
      this.ends++
    } else if (event.type === 'response-start') this.model = event.model
  }
}

function isSemantic(event: ChatEvent): boolean {
  if (event.type === 'part-delta') return event.text !== ''
  if (event.type === 'part-start') return event.head.type === 'tool-call'
  if (event.type === 'part-end') return event.sealed !== undefined
  return event.type === 'choice-end'
}

/** The two formats between which a reply is translated. */
interface Hubs {
  readonly source: VendorHub
  readonly target: ClientHub
  readonly frames: FrameSource
}

class Translated implements ReplyPath {
  readonly summary = new EventSummary()
  private readonly translation: Translation
  private readonly source: VendorHub
  private readonly target: ClientHub
  private readonly client: ClientSide
  private readonly listener: PathListener
  private readonly frames: FrameSource
  private readonly reader: Reader
  private readonly writer: Writer | null
  private readonly restorers: readonly Restorer[]
  private readonly events: ChatEvent[] = []
  private chunks: Uint8Array[] = []
  private heldBytes = 0
  private over = false

  constructor(translation: Translation, { source, target, frames }: Hubs, listener: PathListener) {
    const { request, channel } = translation
    this.translation = translation
    this.source = source
    this.target = target
    this.client = request.dialect.client
    this.listener = listener
    this.frames = frames
    this.restorers = restorersOf(translation.fitted, target.oneText === true)
    this.reader = source.reader(channel.vendor.quirks, askedIn(translation))
    this.writer = request.peek.stream ? target.writer(this.head()) : null
  }

  get complete(): boolean {
    if (!this.translation.streamed || this.over) return false
    const { ends, usage } = this.summary
    // With several choices, the finish of one says nothing of the others.
    const finished = ends >= this.translation.request.peek.choices && usage !== null
    return finished || this.reader.enough === true
  }

  fail(error: GatewayError): string | null {
    return this.writer?.fail?.(error, this.translation.request.requestId) ?? null
  }

  bytes(chunk: Uint8Array): void {
    if (this.over) return
    if (!this.translation.streamed) {
      this.hold(chunk)
      return
    }
    this.readFrames(() => this.frames.push(chunk))
  }

  end(): void {
    if (this.over) return
    if (this.translation.streamed) this.readFrames(() => this.frames.end())
    else this.readWhole()
    if (this.over) return
    if (this.translation.streamed && this.frames.mustEnd === true && !this.frames.done)
      this.take([{ type: 'fault', fault: { kind: 'cut', message: 'the stream was cut' } }])
    else this.conclude()
  }

  /** Ends the reply, unless its reader finds that the end is missing. */
  conclude(): void {
    if (this.translation.streamed) this.take(this.reader.end())
    if (this.over) return
    this.over = true
    if (this.writer === null) {
      this.answerWhole()
      return
    }
    this.write(this.writer.end())
    this.listener.completed(this.summary)
  }

  private hold(chunk: Uint8Array): void {
    this.chunks.push(chunk)
    this.heldBytes += chunk.length
    if (this.heldBytes > maxWholeBytes) this.unreadable('the reply is too long')
  }

  private readFrames(cut: () => readonly string[]): void {
    let found: readonly string[]
    try {
      found = cut()
    } catch (error) {
      if (!(error instanceof FrameError)) throw error
      this.unreadable(error.message)
      return
    }
    for (const data of found) {
      if (this.over) return
      this.take(this.reader.frame(data))
      if (this.reader.done === true && !this.over) this.conclude()
    }
    if (this.frames.done && !this.over) this.conclude()
  }

  private readWhole(): void {
    const text = utf8.decode(join(this.chunks))
    this.chunks = []
    let body: JsonValue
    try {
      body = parsedWithCalls(text)
    } catch (error) {
      // A reply that is not JSON is a fault of this channel: another may do better.
      if (!(error instanceof SyntaxError)) throw error
      this.unreadable('the reply is not JSON')
      return
    }
    const { quirks } = this.translation.channel.vendor
    this.take(this.source.readWhole(body, quirks, askedIn(this.translation)))
  }

  private take(events: readonly ChatEvent[]): void {
    const { candidate, channel } = this.translation
    for (const said of events) {
      if (this.over) return
      const event = markedEvent(said, candidate.dialect, channel)
      if (event.type === 'fault') {
        this.over = true
        this.listener.failed(event.fault)
        return
      }
      this.summary.note(event)
      this.restore(event, 0)
      if (this.writer !== null && isSemantic(event)) this.listener.semantic()
    }
  }

  /** Passes the event through the restorers from the one at `index` on. */
  private restore(event: ChatEvent, index: number): void {
    const restorer = this.restorers[index]
    if (restorer === undefined) {
      this.tell(event)
      return
    }
    const shown = restorer.event(event)
    if ('type' in shown) this.restore(shown, index + 1)
    else for (const each of shown) this.restore(each, index + 1)
  }

  private tell(event: ChatEvent): void {
    if (this.writer === null) this.events.push(event)
    else this.write(this.writer.event(event))
  }

  private answerWhole(): void {
    let body: JsonObject
    try {
      body = this.target.writeWhole(this.events, this.head())
    } catch (error) {
      if (!(error instanceof UnfitReply)) throw error
      this.unreadable(error.message)
      return
    }
    this.listener.answered(Buffer.from(JSON.stringify(body), 'utf8'), this.summary)
  }

  private write(text: string): void {
    // The vendor goes on generating what a writer holds back.
    if (text === '') {
      this.listener.emit(nothing)
      return
    }
    const { request } = this.translation
    const { usage } = this.summary
    const shown =
      request.authorization.options.showCost && usage !== null
        ? framesWithCost(text, this.client, shownCost(request, { usage, summary: this.summary }))
        : Buffer.from(text, 'utf8')
    this.listener.emit(shown)
  }

  private unreadable(message: string): void {
    this.over = true
    this.listener.failed({ kind: 'unreadable', message })
  }

  private head() {
    const { request, candidate, decoded } = this.translation
    return {
      id: this.client.idPrefix + request.requestId.slice(4),
      model: candidate.model,
      createdAt: Math.floor(request.at / 1000),
      wantsUsage: request.peek.wantsUsage || request.authorization.options.showCost,
      ...(decoded !== null && { request: decoded }),
    }
  }
}

function askedIn({ fitted, candidate }: Translation): ReplyContext | undefined {
  return fitted === null ? undefined : { request: fitted.request, model: candidate.model }
}

/** Adds the cost to each frame that carries usage; several frames may be written together. */
function framesWithCost(text: string, client: ClientSide, cost: string): Uint8Array {
  const frames = text.split(/(?<=\n\n)/)
  return join(frames.map((frame) => client.withCost(Buffer.from(frame, 'utf8'), cost)))
}
