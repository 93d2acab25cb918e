// Reads replies of Cohere's Chat API, streamed or whole, into hub events.

import type { Reader } from '../codec.ts'
import { report } from '../hub/counts.ts'
import type { ChatEvent, FinishReason, JsonObject, JsonValue } from '../ir.ts'
import { isObject, listOf, objectOf, stringOf } from '../json/value.ts'
import { errorIn, faultInside, saidIn } from '../openai/fault.ts'
import type { ReplyQuirks } from '../reply.ts'
import { frameObject } from '../reply.ts'
import { SseFrames } from '../sse-frames.ts'
import { Parts } from './parts.ts'
import { readUsage } from './usage.ts'

/** Regular finish reasons; the older spellings come from models still in service. */
const reasons: ReadonlyMap<string, FinishReason> = new Map([
  ['COMPLETE', 'stop'],
  ['STOP_SEQUENCE', 'stop'],
  ['MAX_TOKENS', 'length'],
  ['ERROR_LIMIT', 'length'],
  ['TOOL_CALL', 'tool_calls'],
  ['ERROR_TOXIC', 'content_filter'],
])
/** The vendor's own failure: the reply is incomplete. */
const troubles: ReadonlySet<string> = new Set(['ERROR', 'TIMEOUT', 'USER_CANCEL'])

export class CohereReader implements Reader {
  private readonly quirks: ReplyQuirks
  private out: ChatEvent[] = []
  private readonly parts = new Parts((event) => this.out.push(event))
  private started = false
  private ended = false
  private broken = false

  constructor(quirks: ReplyQuirks) {
    this.quirks = quirks
  }

  frame(data: string): readonly ChatEvent[] {
    this.out = []
    // Events after the end are ignored.
    if (this.ended || this.broken) return this.out
    const frame = frameObject(data)
    if (typeof frame === 'string') return this.fail(frame)
    this.take(frame)
    return this.out
  }

  end(): readonly ChatEvent[] {
    if (this.ended || this.broken) return []
    const message = 'the stream ended without a message-end'
    return [{ type: 'fault', fault: { kind: 'cut', message } }]
  }

  whole(body: JsonValue): readonly ChatEvent[] {
    this.out = []
    const error = isObject(body) ? errorIn(body) : null
    if (error !== null) return [{ type: 'fault', fault: faultInside(error) }]
    const message = isObject(body) ? body['message'] : null
    if (!isObject(body) || !isObject(message)) {
      const said = saidIn(body).message
      return this.fail(`the reply has no message${said === '' ? '' : `: ${said}`}`)
    }
    this.start(body)
    this.parts.say('reasoning', 'plan', stringOf(message['tool_plan']))
    const { content } = message
    const list = typeof content === 'string' ? [{ text: content }] : content
    const cited = listOf(message['citations'])
    if (Array.isArray(list)) {
      for (const [index, part] of list.entries()) {
        this.say(String(index), objectOf(part))
        for (const citation of cited) this.parts.cite(citation, String(index))
      }
    }
    const calls = listOf(message['tool_calls'])
    for (const [index, call] of calls.entries()) this.parts.call(String(index), objectOf(call))
    this.finish(body)
    return this.out
  }

  private fail(message: string): readonly ChatEvent[] {
    this.broken = true
    this.out.push({ type: 'fault', fault: { kind: 'unreadable', message } })
    return this.out
  }

  private start({ id }: JsonObject): void {
    if (this.started) return
    this.started = true
    this.out.push({ type: 'response-start', id: stringOf(id), model: '', createdAt: 0 })
  }

  private take(frame: JsonObject): void {
    const delta = objectOf(frame['delta'])
    const message = objectOf(delta['message'])
    const key = String(frame['index'] ?? 0)
    const { type } = frame
    if (typeof type !== 'string' || type === 'error') {
      this.refused(frame)
      return
    }
    this.start(frame)
    switch (type) {
      case 'content-start':
      case 'content-delta':
        this.say(key, objectOf(message['content']))
        break
      case 'tool-plan-delta':
        this.parts.say('reasoning', 'plan', stringOf(message['tool_plan']))
        break
      case 'tool-call-start':
        this.parts.call(key, objectOf(message['tool_calls']))
        break
      case 'tool-call-delta':
        this.parts.more(key, objectOf(message['tool_calls']))
        break
      case 'citation-start':
        this.parts.cite(message['citations'] ?? null, null)
        break
      case 'message-end':
        this.finish(delta)
        break
      // `content-end`, `tool-call-end` and `citation-end` add nothing to the next event; unknown types are ignored.
    }
  }

  private say(key: string, { thinking, text }: JsonObject): void {
    this.parts.say('reasoning', key, stringOf(thinking))
    this.parts.say('text', key, stringOf(text))
  }

  /** Reads an error sent in place of an event; ignores an event without one. */
  private refused(frame: JsonObject): void {
    const error = errorIn(frame) ?? (stringOf(frame['message']) === '' ? null : frame)
    if (error === null) return
    this.broken = true
    this.out.push({ type: 'fault', fault: faultInside(error) })
  }

  /** `end` has `finish_reason` and `usage`: it is the delta of `message-end`, or a whole reply. */
  private finish(end: JsonObject): void {
    const word = stringOf(end['finish_reason']).toUpperCase()
    const raw = end['usage']
    const usage = isObject(raw) ? readUsage(this.quirks.usage?.(raw) ?? raw) : null
    report(this.out, usage, raw)
    if (troubles.has(word)) {
      this.broken = true
      const said = stringOf(end['error'])
      const message = said === '' ? `the vendor stopped with finish_reason ${word}` : said
      this.out.push({ type: 'fault', fault: { kind: 'vendor_error', message, code: word } })
      return
    }
    this.parts.end()
    this.ended = true
    const known = reasons.get(word) ?? 'stop'
    const plain = known === 'stop' || known === 'tool_calls'
    const reason = !plain ? known : this.parts.called ? 'tool_calls' : 'stop'
    this.out.push({ type: 'choice-end', choice: 0, reason })
  }
}

/** Cannot match inside a JSON string, where quotes follow a backslash. */
const last = /"type"\s*:\s*"message-end"/

/** Yields the data of a stream's frames, up to the event that ends it. */
export class CohereFrames extends SseFrames {
  protected override dataOf(bytes: Uint8Array, start: number, end: number): string {
    const data = super.dataOf(bytes, start, end)
    if (last.test(data)) this.done = true
    return data
  }
}
