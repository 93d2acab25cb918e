// Reads replies of Bedrock's Converse and ConverseStream into hub events.

import type { Reader, ReplyContext } from '../codec.ts'
import { report } from '../hub/counts.ts'
import type { ChatEvent, FinishReason, JsonObject, JsonValue } from '../ir.ts'
import { isObject, listOf, objectOf, stringOf } from '../json/value.ts'
import { saidIn } from '../openai/fault.ts'
import type { ReplyQuirks } from '../reply.ts'
import { frameObject } from '../reply.ts'
import { Blocks } from './blocks.ts'
import { familyOf } from './families.ts'
import { readException } from './fault.ts'
import { answersByTool } from './tools.ts'
import { readUsage } from './usage.ts'

/** Source: "StopReason", Bedrock Runtime API reference. */
const reasons: ReadonlyMap<string, FinishReason> = new Map([
  ['end_turn', 'stop'],
  ['stop_sequence', 'stop'],
  ['tool_use', 'tool_calls'],
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['guardrail_intervened', 'content_filter'],
  ['content_filtered', 'content_filter'],
])
/** The model's output could not be parsed: the reply is incomplete. */
const troubles: ReadonlySet<string> = new Set(['malformed_model_output', 'malformed_tool_use'])

/** Anthropic's stop text, in the member that the request asked for (`additionalModelResponseFieldPaths`). */
function stopTextIn(fields: JsonObject): string {
  return stringOf(fields['stop_sequence']) || stringOf(objectOf(fields['delta'])['stop_sequence'])
}

export class ConverseReader implements Reader {
  private readonly quirks: ReplyQuirks
  private out: ChatEvent[] = []
  private readonly blocks: Blocks
  private started = false
  private ended = false
  private broken = false
  /** Usage, which a stream reports last, was read after the finish. */
  done = false

  constructor(quirks: ReplyQuirks, context?: ReplyContext) {
    this.quirks = quirks
    const byTool = context !== undefined && answersByTool(context.request, familyOf(context.model))
    this.blocks = new Blocks((event) => this.out.push(event), byTool)
  }

  /** Reads `{"EVENT": payload}`, as AwsEventFrames writes it. */
  frame(data: string): readonly ChatEvent[] {
    this.out = []
    if (this.broken) return this.out
    const frame = frameObject(data)
    if (typeof frame === 'string') return this.fail({ kind: 'unreadable', message: frame })
    for (const [name, payload] of Object.entries(frame)) {
      if (!this.broken) this.take(name, payload ?? null)
    }
    return this.out
  }

  end(): readonly ChatEvent[] {
    if (this.ended || this.broken) return []
    this.out = []
    return this.fail({ kind: 'cut', message: 'the stream ended without a messageStop' })
  }

  whole(body: JsonValue): readonly ChatEvent[] {
    this.out = []
    const reply = objectOf(body)
    const message = objectOf(reply['output'])['message']
    if (!isObject(message)) {
      const said = saidIn(body).message
      const why = `the reply has no message${said === '' ? '' : `: ${said}`}`
      return this.fail({ kind: 'unreadable', message: why })
    }
    this.start()
    const content = listOf(message['content'])
    for (const [index, block] of content.entries()) this.blocks.whole(index, objectOf(block))
    this.count(reply)
    this.finish(reply)
    return this.out
  }

  private fail(fault: Extract<ChatEvent, { readonly type: 'fault' }>['fault']): ChatEvent[] {
    this.broken = true
    this.out.push({ type: 'fault', fault })
    return this.out
  }

  private start(): void {
    if (this.started) return
    this.started = true
    this.out.push({ type: 'response-start', id: '', model: '', createdAt: 0 })
  }

  private take(name: string, payload: JsonValue): void {
    if (name === 'error' || name.endsWith('Exception')) {
      const fields = objectOf(payload)
      this.fail(readException(name === 'error' ? stringOf(fields['code']) || name : name, payload))
      return
    }
    this.start()
    const event = objectOf(payload)
    if (name === 'metadata') {
      this.count(event)
      this.done = this.ended
    }
    // Events after the finish are ignored.
    else if (!this.ended) this.said(name, event)
  }

  private said(name: string, event: JsonObject): void {
    const index = typeof event['contentBlockIndex'] === 'number' ? event['contentBlockIndex'] : 0
    if (name === 'contentBlockStart') this.blocks.start(index, objectOf(event['start']))
    else if (name === 'contentBlockDelta') this.blocks.delta(index, objectOf(event['delta']))
    else if (name === 'contentBlockStop') this.blocks.stop(index)
    else if (name === 'messageStop') this.finish(event)
  }

  private count({ usage }: JsonObject): void {
    const counted = isObject(usage) ? readUsage(this.quirks.usage?.(usage) ?? usage) : null
    report(this.out, counted, usage)
  }

  /** `end` has `stopReason`: it is the event `messageStop`, or a whole reply. */
  private finish(end: JsonObject): void {
    const word = stringOf(end['stopReason'])
    if (troubles.has(word)) {
      const message = `the vendor stopped with stopReason '${word}'`
      this.fail({ kind: 'vendor_error', message, code: word })
      return
    }
    this.blocks.end()
    this.ended = true
    const known = reasons.get(word) ?? 'stop'
    const plain = known === 'stop' || known === 'tool_calls'
    const reason = !plain ? known : this.blocks.called ? 'tool_calls' : 'stop'
    const stopText = stopTextIn(objectOf(end['additionalModelResponseFields']))
    this.out.push({
      type: 'choice-end',
      choice: 0,
      reason,
      ...(stopText !== '' && { stopText }),
    })
  }
}
