// Reads what one choice of a chat reply says, delta by delta, into events.

import type { ChatEvent, JsonObject, JsonValue } from '../ir.ts'
import { isObject } from '../openai/usage.ts'
import { CallReader } from './hub-calls.ts'
import { hasFields, stringOf, unknownFields, withExtra } from './hub-fields.ts'
import { readFinish } from './hub-finish.ts'

type TextType = 'text' | 'reasoning' | 'refusal'

const knownInChoice: ReadonlySet<string> = new Set([
  'index',
  'delta',
  'message',
  'finish_reason',
  'usage',
])
const knownInDelta: ReadonlySet<string> = new Set([
  'role',
  'content',
  'reasoning_content',
  'reasoning',
  'refusal',
  'tool_calls',
  // Mistral repeats the choice's own index here.
  'index',
])

function textOf(list: JsonValue | undefined): string {
  if (typeof list === 'string') return list
  if (!Array.isArray(list)) return ''
  return list.map((item) => (isObject(item) ? stringOf(item['text']) : '')).join('')
}

/** Reasoning in any of its fields; OpenRouter's details only where they alone carry it. */
function reasoningIn(delta: JsonObject): string {
  return (
    stringOf(delta['reasoning_content']) ||
    stringOf(delta['reasoning']) ||
    textOf(delta['reasoning_details'])
  )
}

export class ChoiceReader {
  readonly index: number
  ended = false
  private parts = 0
  private open: { readonly type: TextType; readonly part: number } | null = null
  private readonly replyId: string
  private readonly calls: CallReader

  constructor(index: number, replyId: string) {
    this.index = index
    this.replyId = replyId
    this.calls = new CallReader(this)
  }

  nextPart(): number {
    return this.parts++
  }

  closeText(out: ChatEvent[]): void {
    if (this.open === null) return
    out.push({ type: 'part-end', choice: this.index, part: this.open.part })
    this.open = null
  }

  callId(ordinal: number): string {
    const tail = this.replyId.replace(/[^a-zA-Z0-9]/g, '').slice(-16)
    return `call_${tail}_${this.index}_${ordinal}`
  }

  /**
   * One element of `choices`. What is said of a choice after its finish belongs to no reply and is passed
   * over. `whole`: the element is of a whole reply, which cannot be unfinished.
   */
  take(choice: JsonObject, whole: boolean, out: ChatEvent[]): void {
    if (this.ended) return
    const { delta, message } = choice
    const said = isObject(delta) ? delta : isObject(message) ? message : {}
    this.extras(choice, said, out)
    this.say('reasoning', reasoningIn(said), out)
    this.content(said['content'], out)
    this.say('refusal', stringOf(said['refusal']), out)
    const calls = said['tool_calls']
    if (Array.isArray(calls)) this.calls.take(calls, whole || delta == null, out)
    const word = stringOf(choice['finish_reason'])
    if (word !== '') this.finish(word, out)
    else if (whole) this.finish(this.calls.any ? 'tool_calls' : 'stop', out)
  }

  private extras(choice: JsonObject, said: JsonObject, out: ChatEvent[]): void {
    const fields = unknownFields(choice, knownInChoice)
    const inside = unknownFields(said, knownInDelta)
    if (hasFields(inside)) fields['delta'] = inside
    const { extra } = withExtra(fields)
    if (extra !== undefined) out.push({ type: 'extra', choice: this.index, extra })
  }

  private content(content: JsonValue | undefined, out: ChatEvent[]): void {
    if (typeof content === 'string') this.say('text', content, out)
    if (!Array.isArray(content)) return
    for (const part of content) {
      if (typeof part === 'string') this.say('text', part, out)
      if (!isObject(part)) continue
      if (part['type'] === 'thinking') this.say('reasoning', textOf(part['thinking']), out)
      else if (part['type'] === 'text') this.say('text', stringOf(part['text']), out)
      else this.keepPart(part, out)
    }
  }

  /** Mistral's references and whatever else no other format has. */
  private keepPart(part: JsonObject, out: ChatEvent[]): void {
    const extra = { 'openai-chat': { delta: { content_parts: [part] } } }
    out.push({ type: 'extra', choice: this.index, extra })
  }

  private say(type: TextType, text: string, out: ChatEvent[]): void {
    if (text === '') return
    const choice = this.index
    if (this.open?.type !== type) {
      this.closeText(out)
      this.open = { type, part: this.nextPart() }
      out.push({ type: 'part-start', choice, part: this.open.part, head: { type } })
    }
    out.push({ type: 'part-delta', choice, part: this.open.part, text })
  }

  private finish(word: string, out: ChatEvent[]): void {
    this.ended = true
    const reason = readFinish(word)
    if (reason === 'trouble') {
      const message = `the vendor broke off with finish_reason '${word}'`
      out.push({ type: 'fault', fault: { kind: 'vendor_error', message, code: word } })
      return
    }
    this.closeText(out)
    if (!this.calls.end(out)) {
      const message = 'the reply has a tool call without a name'
      out.push({ type: 'fault', fault: { kind: 'unreadable', message } })
      return
    }
    // The deprecated word means something else to the client that asked with `functions`.
    const extra = withExtra(word === 'function_call' ? { finish_reason: word } : {})
    out.push({ type: 'choice-end', choice: this.index, reason, ...extra })
  }
}
