// Reads replies of Anthropic's Messages API, streamed or whole, into hub events.

import type { FaultKind } from '../../errors.ts'
import type { Reader, ReplyContext } from '../codec.ts'
import { report } from '../hub/counts.ts'
import type { ChatEvent, JsonObject, JsonValue } from '../ir.ts'
import { isObject, objectOf, objectsIn, setMember, stringOf } from '../json/value.ts'
import type { ReplyQuirks } from '../reply.ts'
import { frameObject } from '../reply.ts'
import { answersByTool } from './encode-tools.ts'
import { faultIn } from './fault.ts'
import { withExtra } from './fields.ts'
import { readFinish, writeFinish } from './finish.ts'
import { traitsOf } from './models.ts'
import { type Block, createBlock, isCallBlock, isReplyBlock } from './read-block.ts'
import { mergeUsage, readUsage } from './usage.ts'

const knownInMessage: ReadonlySet<string> = new Set([
  'id',
  'type',
  'role',
  'model',
  'content',
  'stop_reason',
  'stop_sequence',
  'stop_details',
  'usage',
])

/** Members of `usage` that the hub has kinds for; the others are kept as private fields. */
const counted: ReadonlySet<string> = new Set([
  'input_tokens',
  'output_tokens',
  'cache_creation_input_tokens',
  'cache_read_input_tokens',
  'cache_creation',
  'output_tokens_details',
])

function unknown(from: JsonObject, known: ReadonlySet<string>): JsonObject {
  const kept: JsonObject = {}
  for (const name in from)
    if (from[name] != null && !known.has(name)) setMember(kept, name, from[name])
  return kept
}

function trouble(kind: FaultKind, message: string): ChatEvent {
  return { type: 'fault', fault: { kind, message } }
}

export class MessagesReader implements Reader {
  private readonly quirks: ReplyQuirks
  /** The reply's text is the input of a tool: text before that call is not part of it. */
  private readonly byTool: boolean
  private readonly blocks = new Map<number, Block>()
  /** Events of text held back until it is known whether it belongs to the reply. */
  private aside: ChatEvent[] = []
  private parts = 0
  private id: string | null = null
  private usage: JsonObject = {}
  private started: JsonObject = {}
  private called = false
  private ended = false
  /** The message is complete or broken, and nothing more is read. */
  private over = false
  /** The message's stop event was read. */
  done = false

  constructor(quirks: ReplyQuirks, context?: ReplyContext) {
    this.quirks = quirks
    this.byTool = context !== undefined && answersByTool(context.request, traitsOf(context.model))
  }

  frame(data: string): readonly ChatEvent[] {
    if (this.over) return []
    const event = frameObject(data)
    if (typeof event === 'string') return this.fail(trouble('unreadable', event))
    const out: ChatEvent[] = []
    this.take(event, out)
    return out
  }

  /** A complete message has a stop_reason. */
  end(): readonly ChatEvent[] {
    if (this.over || this.ended) return []
    return this.fail(trouble('cut', 'the stream ended without a stop_reason'))
  }

  whole(body: JsonValue): readonly ChatEvent[] {
    if (!isObject(body)) return [trouble('unreadable', 'the reply is no object')]
    if (body.type === 'error' || isObject(body.error)) {
      return [{ type: 'fault', fault: faultIn(body.error ?? body) }]
    }
    if (!Array.isArray(body.content))
      return [trouble('unreadable', 'the reply has no list `content`')]
    const out: ChatEvent[] = []
    this.messageStart(body, out)
    if (stringOf(body.stop_reason) === '') this.stopped('end_turn', body, out)
    else this.stopped(stringOf(body.stop_reason), body, out)
    return out
  }

  private fail(event: ChatEvent): readonly ChatEvent[] {
    this.over = true
    return [event]
  }

  private take(event: JsonObject, out: ChatEvent[]): void {
    switch (event.type) {
      case 'message_start':
        this.another(objectOf(event.message), out)
        return
      case 'content_block_start':
        this.blockStart(Number(event.index), objectOf(event.content_block), out)
        return
      case 'content_block_delta':
        this.blockDelta(Number(event.index), objectOf(event.delta), out)
        return
      case 'content_block_stop':
        this.blockStop(Number(event.index), out)
        return
      case 'message_delta':
        this.messageDelta(event, out)
        return
      case 'message_stop':
        this.messageStop(out)
        return
      case 'error':
        out.push(...this.fail({ type: 'fault', fault: faultIn(event.error ?? event) }))
        return
      default:
        if (isObject(event.error)) {
          out.push(...this.fail({ type: 'fault', fault: faultIn(event.error) }))
        }
    }
  }

  /** Ignores a repeated start; a different message inside the first makes both unreadable. */
  private another(message: JsonObject, out: ChatEvent[]): void {
    if (this.id === null) this.messageStart(message, out)
    else if (stringOf(message.id) !== this.id) {
      const text = 'another message began before the first had ended'
      out.push(...this.fail(trouble('unreadable', text)))
    }
  }

  private messageStart(message: JsonObject, out: ChatEvent[]): void {
    const { model, usage, content } = message
    this.id = stringOf(message.id)
    this.started = message
    const extra = withExtra(unknown(message, knownInMessage))
    out.push({
      type: 'response-start',
      id: this.id,
      model: stringOf(model),
      createdAt: 0,
      ...extra,
    })
    this.count(objectOf(usage), out)
    for (const [at, block] of objectsIn(content).entries()) {
      this.blockStart(at, block, out)
      this.blockStop(at, out)
    }
  }

  private count(usage: JsonObject, out: ChatEvent[]): void {
    this.usage = mergeUsage(this.usage, usage)
    const raw = this.quirks.usage?.(this.usage) ?? this.usage
    const read = readUsage(raw)
    report(out, read, raw)
  }

  private blockStart(index: number, block: JsonObject, out: ChatEvent[]): void {
    // Writers have ended every item at the finish.
    if (this.ended) return
    this.blockStop(index, out)
    if (isReplyBlock(block)) this.aside = []
    else if (isCallBlock(block)) {
      this.called = true
      this.flush(out)
    }
    const opened = createBlock(this.parts++, block)
    // Calls may be open beside other blocks; of all other types only one may be.
    if (!isCallBlock(block)) this.closeOthers(out)
    this.blocks.set(index, opened)
    opened.start(this.outFor(block.type === 'text', out))
  }

  private closeOthers(out: ChatEvent[]): void {
    for (const [index, block] of [...this.blocks]) if (!block.isCall) this.blockStop(index, out)
  }

  private closeAll(out: ChatEvent[]): void {
    for (const index of [...this.blocks.keys()]) this.blockStop(index, out)
  }

  private outFor(isText: boolean, out: ChatEvent[]): ChatEvent[] {
    return this.byTool && isText ? this.aside : out
  }

  private flush(out: ChatEvent[]): void {
    out.push(...this.aside)
    this.aside = []
  }

  /** Opens the block if the vendor left out its start, with the type that the delta implies. */
  private blockDelta(index: number, delta: JsonObject, out: ChatEvent[]): void {
    const begun = this.blocks.get(index)
    if (begun === undefined) {
      const type = delta.type === 'text_delta' ? 'text' : 'thinking'
      if (type === 'thinking' && delta.type !== 'thinking_delta') return
      this.blockStart(index, { type }, out)
    }
    const isText = delta.type === 'text_delta' || delta.type === 'citations_delta'
    this.blocks.get(index)?.delta(delta, this.outFor(isText, out))
  }

  private blockStop(index: number, out: ChatEvent[]): void {
    const block = this.blocks.get(index)
    if (block === undefined) return
    this.blocks.delete(index)
    block.stop(this.outFor(block.isText, out))
  }

  private messageDelta(event: JsonObject, out: ChatEvent[]): void {
    const { delta, usage, type: _, ...rest } = event
    this.count(objectOf(usage), out)
    const said = objectOf(delta)
    const word = stringOf(said.stop_reason)
    if (word !== '') this.stopped(word, { ...rest, ...said }, out)
  }

  private stopped(word: string, fields: JsonObject, out: ChatEvent[]): void {
    if (this.ended) return
    this.closeAll(out)
    this.flush(out)
    this.ended = true
    this.refusal(word, fields, out)
    const stopText = stringOf(fields.stop_sequence) || undefined
    const reason = readFinish(word, this.called)
    const { stop_details: details } = fields
    const usage = unknown(this.usage, counted)
    const extra = {
      ...unknown(fields, knownInMessage),
      ...(isObject(details) && { stop_details: details }),
      // Kept where the hub's reason would not map back to this word.
      ...(writeFinish(reason, stopText) !== word && { stop_reason: word }),
      ...(Object.keys(usage).length > 0 && { usage }),
    }
    const stop = stopText === undefined ? {} : { stopText }
    out.push({ type: 'choice-end', choice: 0, reason, ...stop, ...withExtra(extra) })
  }

  /** Emits the vendor's explanation of a refusal, if it gives one. */
  private refusal(word: string, fields: JsonObject, out: ChatEvent[]): void {
    const text = stringOf(objectOf(fields.stop_details).explanation)
    if (word !== 'refusal' || text === '') return
    const part = this.parts++
    out.push({ type: 'part-start', choice: 0, part, head: { type: 'refusal' } })
    out.push({ type: 'part-delta', choice: 0, part, text })
    out.push({ type: 'part-end', choice: 0, part })
  }

  private messageStop(out: ChatEvent[]): void {
    const word = stringOf(this.started.stop_reason)
    if (!this.ended && word !== '') this.stopped(word, this.started, out)
    if (this.ended) {
      this.over = true
      this.done = true
    } else out.push(...this.fail(trouble('cut', 'the message ended without a stop_reason')))
  }
}
