// Watches a chat or text completion stream on the identity path: classifies frames and collects or hides usage.

import type { Fault } from '../../errors.ts'
import { take } from '../hub/counts.ts'
import type { JsonObject, JsonValue, Usage } from '../ir.ts'
import { JsonSyntaxError, parseSpan, skipSpace, spells } from '../json/scan.ts'
import { type Edit, join, splice } from '../json/splice.ts'
import { isObject } from '../json/value.ts'
import { type FrameKind, frameKind, type Watcher, type WatchOptions } from '../reply.ts'
import { frameData, plainDataStart, unframedJson } from '../sse.ts'
import { emptyKind } from '../sse-frames.ts'
import { ChunkScan } from './chunk.ts'
import { ChunkRepair } from './chunk-repair.ts'
import { errorIn, faultInside, faultOfFinish } from './fault.ts'
import { placeOf } from './place.ts'
import { stringOf } from './rules.ts'
import { joinedUsage, readUsage, shownUsage, usageIn } from './usage.ts'

const encoder = new TextEncoder()
const prefix = encoder.encode('data: ')
const suffix = encoder.encode('\n\n')
const done = '[DONE]'
const topLevel: readonly string[] = ['usage']
const LF = 0x0a
const CR = 0x0d

/**
 * Members that are useless without the usage of a chunk without choices: ids, and measurements that some servers add.
 * With any other member the chunk is kept.
 */
const accounting: ReadonlySet<string> = new Set([
  'id',
  'object',
  'created',
  'model',
  'choices',
  'usage',
  'system_fingerprint',
  'service_tier',
  'obfuscation',
  'provider',
  'timings',
  'time_info',
  'metrics',
])

export class CompletionWatcher implements Watcher {
  fault: Fault | null = null
  usage: Usage | null = null
  unbelieved = false
  outputBytes = 0
  finishReason: string | null = null
  model: string | null = null
  semantic = false
  endsOddly = false
  private readonly options: WatchOptions
  private readonly usagePath: readonly string[]
  private readonly scan: ChunkScan
  /** The document of the last usage frame with its offsets in `bytes`, and its usage as the vendor sent it. */
  private document: { bytes: Uint8Array; start: number; end: number; value: JsonObject } | null =
    null
  private raw: JsonObject | null = null
  /** The same before it is corrected by what is known of the vendor. */
  private reported: JsonObject | null = null
  private readonly repair = new ChunkRepair()
  /** The chunk of the last frame in another form than the vendor's; null where it stays as it is. */
  private repaired: JsonObject | null = null
  /** The usage chunk that must be sent before the terminator. */
  private due: Uint8Array | null = null

  constructor(options: WatchOptions) {
    this.options = options
    this.usagePath = options.quirks.usagePath ?? []
    this.scan = new ChunkScan(this.usagePath[0], true, (options.peek?.choices ?? 1) > 1)
  }

  get unended(): boolean {
    return this.scan.unended
  }

  frame(bytes: Uint8Array, start: number, end: number): FrameKind {
    this.semantic = false
    const at = plainDataStart(bytes, start, end)
    if (at < 0) return this.unusual(bytes, start, end)
    if (bytes[at] === 0x7b && this.reads(bytes, at, end)) return this.judge(bytes, at)
    if (spells(bytes, at, at + done.length, done))
      return this.done((bytes[at + done.length] ?? LF) <= CR)
    return this.unusual(bytes, start, end)
  }

  /** Whether `bytes[at, end)` is one JSON object; the scan then holds its facts. */
  private reads(bytes: Uint8Array, at: number, end: number): boolean {
    try {
      this.scan.read(bytes, at)
    } catch (error) {
      if (error instanceof JsonSyntaxError) return false
      throw error
    }
    return this.scan.end <= end && skipSpace(bytes, this.scan.end) >= end
  }

  /** Reads a frame with comments, several data lines or other fields, or one that is not JSON. */
  private unusual(bytes: Uint8Array, start: number, end: number): FrameKind {
    const { data, event } = frameData(bytes, start, end)
    const text = (data ?? unframedJson(bytes, start, end)).trim()
    if (event === 'error') return this.failed(errorEvent(text))
    if (text === '') return emptyKind(bytes, start, end)
    if (text === done) return this.done(data === done)
    // Joins data lines with spaces: a line end between them is white space in JSON.
    const document = encoder.encode(text.replaceAll('\n', ' '))
    if (document[0] !== 0x7b || !this.reads(document, 0, document.length)) {
      return this.failed({ kind: 'unreadable', message: 'an event of the stream is not JSON' })
    }
    return this.judge(document, 0)
  }

  private failed(fault: Fault): FrameKind {
    this.fault = fault
    return frameKind.fault
  }

  private done(isPlain: boolean): FrameKind {
    this.endsOddly = !isPlain
    return frameKind.done
  }

  private judge(bytes: Uint8Array, at: number): FrameKind {
    const { scan } = this
    if (scan.error || scan.usageAt >= 0 || scan.hiddenUsage || this.mayNeedRepair)
      return this.judgeParsed(bytes, at)
    return this.note(bytes) ?? (this.semantic ? frameKind.semantic : frameKind.lifecycle)
  }

  /** Most pieces of calls only go on with the text of a call as it is. */
  private get mayNeedRepair(): boolean {
    const { scan, repair } = this
    if (scan.choices < 0 || scan.varied || scan.pieces > 1) return true
    if (scan.pieces === 1 && !repair.continues(scan.continued, scan.continuedText)) return true
    return repair.calling && scan.finishAt >= 0
  }

  /** Takes the facts from the scan; gives a frame kind only for a fault. */
  private note(bytes: Uint8Array): FrameKind | null {
    const { scan } = this
    this.outputBytes += scan.outputBytes
    this.semantic = scan.semantic || scan.finishAt >= 0
    if (this.model === null && scan.modelAt >= 0) {
      const model = stringOf(bytes, scan.modelAt, scan.modelEnd)
      if (model !== '') this.model = model
    }
    if (scan.finishAt < 0) return null
    this.finishReason = stringOf(bytes, scan.finishAt, scan.finishEnd)
    const fault = faultOfFinish(this.finishReason)
    return fault === null ? null : this.failed(fault)
  }

  /** Parses a frame with more than text, of which a stream has only a few. */
  private judgeParsed(bytes: Uint8Array, at: number): FrameKind {
    const { end } = this.scan
    let value: JsonObject
    let fault: FrameKind | null
    try {
      value = parseSpan(bytes, at, end) as JsonObject
      const error = this.scan.error ? errorIn(value) : null
      if (error !== null) return this.failed(faultInside(error))
      fault = this.note(bytes)
    } catch (error) {
      if (!(error instanceof JsonSyntaxError)) throw error
      return this.failed({ kind: 'unreadable', message: 'an event of the stream is not JSON' })
    }
    const found = usageIn(value, this.options.quirks.usagePath)
    const raw = found === null ? null : joinedUsage(this.reported, found)
    if (raw !== null) {
      this.reported = raw
      this.raw = this.options.quirks.usage?.(raw) ?? raw
      take(this, readUsage(this.raw), raw)
      this.document = { bytes, start: at, end, value }
    }
    if (fault !== null) return fault
    const bareUsage = raw !== null && value.choices == null
    this.repaired = !bareUsage && this.repair.repair(value) ? value : null
    if (raw !== null || this.repaired !== null) return frameKind.usage
    return this.semantic ? frameKind.semantic : frameKind.lifecycle
  }

  amend(bytes: Uint8Array, start: number, end: number): Uint8Array | null {
    const { document, raw, repaired } = this
    this.repaired = null
    const other = repaired === null ? null : encoder.encode(JSON.stringify(repaired))
    if (document === null || raw === null)
      return other === null ? bytes.subarray(start, end) : framed(other, 0, other.length, [])
    this.document = null
    const shown = this.options.wantsUsage ? shownUsage(raw) : null
    const bare = this.isBare(document.value)
    if (bare && shown === null) return null
    if (bare && isObject(document.value.usage)) {
      const same = JSON.stringify(shown) === JSON.stringify(document.value.usage)
      const plain = same && document.bytes === bytes
      if (document.value.choices == null) this.due = usageChunk(document.value, shown)
      else this.due = plain ? bytes.subarray(start, end) : this.reshown(document, shown)
      return null
    }
    if (shown !== null) this.due = usageChunk(document.value, shown)
    if (bare) return null
    const shownAs = other === null ? document : { bytes: other, start: 0, end: other.length }
    return framed(shownAs.bytes, shownAs.start, shownAs.end, this.cuts(shownAs))
  }

  held(): Uint8Array | null {
    const { due } = this
    this.due = null
    return due
  }

  /** Whether the chunk has only usage and what accompanies it. */
  private isBare(value: JsonObject): boolean {
    // Official clients fail at a chunk without the list, which some vendors leave out beside usage.
    const { choices = null } = value
    if (choices !== null && (!Array.isArray(choices) || choices.length > 0)) return false
    const root = this.usagePath[0]
    for (const [name, member] of Object.entries(value)) {
      if (member !== null && name !== root && !accounting.has(name)) return false
    }
    return true
  }

  /** The same frame with its usage corrected. */
  private reshown(
    document: { bytes: Uint8Array; start: number; end: number },
    shown: JsonObject | null,
  ): Uint8Array {
    const { bytes, start, end } = document
    const place = placeOf(bytes, start, topLevel)
    const edits =
      place === null
        ? []
        : [{ start: place.start, end: place.end, text: JSON.stringify(shown satisfies JsonValue) }]
    return framed(bytes, start, end, edits)
  }

  /** Edits that remove usage from a document, from each place where it may be. */
  private cuts(document: { bytes: Uint8Array; start: number }): Edit[] {
    const paths = this.usagePath.length > 0 ? [topLevel, this.usagePath] : [topLevel]
    return paths.flatMap((path) => placeOf(document.bytes, document.start, path)?.cut ?? [])
  }
}

/** `bytes[start, end)`, edited, as a frame of its own. */
function framed(bytes: Uint8Array, start: number, end: number, edits: readonly Edit[]): Uint8Array {
  const moved = edits.map((edit) => ({
    ...edit,
    start: edit.start - start,
    end: edit.end - start,
  }))
  return join([prefix, ...splice(bytes.subarray(start, end), moved), suffix])
}

/** The chunk that OpenAI's `include_usage` promises, made from a chunk of the vendor. */
function usageChunk(chunk: JsonObject, usage: JsonObject | null): Uint8Array {
  const { id, object, created, model, service_tier, system_fingerprint } = chunk
  const head = { id, object, created, model, service_tier, system_fingerprint }
  return encoder.encode(`data: ${JSON.stringify({ ...head, choices: [], usage })}\n\n`)
}

function errorEvent(data: string): Fault {
  let value: JsonValue = data
  try {
    value = JSON.parse(data) as JsonValue
  } catch {
    // The event's name says that it is an error; its data may be plain text.
  }
  const error = isObject(value) ? (errorIn(value) ?? value) : value
  return faultInside(error)
}
