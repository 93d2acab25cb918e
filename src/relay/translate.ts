// The translate path: decoded once into the hub, encoded for the vendor, and its reply told in the client's format.

import { Buffer } from 'node:buffer'
import { invalidRequest } from '../errors.ts'
import type { Candidate } from '../router/route.ts'
import { needsAmend } from '../vendors/amendments.ts'
import type { Vendor } from '../vendors/vendor.ts'
import type { Dialect, HubCodec, Reader, Writer } from '../wire/dialect.ts'
import type { ChatEvent, JsonValue, Usage } from '../wire/ir.ts'
import { join } from '../wire/json/splice.ts'
import { FrameSplitter, frameData, frameTooLong } from '../wire/sse.ts'
import type { Ask, RelayRooms, Sight } from './ask.ts'
import { shownCost } from './owed.ts'
import { parsedObject } from './parsed.ts'
import type { PathListener, ReplyPath } from './path.ts'

/** What a vendor's whole reply may weigh before it is given up. */
const maxWholeBytes = 67_108_864

/** The request in the vendor's format. Throws GatewayError where it cannot be said there. */
export function translatedSegments(
  rooms: RelayRooms,
  ask: Ask,
  candidate: Candidate,
  vendor: Vendor,
): readonly Uint8Array[] {
  const source = ask.dialect.hub
  const target = rooms.dialects[candidate.dialect].hub
  if (source === null || target === null) {
    throw invalidRequest(`The model '${ask.peek.model}' cannot be used on this endpoint.`, 'model')
  }
  const request = source.decodeRequest(parsedObject(ask.peek.body)).value
  let body = target.encodeRequest(request, candidate.model).value
  if (request.stream && vendor.usageOnStream === 'ask')
    body['stream_options'] = { include_usage: true }
  const { amend } = vendor
  const bytes = Buffer.from(JSON.stringify(body), 'utf8')
  if (amend === undefined || !needsAmend(amend, Object.keys(body), bytes)) return [bytes]
  body = amend.body(body, { dialect: candidate.dialect, model: candidate.model })
  return [Buffer.from(JSON.stringify(body), 'utf8')]
}

export interface Translation {
  readonly rooms: RelayRooms
  readonly ask: Ask
  readonly candidate: Candidate
  readonly vendor: Vendor
  /** The vendor answered with a stream, whatever the client asked for. */
  readonly streamed: boolean
}

/** Reads a reply of the vendor's dialect and writes it in the client's, streamed or whole as the client asked. */
export function translatedPath(translation: Translation, listener: PathListener): ReplyPath {
  const { rooms, ask, candidate } = translation
  const source = rooms.dialects[candidate.dialect].hub
  const target = ask.dialect.hub
  if (source === null || target === null) return new Unreadable(listener)
  return new Translated(translation, source, target, ask.dialect, listener)
}

/** A reply nobody can read: streamed where no stream exists, such as embeddings. */
class Unreadable implements ReplyPath {
  readonly sight: Sight = { usage: null, outputBytes: 0, finishReason: null, model: null }
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

/** Notes what events say, as a Watcher does for bytes. */
class EventSight implements Sight {
  usage: Usage | null = null
  outputBytes = 0
  finishReason: string | null = null
  model: string | null = null

  note(event: ChatEvent): void {
    if (event.type === 'usage') this.usage = event.usage
    else if (event.type === 'part-delta') this.outputBytes += Buffer.byteLength(event.text)
    else if (event.type === 'choice-end') this.finishReason = event.reason
    else if (event.type === 'response-start') this.model = event.model
  }
}

function isSemantic(event: ChatEvent): boolean {
  if (event.type === 'part-delta') return event.text !== ''
  if (event.type === 'part-start') return event.head.type === 'tool-call'
  return event.type === 'choice-end'
}

class Translated implements ReplyPath {
  readonly sight = new EventSight()
  private readonly translation: Translation
  private readonly source: HubCodec
  private readonly target: HubCodec
  private readonly dialect: Dialect
  private readonly listener: PathListener
  private readonly splitter = new FrameSplitter()
  private readonly reader: Reader
  private readonly writer: Writer | null
  private readonly events: ChatEvent[] = []
  private chunks: Uint8Array[] = []
  private heldBytes = 0
  private done = false
  private over = false

  constructor(
    translation: Translation,
    source: HubCodec,
    target: HubCodec,
    dialect: Dialect,
    listener: PathListener,
  ) {
    const { ask, vendor } = translation
    this.translation = translation
    this.source = source
    this.target = target
    this.dialect = dialect
    this.listener = listener
    this.reader = source.reader(vendor.quirks)
    this.writer = ask.peek.stream ? target.writer(this.head()) : null
  }

  get complete(): boolean {
    const { finishReason, usage, outputBytes } = this.sight
    const ended = finishReason !== null || outputBytes > 0
    return (this.done && ended) || (finishReason !== null && usage !== null)
  }

  bytes(chunk: Uint8Array): void {
    if (!this.translation.streamed) {
      this.hold(chunk)
      return
    }
    const count = this.splitter.push(chunk)
    if (count === frameTooLong) this.fail('an event of the stream is too long')
    else this.readFrames(count)
  }

  end(): void {
    if (this.translation.streamed) {
      this.readFrames(this.splitter.end())
      if (this.over) return
      if (!this.complete) {
        this.over = true
        this.listener.failed({ kind: 'cut', message: 'the stream ended before its finish' })
        return
      }
      this.take(this.reader.end())
    } else this.readWhole()
    if (!this.over) this.conclude()
  }

  private hold(chunk: Uint8Array): void {
    this.chunks.push(chunk)
    this.heldBytes += chunk.length
    if (this.heldBytes > maxWholeBytes) this.fail('the reply is too long')
  }

  private readFrames(count: number): void {
    const { bytes, starts, ends } = this.splitter
    for (let at = 0; at < count && !this.over && !this.done; at++) {
      const { data } = frameData(bytes, starts[at] ?? 0, ends[at] ?? 0)
      if (data === '[DONE]') this.done = true
      else if (data !== null) this.take(this.reader.frame(data))
    }
  }

  private readWhole(): void {
    const text = Buffer.from(join(this.chunks)).toString('utf8')
    this.chunks = []
    let body: JsonValue
    try {
      body = JSON.parse(text) as JsonValue
    } catch (error) {
      // What is no JSON is no reply: another channel may do better.
      if (!(error instanceof SyntaxError)) throw error
      this.fail('the reply is not JSON')
      return
    }
    this.take(this.source.readWhole(body, this.translation.vendor.quirks))
  }

  private take(events: readonly ChatEvent[]): void {
    for (const event of events) {
      if (this.over) return
      if (event.type === 'fault') {
        this.over = true
        this.listener.failed(event.fault)
        return
      }
      this.sight.note(event)
      if (this.writer === null) this.events.push(event)
      else this.write(this.writer.event(event))
      if (this.writer !== null && isSemantic(event)) this.listener.semantic()
    }
  }

  private conclude(): void {
    this.over = true
    if (this.writer === null) {
      const body = this.target.writeWhole(this.events, this.head())
      this.listener.answered(Buffer.from(JSON.stringify(body), 'utf8'), this.sight)
      return
    }
    this.write(this.writer.end())
    this.listener.completed(this.sight)
  }

  private write(text: string): void {
    if (text === '') return
    const { rooms, ask } = this.translation
    const { usage } = this.sight
    const shown =
      ask.bill.wishes.showCost && usage !== null
        ? framesWithCost(text, this.dialect, shownCost(ask, usage, rooms.billing))
        : Buffer.from(text, 'utf8')
    this.listener.emit(shown)
  }

  private fail(message: string): void {
    this.over = true
    this.listener.failed({ kind: 'unreadable', message })
  }

  private head() {
    const { ask, candidate } = this.translation
    return {
      id: `${this.dialect.operation === 'completion' ? 'cmpl' : 'chatcmpl'}-${ask.requestId.slice(4)}`,
      model: candidate.model,
      createdAt: Math.floor(ask.at / 1000),
      wantsUsage: ask.peek.wantsUsage || ask.bill.wishes.showCost,
    }
  }
}

/** The usage may stand in any of the frames written together. */
function framesWithCost(text: string, dialect: Dialect, cost: string): Uint8Array {
  const frames = text.split(/(?<=\n\n)/)
  return join(frames.map((frame) => dialect.withCost(Buffer.from(frame, 'utf8'), cost)))
}
