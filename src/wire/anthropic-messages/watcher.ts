// Watches an Anthropic stream on the identity path: classifies each event and collects usage.

import type { Fault } from '../../errors.ts'
import { take } from '../hub/counts.ts'
import type { JsonObject, Usage } from '../ir.ts'
import {
  JsonSyntaxError,
  MemberScan,
  parseSpan,
  skipSpace,
  spells,
  textOf,
  valueEnd,
} from '../json/scan.ts'
import { join, splice } from '../json/splice.ts'
import { isObject, listOf, objectOf, text } from '../json/value.ts'
import { textBytes } from '../openai/chunk.ts'
import { madeCallId } from '../openai/message-repair.ts'
import { stringOf } from '../openai/rules.ts'
import { type FrameKind, frameKind, type Watcher, type WatchOptions } from '../reply.ts'
import { frameData, plainDataStart, unframedJson } from '../sse.ts'
import { doneData, emptyKind } from '../sse-frames.ts'
import { faultIn } from './fault.ts'
import { mergeUsage, readUsage } from './usage.ts'
import { frame } from './writer.ts'

const encoder = new TextEncoder()
const top = new MemberScan()
const inside = new MemberScan()

const LF = 0x0a
const QUOTE = 0x22
const OPEN_OBJECT = 0x7b

/** Members of a delta that hold generated text. */
const said = ['text', 'thinking', 'partial_json', 'content'] as const

interface Document {
  readonly bytes: Uint8Array
  readonly at: number
  readonly end: number
  /** The frame has an `event` line with its type. */
  readonly named: boolean
}

/** Offset of the data in a frame of an event name and one data line; -1 for any other frame. */
function namedDataStart(bytes: Uint8Array, start: number, end: number): number {
  if (!spells(bytes, start, start + 6, 'event:')) return -1
  const lineEnd = bytes.indexOf(LF, start)
  if (lineEnd < 0 || lineEnd + 1 >= end) return -1
  const at = plainDataStart(bytes, lineEnd + 1, end)
  return bytes[at] === LF ? -1 : at
}

/** The JSON of a frame of any form; null where it carries none. */
function documentIn(bytes: Uint8Array, start: number, end: number): Document | null {
  const { data, event } = frameData(bytes, start, end)
  const text = (data ?? unframedJson(bytes, start, end)).trim()
  if (text === '' || text === doneData) return null
  return documentOf(text.replaceAll('\n', ' '), event !== null)
}

function documentOf(text: string, named: boolean): Document {
  const bytes = encoder.encode(text)
  return { bytes, at: 0, end: bytes.length, named }
}

/** The event with the members without which official clients fail; null where it has them. */
function completed(type: string, event: JsonObject): JsonObject | null {
  if (type === 'message_delta')
    return isObject(event.usage) ? null : { ...event, usage: { output_tokens: 0 } }
  if (type !== 'message_start') return null
  const message = objectOf(event.message)
  const { content, usage } = message
  if (Array.isArray(content) && isObject(usage)) return null
  const counts = isObject(usage) ? usage : { input_tokens: 0, output_tokens: 0 }
  return { ...event, message: { ...message, content: listOf(content), usage: counts } }
}

/** The block that a delta of this type belongs to, as it begins; null where the delta does not say enough. */
function blockFor(deltaType: string): JsonObject | null {
  switch (deltaType) {
    case 'text_delta':
    case 'citations_delta':
      return { type: 'text', text: '' }
    case 'thinking_delta':
    case 'signature_delta':
      return { type: 'thinking', thinking: '', signature: '' }
    default:
      return null
  }
}

export class MessagesWatcher implements Watcher {
  fault: Fault | null = null
  usage: Usage | null = null
  unbelieved = false
  outputBytes = 0
  finishReason: string | null = null
  model: string | null = null
  semantic = false
  ended = false
  private readonly options: WatchOptions
  private raw: JsonObject = {}
  private id: string | null = null
  /** The last frame's data, if it lacks the `event` line. */
  private unnamed: Document | null = null
  private type = ''
  /** How many blocks have begun, and how many of them have not ended. */
  private blocks = 0
  private open = 0
  /** Ids of calls so far. */
  private readonly calls = new Set<string>()
  /** The event that begins the block of the last frame, where the vendor left it out. */
  private beginning = ''
  /** The numbers of blocks that the vendor numbers otherwise, by the vendor's: clients count blocks from 0. */
  private readonly numbers = new Map<number, number>()
  /** The last frame as official clients read it; null where they read the vendor's. */
  private repaired: Document | null = null

  constructor(options: WatchOptions) {
    this.options = options
  }

  frame(bytes: Uint8Array, start: number, end: number): FrameKind {
    this.semantic = false
    this.unnamed = null
    const at = namedDataStart(bytes, start, end)
    const plain: Document | null = at < 0 ? null : { bytes, at, end, named: true }
    const read = plain === null ? null : this.read(plain)
    // What follows the first data line may be more of them, or other fields.
    const document = read === null ? documentIn(bytes, start, end) : plain
    if (document === null) return emptyKind(bytes, start, end)
    const kind =
      read ??
      this.read(document) ??
      this.failed({ kind: 'unreadable', message: 'an event of the stream is not JSON' })
    if (kind === frameKind.fault || kind === frameKind.empty) return kind
    if (document.named)
      return this.repaired === null && this.beginning === '' ? kind : frameKind.usage
    this.ended = kind === frameKind.done
    // Official clients ignore events without a name, so that it is added before the frame is relayed.
    this.unnamed = document
    return frameKind.usage
  }

  private failed(fault: Fault): FrameKind {
    this.fault = fault
    return frameKind.fault
  }

  /** Null where the document is not JSON. */
  private read(document: Document): FrameKind | null {
    try {
      return this.readJson(document)
    } catch (error) {
      if (!(error instanceof JsonSyntaxError)) throw error
      return null
    }
  }

  private readJson({ bytes, at, end, named }: Document): FrameKind {
    this.type = ''
    this.repaired = null
    this.beginning = ''
    let delta = -1
    let error = false
    let index = -1
    let indexEnd = -1
    top.open(bytes, at)
    while (top.next()) {
      if (top.is('type') && bytes[top.value] === QUOTE) {
        this.type = stringOf(bytes, top.value, top.skip())
      } else if (top.is('delta') && bytes[top.value] === OPEN_OBJECT) delta = top.value
      else if (top.is('error') && bytes[top.value] === OPEN_OBJECT) error = true
      else if (top.is('index')) {
        index = top.value
        indexEnd = top.skip()
      }
    }
    const past = skipSpace(bytes, top.at)
    if (past < end) throw new JsonSyntaxError(past, 'unexpected bytes after the event')
    const isDelta = this.type === 'content_block_delta' && delta >= 0
    if (isDelta && this.open === 0 && index >= 0) this.begin(bytes, delta, index, indexEnd)
    if (index >= 0 && (this.numbers.size > 0 || this.type === 'content_block_start'))
      this.number({ bytes, at, end: top.at, named }, index, indexEnd)
    if (isDelta) return this.delta(bytes, delta)
    if (this.type === 'content_block_stop') this.open = Math.max(0, this.open - 1)
    if (this.type === 'content_block_stop' || this.type === 'ping') return frameKind.lifecycle
    if (this.type === 'message_stop') return frameKind.done
    const event = parseSpan(bytes, at, end) as JsonObject
    const complete = this.identified(event) ?? completed(this.type, event)
    if (complete !== null) this.repaired = documentOf(JSON.stringify(complete), named)
    return this.readRare(event, error)
  }

  /** Gives the block the number that clients expect, `bytes[start, stop)` being the vendor's. */
  private number(document: Document, start: number, stop: number): void {
    const { bytes, at, end, named } = document
    const given = Number(textOf(bytes, start, stop))
    if (this.type === 'content_block_start') this.allot(given)
    const own = this.numbers.get(given)
    if (own === undefined) return
    const edit = { start: start - at, end: stop - at, text: String(own) }
    const edited = join(splice(bytes.subarray(at, end), [edit]))
    this.repaired = { bytes: edited, at: 0, end: edited.length, named }
  }

  private allot(given: number): void {
    this.numbers.delete(given)
    if (given !== this.blocks) this.numbers.set(given, this.blocks)
    this.blocks++
    this.open++
  }

  /** Begins the block that the delta at `at` belongs to; `bytes[start, stop)` is its number. */
  private begin(bytes: Uint8Array, at: number, start: number, stop: number): void {
    const { type } = parseSpan(bytes, at, valueEnd(bytes, at)) as JsonObject
    const block = blockFor(text(type) ?? '')
    if (block === null) return
    this.beginning = frame('content_block_start', { index: this.blocks, content_block: block })
    this.allot(Number(textOf(bytes, start, stop)))
  }

  /** The start of a call with an id of its own; null where it has one, and for any other event. */
  private identified(event: JsonObject): JsonObject | null {
    const block = objectOf(event.content_block)
    if (this.type !== 'content_block_start' || block.type !== 'tool_use') return null
    const id = text(block.id)
    const own = id === null || this.calls.has(id) ? this.madeId() : id
    this.calls.add(own)
    if (own === id) return null
    return { ...event, index: this.blocks - 1, content_block: { ...block, id: own } }
  }

  private madeId(): string {
    return madeCallId(this.id ?? '', '0', this.blocks - 1)
  }

  private delta(bytes: Uint8Array, at: number): FrameKind {
    let count = 0
    inside.open(bytes, at)
    while (inside.next()) {
      if (bytes[inside.value] === QUOTE && said.some((name) => inside.is(name))) {
        const { value } = inside
        count += textBytes(bytes, value, inside.skip())
      } else if (inside.is('signature')) this.semantic = true
    }
    this.outputBytes += count
    this.semantic ||= count > 0
    return this.semantic ? frameKind.semantic : frameKind.lifecycle
  }

  private readRare(event: JsonObject, error: boolean): FrameKind {
    switch (this.type) {
      case 'message_start':
        return this.start(objectOf(event.message))
      case 'content_block_start':
        return this.blockStart(objectOf(event.content_block))
      case 'message_delta':
        this.count(objectOf(event.usage))
        return this.finish(objectOf(event.delta))
      default:
        if (this.type !== 'error' && !error) return frameKind.lifecycle
        return this.failed(faultIn(event.error ?? event))
    }
  }

  private start(message: JsonObject): FrameKind {
    const { id, model, usage, content, stop_reason: reason } = message
    const own = typeof id === 'string' ? id : ''
    if (this.id !== null && this.id !== own) {
      const text = 'another message began before the first had ended'
      return this.failed({ kind: 'unreadable', message: text })
    }
    const again = this.id !== null
    this.id = own
    if (typeof model === 'string' && model !== '') this.model = model
    this.count(objectOf(usage))
    if (typeof reason === 'string' && reason !== '') this.finishReason = reason
    // Official clients fail at a message that begins twice.
    if (again) return frameKind.empty
    const speaks = Array.isArray(content) && content.length > 0
    this.semantic = speaks
    return speaks ? frameKind.semantic : frameKind.lifecycle
  }

  /** A start of text or thinking carries nothing new (its deltas do); a start of any other block does. */
  private blockStart(block: JsonObject): FrameKind {
    const { type, text, thinking } = block
    const begun = typeof text === 'string' ? text : typeof thinking === 'string' ? thinking : ''
    this.outputBytes += encoder.encode(begun).length
    this.semantic = begun !== '' || (type !== 'text' && type !== 'thinking')
    return this.semantic ? frameKind.semantic : frameKind.lifecycle
  }

  private count(usage: JsonObject): void {
    this.raw = mergeUsage(this.raw, usage)
    take(this, readUsage(this.options.quirks.usage?.(this.raw) ?? this.raw), this.raw)
  }

  /** Classes `message_delta` as the usage frame, to which the relay adds the cost if the client wants it. */
  private finish(delta: JsonObject): FrameKind {
    const { stop_reason: reason, stop_details: details } = delta
    const { explanation } = objectOf(details)
    if (typeof explanation === 'string') this.outputBytes += encoder.encode(explanation).length
    if (typeof reason === 'string' && reason !== '') {
      this.finishReason = reason
      this.semantic = true
    }
    return frameKind.usage
  }

  amend(bytes: Uint8Array, start: number, end: number): Uint8Array {
    const written = this.repaired ?? this.unnamed
    const beginning = this.beginning === '' ? [] : [encoder.encode(this.beginning)]
    this.unnamed = null
    this.repaired = null
    this.beginning = ''
    if (written === null || this.type === '')
      return join([...beginning, bytes.subarray(start, end)])
    const data = written.bytes.subarray(written.at, written.end)
    const name = encoder.encode(`event: ${this.type}\ndata: `)
    return join([...beginning, name, data, encoder.encode('\n\n')])
  }

  held(): null {
    return null
  }
}
