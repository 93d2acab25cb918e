// Reads Google replies, streamed or whole, into hub events; a whole reply counts as the only frame of its stream.

import type { FaultKind } from '../../errors.ts'
import type { Reader } from '../codec.ts'
import { choiceIndex } from '../hub/choice-index.ts'
import { report } from '../hub/counts.ts'
import type { ChatEvent, JsonObject, JsonValue, Usage } from '../ir.ts'
import { parsedWithCalls } from '../json/exact.ts'
import { isObject, objectsIn, setMember, stringOf } from '../json/value.ts'
import type { ReplyQuirks } from '../reply.ts'
import { frameObject } from '../reply.ts'
import { faultInside } from './fault.ts'
import { membersOf, withExtra } from './fields.ts'
import { CandidateReader } from './reader-candidate.ts'
import { laterUsage, readUsage } from './usage.ts'

/** Members of a frame with a meaning here; all others are kept for clients of this format. */
const known: ReadonlySet<string> = new Set([
  'candidates',
  'usageMetadata',
  'modelVersion',
  'responseId',
  'createTime',
  'promptFeedback',
])

function fault(kind: FaultKind, message: string): ChatEvent {
  return { type: 'fault', fault: { kind, message } }
}

function secondsOf(time: JsonValue | undefined): number {
  const ms = Date.parse(stringOf(time))
  return Number.isNaN(ms) ? 0 : Math.floor(ms / 1000)
}

export class GeminiReader implements Reader {
  private readonly quirks: ReplyQuirks
  private readonly candidates = new Map<number, CandidateReader>()
  /** As reported so far. */
  private usage: Usage | null = null
  private id = ''
  private started = false
  private broken = false
  /** The prompt was refused: there will be no candidate. */
  private blocked = false

  constructor(quirks: ReplyQuirks) {
    this.quirks = quirks
  }

  frame(data: string): readonly ChatEvent[] {
    const frame = frameObject(data, parsedWithCalls)
    if (typeof frame === 'string') return this.fail(fault('unreadable', frame))
    return this.take(frame, false)
  }

  /** True once all candidates have finished: usage may follow, but need not. */
  get enough(): boolean {
    if (this.broken) return false
    if (this.blocked) return true
    return this.candidates.size > 0 && [...this.candidates.values()].every(({ ended }) => ended)
  }

  /** Every candidate must have a finish reason: the format has no terminator. */
  end(): readonly ChatEvent[] {
    if (this.broken || this.blocked) return []
    if (this.enough) return this.finish()
    return this.fail(fault('cut', 'the stream ended without a finishReason'))
  }

  /** `body` is a reply, or the list of frames that a stream without `alt=sse` is. */
  whole(body: JsonValue): readonly ChatEvent[] {
    if (Array.isArray(body)) {
      const out = objectsIn(body).flatMap((frame) => (this.broken ? [] : this.take(frame, false)))
      return [...out, ...this.end()]
    }
    if (!isObject(body)) return [fault('unreadable', 'the reply is no object')]
    const out = this.take(body, true)
    if (this.broken || this.blocked) return out
    if (this.candidates.size > 0) return [...out, ...this.finish()]
    return [fault('unreadable', 'the reply has no candidates')]
  }

  private finish(): ChatEvent[] {
    const out: ChatEvent[] = []
    for (const candidate of this.candidates.values()) candidate.end(out)
    return out
  }

  private fail(event: ChatEvent): readonly ChatEvent[] {
    this.broken = true
    return [event]
  }

  private take(raw: JsonObject, whole: boolean): readonly ChatEvent[] {
    if (this.broken) return []
    const out: ChatEvent[] = []
    const frame = membersOf(raw)
    const { error } = frame
    if (error !== undefined && error !== false) {
      return this.fail({ type: 'fault', fault: faultInside(error) })
    }
    this.head(frame, out)
    const counted = frame['usageMetadata']
    if (isObject(counted)) {
      const found = readUsage(this.quirks.usage?.(counted) ?? membersOf(counted))
      if (found !== null) this.usage = laterUsage(this.usage, found)
      report(out, found === null ? null : this.usage, counted)
    }
    const candidates = objectsIn(frame['candidates'])
    for (const [at, candidate] of candidates.entries()) {
      this.candidateOf(candidate, at).take(candidate, whole, out)
      if (out.at(-1)?.type !== 'fault') continue
      this.broken = true
      return out
    }
    const feedback = frame['promptFeedback']
    if (candidates.length === 0 && isObject(feedback)) this.block(membersOf(feedback), out)
    return out
  }

  /** A refused prompt is the whole reply. */
  private block(feedback: JsonObject, out: ChatEvent[]): void {
    if (this.blocked || this.candidates.size > 0) return
    if (stringOf(feedback['blockReason']) === '') return
    this.blocked = true
    const { extra = {} } = withExtra({ promptFeedback: feedback })
    out.push({ type: 'choice-end', choice: 0, reason: 'content_filter', extra })
  }

  private head(frame: JsonObject, out: ChatEvent[]): void {
    if (this.started) return
    this.started = true
    this.id = stringOf(frame['responseId'])
    const fields: JsonObject = {}
    for (const name in frame) if (!known.has(name)) setMember(fields, name, frame[name])
    const createdAt = secondsOf(frame['createTime'])
    const model = stringOf(frame['modelVersion'])
    out.push({ type: 'response-start', id: this.id, model, createdAt, ...withExtra(fields) })
  }

  private candidateOf(candidate: JsonObject, at: number): CandidateReader {
    const index = choiceIndex(candidate['index'], at)
    const found = this.candidates.get(index)
    if (found !== undefined) return found
    const opened = new CandidateReader(index, this.id)
    this.candidates.set(index, opened)
    return opened
  }
}
