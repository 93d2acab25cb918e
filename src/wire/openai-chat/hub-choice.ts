// Reads one choice of a chat reply, delta by delta, into hub events.

import type { ChatEvent, JsonObject, JsonValue } from '../ir.ts'
import { isObject, objectOf, stringOf } from '../json/value.ts'
import { madeCallId, textOf } from '../openai/message-repair.ts'
import { CallReader } from './hub-calls.ts'
import { readCitation, readImage, readTokens } from './hub-citations.ts'
import { hasFields, unknownFields, withExtra } from './hub-fields.ts'
import { readFinish } from './hub-finish.ts'
import { takeOpaque } from './hub-parts.ts'
import { blocksIn, detailsIn, type Thought } from './hub-thoughts.ts'

type TextType = 'text' | 'reasoning' | 'refusal'

const knownInChoice: ReadonlySet<string> = new Set([
  'index',
  'delta',
  'message',
  'finish_reason',
  'logprobs',
  'usage',
])
const knownInDelta: ReadonlySet<string> = new Set([
  'role',
  'content',
  'reasoning_content',
  'reasoning',
  'thinking_blocks',
  'refusal',
  'annotations',
  'images',
  'tool_calls',
  // The deprecated form of a single call.
  'function_call',
  'extra_content',
  // Mistral repeats the choice's own index here.
  'index',
])

export class ChoiceReader {
  readonly index: number
  ended = false
  private parts = 0
  private open: { readonly type: TextType; readonly part: number } | null = null
  /** Text of the open part so far. */
  private said = ''
  /** Length of the text parts before the open one: citation offsets count from the start of the first. */
  private textBefore = 0
  /** Citations that arrived before their text. */
  private cited: JsonValue[] = []
  /** Token probabilities that arrived before their text. */
  private tokens: { text: readonly JsonObject[]; refusal: readonly JsonObject[] } = noTokens
  /** The opaque state of the choice's text; '' where there is none. */
  private sealed = ''
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

  closeText(out: ChatEvent[], sealed: string | null = null): void {
    if (this.open === null) return
    const { type, part } = this.open
    if (type === 'text') this.textBefore += this.said.length
    const own = sealed ?? (type === 'text' && this.sealed !== '' ? this.sealed : null)
    if (own === this.sealed) this.sealed = ''
    out.push({ type: 'part-end', choice: this.index, part, ...(own !== null && { sealed: own }) })
    this.open = null
  }

  callId(ordinal: number): string {
    return madeCallId(this.replyId, String(this.index), ordinal)
  }

  /**
   * Reads one element of `choices`. Whatever follows the choice's finish is ignored. `whole`: the element is from a
   * whole reply, which needs no finish reason to be complete.
   */
  take(choice: JsonObject, whole: boolean, out: ChatEvent[]): void {
    if (this.ended) return
    const { delta, message } = choice
    const said = isObject(delta) ? delta : objectOf(message)
    this.extras(choice, said, out)
    this.think(said, out)
    this.content(said['content'], out)
    this.say('refusal', stringOf(said['refusal']), out)
    if (Array.isArray(said['images'])) this.draw(said['images'], out)
    if (this.tokens !== noTokens && this.open !== null) this.tell(this.open, out)
    if (this.cited.length > 0) this.cite(out)
    const { tool_calls: given } = said
    // Some vendors send a single call without a list around it.
    const calls = isObject(given) ? [given] : given
    const alone = whole || delta == null
    if (Array.isArray(calls) && calls.length > 0) this.calls.take(calls, alone, out)
    else if (isObject(said['function_call']))
      this.calls.take([{ index: 0, function: said['function_call'] }], alone, out)
    const word = stringOf(choice['finish_reason'])
    if (word !== '') this.finish(word, out)
    else if (whole) this.finish(this.calls.any ? 'tool_calls' : 'stop', out)
  }

  /** Keeps fields that only this format knows; probabilities and citations wait for their text. */
  private extras(choice: JsonObject, said: JsonObject, out: ChatEvent[]): void {
    const fields = unknownFields(choice, knownInChoice)
    const inside = unknownFields(said, knownInDelta)
    const { logprobs } = choice
    const tokens = readTokens(logprobs)
    if (tokens !== null) this.tokens = { text: tokens.content, refusal: tokens.refusal }
    else if (logprobs != null) fields['logprobs'] = logprobs
    const { annotations, images } = said
    if (Array.isArray(annotations)) {
      const foreign = annotations.filter((value) => readCitation(value, 0) === null)
      this.cited.push(...annotations.filter((value) => readCitation(value, 0) !== null))
      if (foreign.length > 0 || annotations.length === 0) inside['annotations'] = foreign
    }
    if (Array.isArray(images)) {
      const elsewhere = images.filter((value) => readImage(value) === null)
      if (elsewhere.length > 0) inside['images'] = elsewhere
    }
    if (said['extra_content'] != null) {
      const { rest, sealed = '' } = takeOpaque(said)
      this.sealed ||= sealed
      if (rest['extra_content'] != null) inside['extra_content'] = rest['extra_content']
    }
    if (hasFields(inside)) fields['delta'] = inside
    this.keep(fields, out)
  }

  private keep(fields: JsonObject, out: ChatEvent[]): void {
    const { extra } = withExtra(fields)
    if (extra !== undefined) out.push({ type: 'extra', choice: this.index, extra })
  }

  /**
   * Reads reasoning from whichever members have it; of several with the same text, the one with opaque state counts.
   */
  private think(said: JsonObject, out: ChatEvent[]): void {
    const plain = stringOf(said['reasoning_content']) || stringOf(said['reasoning'])
    const blocks = said['thinking_blocks'] == null ? [] : blocksIn(said)
    const thoughts =
      blocks.length > 0 || said['reasoning_details'] == null ? blocks : detailsIn(said)
    const detailed = thoughts.map(({ text }) => text).join('')
    if (detailed === '') this.say('reasoning', plain, out)
    else if (plain.endsWith(detailed)) this.say('reasoning', plain.slice(0, -detailed.length), out)
    for (const thought of thoughts) this.thought(thought, plain === '', out)
  }

  /** `alone`: only this member of the delta has reasoning, so its opaque state may close the reasoning before. */
  private thought({ text, sealed, redacted }: Thought, alone: boolean, out: ChatEvent[]): void {
    const repeats = alone && this.open?.type === 'reasoning' && this.said === text
    if (redacted) this.closeText(out)
    else if (!repeats) this.say('reasoning', text, out)
    if (sealed === null) return
    if (this.open?.type !== 'reasoning') this.begin('reasoning', redacted, out)
    this.closeText(out, sealed)
  }

  private content(content: JsonValue | undefined, out: ChatEvent[]): void {
    if (typeof content === 'string') this.say('text', content, out)
    if (!Array.isArray(content)) return
    for (const part of content) {
      if (typeof part === 'string') this.say('text', part, out)
      if (!isObject(part)) continue
      if (part['type'] === 'thinking') this.say('reasoning', textOf(part['thinking']), out)
      else if (part['type'] === 'text') this.say('text', stringOf(part['text']), out)
      // Mistral's references, and whatever else other formats do not have.
      else this.keep({ delta: { content_parts: [part] } }, out)
    }
  }

  private draw(images: readonly JsonValue[], out: ChatEvent[]): void {
    const choice = this.index
    for (const value of images) {
      const image = readImage(value)
      if (image === null) continue
      this.closeText(out)
      const part = this.nextPart()
      const { mediaType, data } = image
      out.push({ type: 'part-start', choice, part, head: { type: 'image', mediaType } })
      out.push({ type: 'part-delta', choice, part, text: data })
      out.push({ type: 'part-end', choice, part })
    }
  }

  private begin(type: TextType, redacted: boolean, out: ChatEvent[]): { part: number } {
    this.closeText(out)
    const part = this.nextPart()
    const head = type === 'reasoning' && redacted ? ({ type, redacted } as const) : { type }
    out.push({ type: 'part-start', choice: this.index, part, head })
    this.open = { type, part }
    this.said = ''
    return this.open
  }

  private say(type: TextType, text: string, out: ChatEvent[]): void {
    if (text === '') return
    const { part } = this.open?.type === type ? this.open : this.begin(type, false, out)
    if (this.tokens !== noTokens) this.tell({ type, part }, out)
    this.said += text
    out.push({ type: 'part-delta', choice: this.index, part, text })
  }

  /** Emits the probabilities that wait for a part of this type. */
  private tell({ type, part }: { type: TextType; part: number }, out: ChatEvent[]): void {
    if (type === 'reasoning') return
    const tokens = this.tokens[type]
    if (tokens.length > 0) out.push({ type: 'logprobs', choice: this.index, part, tokens })
    this.tokens = { ...this.tokens, [type]: [] }
    if (this.tokens.text.length + this.tokens.refusal.length === 0) this.tokens = noTokens
  }

  private cite(out: ChatEvent[]): void {
    if (this.open?.type !== 'text') return
    const { part } = this.open
    for (const value of this.cited) {
      const citation = readCitation(value, this.textBefore)
      if (citation !== null) out.push({ type: 'citation', choice: this.index, part, citation })
    }
    this.cited = []
  }

  private finish(word: string, out: ChatEvent[]): void {
    this.ended = true
    const reason = readFinish(word)
    if (reason === 'trouble') {
      const message = `the vendor stopped with finish_reason '${word}'`
      out.push({ type: 'fault', fault: { kind: 'vendor_error', message, code: word } })
      return
    }
    if (this.sealed !== '' && this.open?.type !== 'text') this.begin('text', false, out)
    this.closeText(out)
    if (!this.calls.end(out)) {
      const message = 'the reply has a tool call without a name'
      out.push({ type: 'fault', fault: { kind: 'unreadable', message } })
      return
    }
    // Citations without a text, or whose text had already ended: clients of this format still get them.
    if (this.cited.length > 0) this.keep({ delta: { annotations: this.cited } }, out)
    // OpenAI itself says `stop` behind a call that it was made to make; others name a call that there is not.
    const ordinary = reason === 'stop' || reason === 'tool_calls'
    const shown = !ordinary ? reason : this.calls.any ? 'tool_calls' : 'stop'
    out.push({ type: 'choice-end', choice: this.index, reason: shown })
  }
}

const noTokens: { readonly text: readonly JsonObject[]; readonly refusal: readonly JsonObject[] } =
  {
    text: [],
    refusal: [],
  }
