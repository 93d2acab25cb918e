// Reads the output items of a Responses reply into hub events, with one reader per item.

import type { ChatEvent, JsonObject, JsonValue, UrlCitation } from '../ir.ts'
import { isObject, jsonTextOf, objectsIn, stringOf } from '../json/value.ts'
import { hasFields, present, unknownFields } from '../openai-chat/hub-fields.ts'
import { self, withExtra } from './hub-fields.ts'
import { newText, type Parts, remainder, type Text } from './hub-texts.ts'

/** Reads the events of one item; `done` may be called without any before it. */
export interface ItemReader {
  readonly isCall: boolean
  readonly over: boolean
  event(type: string, event: JsonObject, out: ChatEvent[]): void
  /** Reads the finished item; `last`: nothing more can come of it. False if it cannot be used. */
  done(item: JsonObject, last: boolean, out: ChatEvent[]): boolean
}

/** Emits an item's private fields, for clients of this format, before the part that begins it. */
function tellItem(item: JsonObject, known: ReadonlySet<string>, out: ChatEvent[]): void {
  const fields = unknownFields(item, known)
  if (!hasFields(fields)) return
  out.push({ type: 'extra', choice: 0, extra: { [self]: { item: fields } } })
}

const knownInMessage: ReadonlySet<string> = new Set(['type', 'role', 'status', 'content'])

function readCitation(annotation: JsonObject): UrlCitation | null {
  const { type, url, title, start_index: start, end_index: end, ...more } = present(annotation)
  if (type !== 'url_citation' || typeof url !== 'string') return null
  return {
    url,
    ...(typeof title === 'string' && { title }),
    ...(typeof start === 'number' && { start }),
    ...(typeof end === 'number' && { end }),
    ...withExtra(more),
  }
}

class MessageReader implements ItemReader {
  readonly isCall = false
  over = false
  private readonly parts: Parts
  private readonly texts = new Map<number, Text>()

  constructor(parts: Parts, item: JsonObject, out: ChatEvent[]) {
    this.parts = parts
    tellItem(item, knownInMessage, out)
  }

  event(type: string, event: JsonObject, out: ChatEvent[]): void {
    const at = typeof event['content_index'] === 'number' ? event['content_index'] : 0
    switch (type) {
      case 'response.output_text.delta':
        this.say(this.textAt(at, 'text'), event, out)
        break
      case 'response.refusal.delta':
        this.say(this.textAt(at, 'refusal'), event, out)
        break
      case 'response.output_text.annotation.added':
        if (isObject(event['annotation'])) this.cite(at, event['annotation'], out)
        break
      case 'response.content_part.done':
        if (isObject(event['part'])) this.partDone(at, event['part'], out)
    }
  }

  done(item: JsonObject, _last: boolean, out: ChatEvent[]): boolean {
    this.over = true
    const { content } = item
    // Some vendors send the text in place of the list.
    const parts =
      typeof content === 'string' ? [{ type: 'output_text', text: content }] : objectsIn(content)
    // Some vendors count parts in their deltas that the finished item lacks; the order of both is the same.
    const unmatched = [...this.texts.keys()].filter((at) => at >= parts.length)
    for (const [at, part] of parts.entries())
      this.partDone(this.texts.has(at) ? at : (unmatched.shift() ?? at), part, out)
    for (const text of this.texts.values()) this.parts.close(text, out)
    return true
  }

  private textAt(at: number, type: 'text' | 'refusal'): Text {
    const known = this.texts.get(at)
    if (known !== undefined) return known
    // Each message is apart; its texts are one.
    const text = newText(type, this.texts.size === 0)
    this.texts.set(at, text)
    return text
  }

  private say(text: Text, event: JsonObject, out: ChatEvent[]): void {
    const piece = stringOf(event['delta'])
    const tokens = objectsIn(event['logprobs'])
    if (tokens.length > 0) {
      this.parts.begin(text, out)
      out.push({ type: 'logprobs', choice: 0, part: text.part, tokens })
    }
    this.parts.say(text, piece, out)
  }

  private cite(at: number, annotation: JsonObject, out: ChatEvent[]): void {
    const text = this.textAt(at, 'text')
    text.cited++
    this.parts.begin(text, out)
    const citation = readCitation(annotation)
    if (citation === null) text.annotations.push(annotation)
    else out.push({ type: 'citation', choice: 0, part: text.part, citation })
  }

  /** Reads a finished part, and emits whatever no event has carried. */
  private partDone(at: number, part: JsonObject, out: ChatEvent[]): void {
    const refused = part['type'] === 'refusal'
    if (!refused && part['type'] !== 'output_text') return
    const text = this.textAt(at, refused ? 'refusal' : 'text')
    const begun = text.part >= 0
    const whole = stringOf(refused ? part['refusal'] : part['text'])
    const tokens = objectsIn(part['logprobs'])
    if (!begun && tokens.length > 0) {
      this.parts.begin(text, out)
      out.push({ type: 'logprobs', choice: 0, part: text.part, tokens })
    }
    this.parts.say(text, remainder(whole, text.said), out)
    for (const annotation of objectsIn(part['annotations']).slice(text.cited)) {
      this.cite(at, annotation, out)
    }
    this.parts.close(text, out)
  }
}

const knownInReasoning: ReadonlySet<string> = new Set([
  'type',
  'status',
  'summary',
  'content',
  'encrypted_content',
])

/** The separator between parts of a summary, which are paragraphs. */
const paragraph = '\n\n'

class ReasoningReader implements ItemReader {
  readonly isCall = false
  over = false
  private readonly parts: Parts
  private readonly text = newText('reasoning')
  /** Summary and raw text say the same: only the kind that came first is read. */
  private source: 'summary' | 'content' | null = null
  private index = 0
  private readonly item: JsonObject

  constructor(parts: Parts, item: JsonObject) {
    this.parts = parts
    this.item = item
  }

  event(type: string, event: JsonObject, out: ChatEvent[]): void {
    if (type === 'response.reasoning_summary_text.delta') {
      this.say('summary', event['summary_index'], stringOf(event['delta']), out)
    } else if (type === 'response.reasoning_text.delta') {
      this.say('content', event['content_index'], stringOf(event['delta']), out)
    }
  }

  done(item: JsonObject, _last: boolean, out: ChatEvent[]): boolean {
    this.over = true
    const textsOf = (name: 'summary' | 'content'): string =>
      objectsIn(item[name])
        .map((part) => stringOf(part['text']))
        .join(paragraph)
    const source = this.source ?? (textsOf('summary') !== '' ? 'summary' : 'content')
    const rest = remainder(textsOf(source), this.text.said)
    if (rest !== '') this.begin(out)
    this.parts.say(this.text, rest, out)
    const sealed = stringOf(item['encrypted_content']) || null
    if (this.text.open) this.parts.close(this.text, out, sealed)
    else if (sealed !== null) {
      tellItem(this.item, knownInReasoning, out)
      this.parts.whole({ type: 'reasoning', redacted: true }, '', sealed, out)
    } else if (this.text.part < 0) {
      // Reasoning without visible text or opaque state: only clients that keep item ids can use it.
      this.parts.whole({ type: 'other', extra: { [self]: item } }, '', null, out)
    }
    return true
  }

  private say(
    kind: 'summary' | 'content',
    at: JsonValue | undefined,
    piece: string,
    out: ChatEvent[],
  ): void {
    this.source ??= kind
    if (piece === '' || this.source !== kind) return
    this.begin(out)
    const index = typeof at === 'number' ? at : 0
    if (index !== this.index && this.text.said !== '') this.parts.say(this.text, paragraph, out)
    this.index = index
    this.parts.say(this.text, piece, out)
  }

  private begin(out: ChatEvent[]): void {
    if (this.text.part < 0) tellItem(this.item, knownInReasoning, out)
  }
}

const knownInCall: ReadonlySet<string> = new Set([
  'type',
  'status',
  'call_id',
  'name',
  'arguments',
  'input',
])

class CallReader implements ItemReader {
  readonly isCall = true
  over = false
  private readonly parts: Parts
  private readonly custom: boolean
  private part = -1
  /** All of the input so far; it is sent once the name is known. */
  private input = ''

  constructor(parts: Parts, item: JsonObject, custom: boolean, out: ChatEvent[]) {
    this.parts = parts
    this.custom = custom
    this.begin(item, out)
  }

  event(type: string, event: JsonObject, out: ChatEvent[]): void {
    if (type.endsWith('.delta')) this.add(jsonTextOf(event['delta']), out)
    else if (type.endsWith('.done')) this.addRest(event, out)
  }

  done(item: JsonObject, last: boolean, out: ChatEvent[]): boolean {
    this.begin(item, out)
    if (this.part >= 0) this.addRest(item, out)
    // Some vendors say the input in the final response only.
    if (this.input === '' && !last) return true
    this.over = true
    if (this.part < 0) return false
    // Clients parse the arguments, and an empty text is not JSON.
    if (this.input === '' && !this.custom) this.add('{}', out)
    out.push({ type: 'part-end', choice: 0, part: this.part })
    return true
  }

  private begin(item: JsonObject, out: ChatEvent[]): void {
    const name = stringOf(item['name'])
    if (this.part >= 0 || name === '') return
    this.parts.closeAll(out)
    tellItem(item, knownInCall, out)
    this.part = this.parts.next()
    const id = stringOf(item['call_id']) || stringOf(item['id']) || `call_${this.part}`
    const { custom } = this
    const head = { type: 'tool-call', id, name, ...(custom && { custom }) } as const
    out.push({ type: 'part-start', choice: 0, part: this.part, head })
    this.tell(this.input, out)
  }

  /** Adds what the complete input has beyond the pieces before it. */
  private addRest({ arguments: text, input }: JsonObject, out: ChatEvent[]): void {
    this.add(remainder(jsonTextOf(this.custom ? input : text), this.input), out)
  }

  private add(piece: string, out: ChatEvent[]): void {
    this.input += piece
    if (this.part >= 0) this.tell(piece, out)
  }

  private tell(text: string, out: ChatEvent[]): void {
    if (text !== '') out.push({ type: 'part-delta', choice: 0, part: this.part, text })
  }
}

const knownInImage: ReadonlySet<string> = new Set(['type', 'status', 'result'])

/** An item of a tool that the vendor ran: emitted whole at its end. An image it made is shown in every format. */
class OtherReader implements ItemReader {
  readonly isCall = false
  over = false
  private readonly parts: Parts

  constructor(parts: Parts) {
    this.parts = parts
  }

  /** Progress events are ignored. */
  event(): void {
    return
  }

  done(item: JsonObject, _last: boolean, out: ChatEvent[]): boolean {
    this.over = true
    const data = stringOf(item['result'])
    if (item['type'] === 'image_generation_call' && data !== '') {
      this.parts.closeAll(out)
      tellItem(item, knownInImage, out)
      const mediaType = `image/${stringOf(item['output_format']) || 'png'}`
      this.parts.whole({ type: 'image', mediaType }, data, null, out)
    } else if (typeof item['type'] === 'string') {
      const { extra } = withExtra(item)
      if (extra !== undefined) this.parts.whole({ type: 'other', extra }, '', null, out)
    }
    return true
  }
}

/** xAI reports searches that it runs itself as custom calls, with ids that begin like this. */
function isVendorsCall(item: JsonObject): boolean {
  return stringOf(item['call_id']).startsWith('xs_')
}

export function readerOf(item: JsonObject, parts: Parts, out: ChatEvent[]): ItemReader {
  switch (item['type']) {
    case 'message':
      return new MessageReader(parts, item, out)
    case 'reasoning':
      return new ReasoningReader(parts, item)
    case 'function_call':
      return new CallReader(parts, item, false, out)
    case 'custom_tool_call':
      return isVendorsCall(item) ? new OtherReader(parts) : new CallReader(parts, item, true, out)
    default:
      return new OtherReader(parts)
  }
}
