// Reads chat completion replies, streamed or whole, from OpenAI and all compatible vendors, into hub events.

import type { Fault, FaultKind } from '../../errors.ts'
import type { Reader } from '../codec.ts'
import { choiceIndex } from '../hub/choice-index.ts'
import { report } from '../hub/counts.ts'
import type { ChatEvent, JsonObject, JsonValue } from '../ir.ts'
import { isObject, listOf, setMember, stringOf } from '../json/value.ts'
import { errorIn, faultInside, saidIn } from '../openai/fault.ts'
import { joinedUsage, readUsage, usageIn } from '../openai/usage.ts'
import type { ReplyQuirks } from '../reply.ts'
import { frameObject } from '../reply.ts'
import { ChoiceReader } from './hub-choice.ts'
import { withExtra } from './hub-fields.ts'

const knownAtTop: ReadonlySet<string> = new Set([
  'id',
  'object',
  'created',
  'model',
  'choices',
  'usage',
  // Random padding, different on each frame.
  'obfuscation',
])

/** A larger value of `created` is in milliseconds. */
const latestSecond = 1e11

function secondsOf(created: JsonValue | undefined): number {
  if (typeof created !== 'number' || !(created > 0)) return 0
  return Math.floor(created > latestSecond ? created / 1000 : created)
}

function fault(kind: FaultKind, message: string): ChatEvent {
  return { type: 'fault', fault: { kind, message } }
}

/** Private top-level fields of frames; each is passed on when it first appears and whenever it changes. */
class TopFields {
  private readonly seen = new Map<string, string>()
  private readonly usagePath: readonly string[]

  constructor(usagePath: readonly string[] = []) {
    this.usagePath = usagePath
  }

  news(frame: JsonObject): JsonObject {
    const news: JsonObject = {}
    for (const name in frame) {
      if (frame[name] == null || knownAtTop.has(name)) continue
      const value = this.withoutUsage(name, frame[name])
      const text = typeof value === 'string' ? value : JSON.stringify(value)
      if (this.seen.get(name) === text) continue
      this.seen.set(name, text)
      setMember(news, name, value)
    }
    return news
  }

  /** The member without the usage that some vendors nest in it: usage is sent separately, and only if asked for. */
  private withoutUsage(name: string, value: JsonValue): JsonValue {
    const [first, second, ...more] = this.usagePath
    if (name !== first || second === undefined || more.length > 0 || !isObject(value)) return value
    const { [second]: _, ...rest } = value
    return rest
  }
}

export class ChatReader implements Reader {
  private readonly quirks: ReplyQuirks
  private readonly top: TopFields
  private readonly choices = new Map<number, ChoiceReader>()
  private held: JsonObject = {}
  /** The last usage as the vendor sent it. */
  private reported: JsonObject | null = null
  private id = ''
  private started = false
  private broken = false

  constructor(quirks: ReplyQuirks) {
    this.quirks = quirks
    this.top = new TopFields(quirks.usagePath)
  }

  frame(data: string): readonly ChatEvent[] {
    return this.parsed(data, null)
  }

  /** Reads one frame of a format whose frames `translate` converts to this one's. */
  parsed(
    data: string,
    translate: ((frame: JsonObject) => JsonObject) | null,
  ): readonly ChatEvent[] {
    const frame = frameObject(data)
    if (typeof frame === 'string') return this.fail(fault('unreadable', frame))
    return this.take(translate === null ? frame : translate(frame), false)
  }

  /** Every choice must have a finish reason; `[DONE]` alone is not enough. */
  end(): readonly ChatEvent[] {
    if (this.broken) return []
    const open = [...this.choices.values()].some((choice) => !choice.ended)
    if (this.choices.size > 0 && !open) return []
    return this.fail(fault('cut', 'the stream ended without a finish_reason'))
  }

  whole(body: JsonValue): readonly ChatEvent[] {
    if (!isObject(body)) return [fault('unreadable', 'the reply is no object')]
    const failed = faultIn(body)
    if (failed !== null) return [{ type: 'fault', fault: failed }]
    if (!Array.isArray(body['choices']) || !body['choices'].some(isObject)) {
      const said = saidIn(body).message
      return [fault('unreadable', `the reply has no choices${said === '' ? '' : `: ${said}`}`)]
    }
    return this.take(body, true)
  }

  private fail(event: ChatEvent): readonly ChatEvent[] {
    this.broken = true
    return [event]
  }

  private take(frame: JsonObject, whole: boolean): readonly ChatEvent[] {
    const out: ChatEvent[] = []
    const found = usageIn(frame, this.quirks.usagePath)
    if (found !== null) {
      const raw = joinedUsage(this.reported, found)
      this.reported = raw
      const usage = readUsage(this.quirks.usage?.(raw) ?? raw)
      report(out, usage, raw)
    }
    const failed = faultIn(frame)
    if (failed !== null) {
      this.broken = true
      out.push({ type: 'fault', fault: failed })
      return out
    }
    const choices = listOf(frame['choices'])
    this.head(frame, choices.length > 0, out)
    for (const [at, choice] of choices.entries()) {
      if (isObject(choice)) this.choiceOf(choice, at).take(choice, whole, out)
    }
    return out
  }

  /** The reply starts with the first frame with an id, a model or content; Azure's first frames have none of them. */
  private head(frame: JsonObject, speaks: boolean, out: ChatEvent[]): void {
    const news = this.top.news(frame)
    if (this.started) {
      const { extra } = withExtra(news)
      if (extra !== undefined) out.push({ type: 'extra', choice: null, extra })
      return
    }
    this.held = { ...this.held, ...news }
    const id = stringOf(frame['id'])
    const model = stringOf(frame['model'])
    if (id === '' && model === '' && !speaks) return
    this.started = true
    this.id = id
    const createdAt = secondsOf(frame['created'])
    // The head must precede the usage of the same frame.
    out.unshift({ type: 'response-start', id, model, createdAt, ...withExtra(this.held) })
    this.held = {}
  }

  private choiceOf(choice: JsonObject, at: number): ChoiceReader {
    const index = choiceIndex(choice['index'], at)
    const known = this.choices.get(index)
    if (known !== undefined) return known
    const opened = new ChoiceReader(index, this.id)
    this.choices.set(index, opened)
    return opened
  }
}

/** The error that a frame or a body reports instead of, or beside, its choices; null if it reports none. */
function faultIn(frame: JsonObject): Fault | null {
  const error = errorIn(frame)
  if (error !== null) return faultInside(error)
  // vLLM sends the error object itself as the frame.
  if (frame.object === 'error') return faultInside(frame)
  const base = frame.base_resp
  // MiniMax, "Error codes": 0 is success.
  if (!isObject(base) || !base.status_code) return null
  return faultInside({ code: base.status_code, message: base.status_msg ?? '' })
}
