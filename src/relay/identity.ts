// The identity path: client and vendor speak the same dialect, so bytes are relayed, watched and amended.

import { Buffer } from 'node:buffer'
import { shownCost } from '../billing/charging-policy.ts'
import type { ReplySummary } from '../billing/settlement.ts'
import type { Fault, GatewayError } from '../errors.ts'
import type { Candidate } from '../router/route.ts'
import { needsAmend } from '../vendors/amendments.ts'
import type { Vendor } from '../vendors/vendor.ts'
import type { IdentitySide } from '../wire/dialect.ts'
import type { JsonObject } from '../wire/ir.ts'
import { type Edit, join, splice } from '../wire/json/splice.ts'
import { cutting } from '../wire/json/without.ts'
import { frameKind, type Watcher } from '../wire/reply.ts'
import type { Peek } from '../wire/request.ts'
import { FrameSplitter, frameTooLong } from '../wire/sse.ts'
import type { Channel } from './channel.ts'
import { refusedIn, ruleFor, withoutRefused } from './parameters.ts'
import { parsedObject } from './parsed.ts'
import type { PathListener, ReplyPath } from './path.ts'
import type { RelayRequest } from './request.ts'

const injectedOptions = '{"include_usage":true}'

/** The client's bytes as they go to the vendor, and the names of fields left out. */
interface IdentityRequest {
  readonly segments: readonly Uint8Array[]
  readonly dropped: readonly string[]
}

const nothing: readonly string[] = []

/**
 * The client's bytes for the vendor: the vendor's name of the model and the request for usage are spliced in, and
 * parameters that the model refuses are removed.
 */
export function identityRequest(
  peek: Peek,
  candidate: Candidate,
  { vendor, options = {}, baseUrl }: Pick<Channel, 'vendor' | 'options' | 'baseUrl'>,
): IdentityRequest {
  const { amend } = vendor.quirks
  const { dialect, model } = candidate
  const thoughts = vendor.quirks.refusesThoughts === true ? peek.thoughts : undefined
  const made = peek.vendorEdits ?? []
  const own = thoughts === undefined ? made : cutting(made, thoughts.spans)
  const gone = thoughts?.names ?? nothing
  const rule = ruleFor(vendor, candidate, peek, peek.keys)
  const { stream, sentBack } = peek
  const call = { dialect, model, stream, sentBack, baseUrl }
  if (amend !== undefined && needsAmend(amend, peek.keys, peek.body, call)) {
    const body = parsedObject(own.length === 0 ? peek.body : join(splice(peek.body, own)))
    if (peek.modelSpan !== null) body['model'] = candidate.model
    if (asksUsage(peek, vendor))
      body['stream_options'] = { ...asObject(body['stream_options']), include_usage: true }
    const dropped = rule === null ? nothing : withoutRefused(rule, body)
    const amended = amend.body(body, call, options)
    return {
      segments: [Buffer.from(JSON.stringify(amended), 'utf8')],
      dropped: [...gone, ...dropped],
    }
  }
  const refused = rule === null ? null : refusedIn(rule, peek, own)
  const edits: Edit[] = [...(refused?.edits ?? own)]
  const { modelSpan } = peek
  if (candidate.model !== peek.model && modelSpan !== null)
    edits.push({ ...modelSpan, text: JSON.stringify(candidate.model) })
  if (asksUsage(peek, vendor)) edits.push(usageEdit(peek))
  const segments = edits.length === 0 ? [peek.body] : splice(peek.body, edits)
  return { segments, dropped: refused === null ? gone : [...gone, ...refused.dropped] }
}

/** Metering needs the vendor's count also where the client did not ask for it. */
function asksUsage(peek: Peek, vendor: Vendor): boolean {
  return peek.stream && !peek.wantsUsage && vendor.quirks.usageOnStream === 'ask'
}

function usageEdit(peek: Peek): Edit {
  const span = peek.streamOptionsSpan
  if (span === null) {
    const text = `,"stream_options":${injectedOptions}`
    return { start: peek.bodyEnd, end: peek.bodyEnd, text }
  }
  const options = parsedObject(peek.body.subarray(span.start, span.end))
  return { ...span, text: JSON.stringify({ ...options, include_usage: true }) }
}

function asObject(value: unknown): JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as JsonObject)
    : {}
}

const endedEarly: Fault = { kind: 'cut', message: 'the stream ended before its finish' }
const unnamedFault: Fault = { kind: 'vendor_error', message: 'the stream contained an error' }
/** Longer texts are not an error message of a vendor. */
const maxErrorBytes = 65_536

/** An error inside a 200 reply, as the vendor's own rules classify it. */
function refined(vendor: Vendor, fault: Fault, bytes: Uint8Array): Fault {
  if (vendor.quirks.refine === undefined || bytes.length > maxErrorBytes) return fault
  return vendor.quirks.refine(fault, 200, Buffer.from(bytes).toString('utf8'))
}

/** Longer frames are passed on in parts, in formats that allow it. */
const heldFrameBytes = 65_536
/** Kept of a long frame: its beginning, and its end, which may carry usage. */
const frameHeadBytes = 4_096
const frameBackBytes = 16_384
const frameEnd = Buffer.from('\n\n', 'latin1')

/** A long frame being passed on; `back` holds its latest bytes, not passed on yet. */
interface LongFrame {
  readonly beginning: Uint8Array
  back: Uint8Array
}

/** A streamed reply: whole frames are relayed unchanged, except those that carry usage or an error. */
export class IdentityStream implements ReplyPath {
  private readonly watcher: Watcher
  private readonly splitter: FrameSplitter
  private readonly format: IdentitySide
  private readonly vendor: Vendor
  private readonly listener: PathListener
  private readonly request: RelayRequest
  private readonly choices: number
  /** The format's terminal event is an ordinary frame, which only the watcher recognizes. */
  private readonly endsAmong: boolean
  /** The listener knows how the stream ended. */
  private over = false
  /** A semantic event was seen. */
  private spoke = false
  private long: LongFrame | null = null

  constructor(request: RelayRequest, format: IdentitySide, vendor: Vendor, listener: PathListener) {
    const { quirks } = vendor
    const { peek, authorization } = request
    const { showCost } = authorization.options
    this.watcher = format.watcher({ wantsUsage: peek.wantsUsage || showCost, quirks, peek })
    this.endsAmong = this.watcher.ended !== undefined
    const longBytes = this.watcher.passed === undefined ? undefined : heldFrameBytes
    this.splitter = new FrameSplitter(format.maxFrameBytes, longBytes)
    this.format = format
    this.vendor = vendor
    this.choices = peek.choices
    this.listener = listener
    this.request = request
  }

  get summary(): ReplySummary {
    return this.watcher
  }

  fail(error: GatewayError): string {
    const { requestId, dialect } = this.request
    const { watcher } = this
    // A long frame under way is ended first.
    const before = this.long === null ? '' : '\n\n'
    return (
      before + (watcher.fail?.(error, requestId) ?? dialect.client.errorFrames(error, requestId))
    )
  }

  get complete(): boolean {
    const { finishReason, usage } = this.watcher
    // With several choices, the finish of one says nothing of the others.
    if (this.choices > 1 || finishReason === null || this.long !== null) return false
    return usage !== null || this.format.terminator === ''
  }

  bytes(chunk: Uint8Array): void {
    const { splitter } = this
    const count = splitter.push(chunk)
    if (count === frameTooLong) {
      this.fault({ kind: 'unreadable', message: 'an event of the stream is too long' })
      return
    }
    if (splitter.part !== null) this.relayPart(splitter.part)
    this.relayFrames(count)
    if (splitter.opened !== null && !this.over) this.relayOpened(splitter.opened)
  }

  get inFrame(): boolean {
    return this.long !== null
  }

  private relayOpened(beginning: Uint8Array): void {
    if (this.watcher.mayPass?.(beginning) !== true) {
      this.fault({ kind: 'unreadable', message: 'the stream contained a malformed event' })
      return
    }
    this.long = { beginning: beginning.slice(0, frameHeadBytes), back: new Uint8Array(0) }
    this.pass(this.long, beginning)
    this.speak()
  }

  private relayPart(part: Uint8Array): void {
    const { long, splitter, watcher, listener } = this
    if (long === null) return
    if (!splitter.partEnds) {
      this.pass(long, part)
      return
    }
    this.long = null
    const end = join([long.back, part])
    const kind = watcher.passed?.(long.beginning, end)
    if (kind === frameKind.fault) {
      listener.emit(frameEnd)
      this.fault(watcher.fault ?? unnamedFault)
    } else listener.emit(kind === frameKind.usage ? this.withCost(end) : end)
  }

  /** Passes on all but the last bytes, which may carry the usage that the cost is added to. */
  private pass(long: LongFrame, piece: Uint8Array): void {
    const isShort = piece.length < frameBackBytes
    const bytes = isShort ? join([long.back, piece]) : piece
    const until = Math.max(0, bytes.length - frameBackBytes)
    if (!isShort && long.back.length > 0) this.listener.emit(long.back)
    if (until > 0) this.listener.emit(bytes.subarray(0, until))
    long.back = bytes.slice(until)
  }

  end(): void {
    const count = this.splitter.end()
    if (this.splitter.part !== null) this.relayPart(this.splitter.part)
    this.relayFrames(count)
    if (this.over) return
    // A vendor may report no usage and send no terminator; its finish reason then ends the stream.
    if (this.finished) this.conclude()
    else this.fault(endedEarly)
  }

  conclude(): void {
    const held = this.watcher.held()
    if (held !== null) this.listener.emit(this.withCost(held))
    const { terminator } = this.format
    if (terminator !== '') this.listener.emit(Buffer.from(terminator, 'utf8'))
    this.completed()
  }

  private relayFrames(count: number): void {
    const { splitter, watcher, listener } = this
    const { bytes, starts, ends } = splitter
    let runStart = -1
    let runEnd = -1
    let done = false
    for (let at = 0; at < count && !done; at++) {
      const start = starts[at] ?? 0
      const end = ends[at] ?? 0
      const kind = watcher.frame(bytes, start, end)
      if (kind === frameKind.usage || kind === frameKind.fault || kind === frameKind.empty) {
        if (runStart !== -1) listener.emit(bytes.subarray(runStart, runEnd))
        runStart = -1
        if (kind === frameKind.empty) continue
        if (kind === frameKind.fault) {
          const fault = watcher.fault ?? unnamedFault
          this.fault(refined(this.vendor, fault, bytes.subarray(start, end)))
          return
        }
        const amended = watcher.amend(bytes, start, end)
        if (amended !== null) listener.emit(this.withCost(amended))
        // A usage frame may also carry text or the finish: the commit must not wait for another.
        if (watcher.semantic) this.speak()
        done = watcher.ended === true
        continue
      }
      if (kind === frameKind.done && this.spoke && !this.finished) {
        if (runStart !== -1) listener.emit(bytes.subarray(runStart, runEnd))
        this.fault(endedEarly)
        return
      }
      if (kind === frameKind.done && this.spoke && watcher.endsOddly === true) {
        if (runStart !== -1) listener.emit(bytes.subarray(runStart, runEnd))
        this.conclude()
        return
      }
      const held = kind === frameKind.done ? watcher.held() : null
      if (held !== null) {
        // The usage frame goes last, whatever the vendor's order.
        if (runStart !== -1) listener.emit(bytes.subarray(runStart, runEnd))
        runStart = -1
        listener.emit(this.withCost(held))
      }
      if (runStart === -1) runStart = start
      runEnd = end
      if (kind === frameKind.semantic) {
        this.speak()
        done = this.endsAmong && watcher.ended === true
      } else if (kind === frameKind.done) done = true
    }
    if (done && !this.spoke) {
      this.fault({ kind: 'unreadable', message: 'the stream ended without an event' })
      return
    }
    if (runStart !== -1) listener.emit(bytes.subarray(runStart, runEnd))
    // Nothing is read after the terminal event.
    if (done) this.completed()
  }

  private get finished(): boolean {
    const { finishReason, unended, mayEnd } = this.watcher
    return (finishReason !== null && unended !== true) || mayEnd === true
  }

  private completed(): void {
    this.over = true
    this.listener.completed(this.watcher)
  }

  private fault(fault: Fault): void {
    this.over = true
    this.listener.failed(fault)
  }

  private withCost(frame: Uint8Array): Uint8Array {
    const { usage } = this.watcher
    if (!this.request.authorization.options.showCost || usage === null) return frame
    return this.request.dialect.client.withCost(
      frame,
      shownCost(this.request, { usage, summary: this.watcher }),
    )
  }

  private speak(): void {
    this.spoke = true
    this.listener.semantic()
  }
}

/** Replies up to this are held until complete, so that another channel may still take over. */
const maxHeldBytes = 1_048_576
/** The limit for vectors that have to be re-coded, which needs all of them. */
const maxVectorBytes = 67_108_864
/** This much of a reply shows the encoding of its vectors. */
const headBytes = 4_096
/** The usage stands near the end of a reply: this much of the end is kept to read it. */
const tailBytes = 131_072

/** A whole reply: judged when it is complete, or passed through once it is too large to hold. */
export class IdentityWhole implements ReplyPath {
  readonly complete = false
  readonly letsGo = true
  /** Known once the reply is too large to hold: most replies are not, and their heads are not searched. */
  statedBytes: number | null = null
  private readonly header: (name: string) => string | null
  summary: ReplySummary = { usage: null, outputBytes: 0, finishReason: null, model: null }
  private readonly format: IdentitySide
  private readonly saysText: boolean
  private readonly peek: Peek
  private readonly vendor: Vendor
  private readonly listener: PathListener
  private maxBytes = maxHeldBytes
  private chunks: Uint8Array[] = []
  private heldBytes = 0
  /** The end of a reply that is passed on; null while the reply is held. */
  private tail: Tail | null = null
  private passedBytes = 0
  private readonly items: Occurrences | null

  constructor(
    { peek, dialect }: Pick<RelayRequest, 'peek' | 'dialect'>,
    format: IdentitySide,
    vendor: Vendor,
    listener: PathListener,
    header: (name: string) => string | null,
  ) {
    this.header = header
    this.format = format
    this.saysText = dialect.client.hub !== undefined
    this.items = format.itemMark === undefined ? null : new Occurrences(format.itemMark)
    this.peek = peek
    this.vendor = vendor
    this.listener = listener
  }

  bytes(chunk: Uint8Array): void {
    this.items?.push(chunk)
    if (this.tail !== null) {
      this.passOn(chunk, this.tail)
      return
    }
    this.chunks.push(chunk)
    this.heldBytes += chunk.length
    if (this.heldBytes > this.maxBytes) this.pass()
  }

  private pass(): void {
    if (this.maxBytes === maxHeldBytes && this.mustRecode()) {
      this.maxBytes = maxVectorBytes
      return
    }
    this.statedBytes = statedBytesOf(this.header)
    this.tail = new Tail(tailBytes)
    for (const held of this.chunks) this.passOn(held, this.tail)
    this.chunks = []
    this.listener.semantic()
  }

  private passOn(chunk: Uint8Array, tail: Tail): void {
    this.passedBytes += chunk.length
    // Where the length is known, only the end is copied.
    if (this.passedBytes > (this.statedBytes ?? 0) - tailBytes) tail.push(chunk)
    this.listener.emit(chunk)
  }

  private mustRecode(): boolean {
    const { format, peek, chunks } = this
    const [first] = chunks
    const head = first !== undefined && first.length >= headBytes ? first : join(chunks)
    return format.mustRecode?.(head.subarray(0, headBytes), peek) === true
  }

  end(): void {
    if (this.tail !== null) {
      const seen = this.format.tail(
        this.tail.bytes,
        this.vendor.quirks,
        this.peek,
        this.items?.count,
      )
      // Output is counted by bytes only for text, where most bytes of the reply are output; most of it was not kept.
      const outputBytes = this.saysText ? this.passedBytes : 0
      this.summary = { ...seen, outputBytes }
      this.listener.completed(this.summary)
      return
    }
    const whole = join(this.chunks)
    const reply = this.format.whole(whole, this.peek, this.vendor.quirks)
    if (reply.fault !== null) this.listener.failed(refined(this.vendor, reply.fault, whole))
    else this.listener.answered(reply.bytes, reply)
  }
}

/** The length of a body that arrives as it was sent; null: not known, or it is decompressed on the way. */
function statedBytesOf(header: (name: string) => string | null): number | null {
  const length = header('content-length')
  return length === null || header('content-encoding') !== null ? null : Number(length)
}

/** Keeps a copy of the end of bytes that pass in chunks. */
export class Tail {
  private readonly least: number
  private readonly memory: Uint8Array
  private length = 0

  /** Keeps at least the last `least` bytes. */
  constructor(least: number) {
    this.least = least
    this.memory = Buffer.allocUnsafeSlow(2 * least)
  }

  get bytes(): Uint8Array {
    return this.memory.subarray(0, this.length)
  }

  push(chunk: Uint8Array): void {
    const { least, memory } = this
    const end = chunk.length > least ? chunk.subarray(chunk.length - least) : chunk
    if (end.length === least) this.length = 0
    else if (this.length + end.length > memory.length) {
      const kept = least - end.length
      memory.copyWithin(0, this.length - kept, this.length)
      this.length = kept
    }
    memory.set(end, this.length)
    this.length += end.length
  }
}

/** Counts the occurrences of a text in bytes that pass in chunks. */
export class Occurrences {
  count = 0
  private readonly text: Buffer
  /** The end of the bytes so far, shorter than the text: an occurrence may begin in it. */
  private carried: Buffer = Buffer.alloc(0)

  /** `text` must not be able to overlap itself. */
  constructor(text: string) {
    this.text = Buffer.from(text, 'utf8')
  }

  push(chunk: Uint8Array): void {
    const { text } = this
    const piece = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
    const most = text.length - 1
    const seam = Buffer.concat([this.carried, piece.subarray(0, most)])
    if (this.carried.length > 0) this.count += countIn(seam, text)
    this.count += countIn(piece, text)
    this.carried =
      piece.length >= most
        ? Buffer.from(piece.subarray(piece.length - most))
        : seam.subarray(Math.max(0, seam.length - most))
  }
}

function countIn(bytes: Buffer, text: Buffer): number {
  let count = 0
  for (let at = bytes.indexOf(text); at >= 0; at = bytes.indexOf(text, at + text.length)) count++
  return count
}
