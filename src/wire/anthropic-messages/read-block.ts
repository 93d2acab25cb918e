// Reads one content block of a reply, from its start to its stop, as the events of one part.

import type { ChatEvent, JsonObject, JsonValue, PartHead, UrlCitation } from '../ir.ts'
import { isObject, jsonTextOf, objectsIn, setMember, stringOf } from '../json/value.ts'
import { replyTool } from './encode-tools.ts'
import { self, withExtra } from './fields.ts'

const known: ReadonlySet<string> = new Set([
  'type',
  'text',
  'citations',
  'thinking',
  'signature',
  'id',
  'name',
  'input',
  'data',
])

/** A citation with a URL is shown in every dialect; any other is private to this one. */
function urlCitation(citation: JsonObject, end: number): UrlCitation | null {
  const { url, title } = citation
  if (typeof url !== 'string' || url === '') return null
  return {
    url,
    ...(typeof title === 'string' && { title }),
    // The citations of a block apply to its whole text.
    start: 0,
    end,
    extra: { [self]: citation },
  }
}

/** Reads one block as one part; `out` receives its events as they occur. */
export abstract class Block {
  readonly part: number
  readonly isText: boolean
  readonly isCall: boolean
  protected readonly block: JsonObject

  constructor(part: number, block: JsonObject) {
    this.part = part
    this.isText = block.type === 'text'
    this.isCall = isCallBlock(block)
    this.block = block
  }

  abstract start(out: ChatEvent[]): void
  abstract delta(delta: JsonObject, out: ChatEvent[]): void
  abstract stop(out: ChatEvent[]): void

  protected open(head: PartHead, out: ChatEvent[]): void {
    out.push({ type: 'part-start', choice: 0, part: this.part, head })
  }

  protected say(text: string, out: ChatEvent[]): void {
    if (text !== '') out.push({ type: 'part-delta', choice: 0, part: this.part, text })
  }

  protected close(sealed: string, fields: JsonObject, out: ChatEvent[]): void {
    const end = { type: 'part-end', choice: 0, part: this.part } as const
    out.push({ ...end, ...(sealed !== '' && { sealed }), ...withExtra(fields) })
  }

  protected unknownFields(): JsonObject {
    const kept: JsonObject = {}
    for (const name in this.block) {
      if (this.block[name] != null && !known.has(name)) setMember(kept, name, this.block[name])
    }
    return kept
  }
}

class TextBlock extends Block {
  private readonly cited: JsonObject[] = []
  private chars = 0

  start(out: ChatEvent[]): void {
    this.open({ type: 'text' }, out)
    this.take(stringOf(this.block.text), out)
    this.cited.push(...objectsIn(this.block.citations))
  }

  delta(delta: JsonObject, out: ChatEvent[]): void {
    this.take(stringOf(delta.text), out)
    if (isObject(delta.citation)) this.cited.push(delta.citation)
  }

  private take(text: string, out: ChatEvent[]): void {
    this.chars += text.length
    this.say(text, out)
  }

  stop(out: ChatEvent[]): void {
    const own: JsonObject[] = []
    for (const each of this.cited) {
      const citation = urlCitation(each, this.chars)
      if (citation === null) own.push(each)
      else out.push({ type: 'citation', choice: 0, part: this.part, citation })
    }
    const fields = this.unknownFields()
    this.close('', own.length > 0 ? { ...fields, citations: own } : fields, out)
  }
}

class ThinkingBlock extends Block {
  private signature = ''

  start(out: ChatEvent[]): void {
    this.open({ type: 'reasoning' }, out)
    this.signature = stringOf(this.block.signature)
    this.say(stringOf(this.block.thinking), out)
  }

  delta(delta: JsonObject, out: ChatEvent[]): void {
    this.say(stringOf(delta.thinking), out)
    this.signature = stringOf(delta.signature) || this.signature
  }

  stop(out: ChatEvent[]): void {
    this.close(this.signature, this.unknownFields(), out)
  }
}

class RedactedBlock extends Block {
  start(out: ChatEvent[]): void {
    this.open({ type: 'reasoning', redacted: true }, out)
  }

  delta(): void {
    // The block is complete at its start; there are no deltas.
  }

  stop(out: ChatEvent[]): void {
    this.close(stringOf(this.block.data), this.unknownFields(), out)
  }
}

class CallBlock extends Block {
  private empty = true

  start(out: ChatEvent[]): void {
    const { id, name } = this.block
    this.open(this.head(stringOf(id) || `toolu_${this.part}`, stringOf(name)), out)
  }

  protected head(id: string, name: string): PartHead {
    return { type: 'tool-call', id, name }
  }

  delta(delta: JsonObject, out: ChatEvent[]): void {
    const text = jsonTextOf(delta.partial_json)
    if (text !== '') this.empty = false
    this.say(text, out)
  }

  /** Emits input that came with the start; no input at all is `{}`. */
  stop(out: ChatEvent[]): void {
    if (this.empty) this.say(jsonTextOf(this.block.input) || '{}', out)
    this.close('', this.unknownFields(), out)
  }
}

/** The reply's text, delivered as the input of `replyTool`. */
class ReplyBlock extends CallBlock {
  protected override head(): PartHead {
    return { type: 'text' }
  }
}

/** A block that only this dialect knows, such as a tool the vendor ran itself: emitted once it is complete. */
class OtherBlock extends Block {
  private input = ''
  private readonly pieces: JsonObject = {}

  start(): void {
    // The part is emitted when the block stops.
  }

  delta(delta: JsonObject): void {
    const { type: _, partial_json: input, ...rest } = delta
    this.input += stringOf(input)
    for (const [name, value] of Object.entries(rest)) {
      const before = this.pieces[name]
      const joins = typeof before === 'string' && typeof value === 'string'
      setMember(this.pieces, name, joins ? before + value : value)
    }
  }

  stop(out: ChatEvent[]): void {
    const block = { ...this.block, ...this.pieces, ...this.inputField() }
    this.open({ type: 'other', extra: { [self]: block } }, out)
    this.close('', {}, out)
  }

  private inputField(): JsonObject {
    if (this.input === '') return {}
    try {
      return { input: JSON.parse(this.input) as JsonValue }
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error
      return { input: this.input }
    }
  }
}

export function isReplyBlock(block: JsonObject): boolean {
  return block.type === 'tool_use' && block.name === replyTool
}

export function isCallBlock(block: JsonObject): boolean {
  return block.type === 'tool_use' && block.name !== replyTool
}

export function createBlock(part: number, block: JsonObject): Block {
  switch (block.type) {
    case 'text':
      return new TextBlock(part, block)
    case 'thinking':
      return new ThinkingBlock(part, block)
    case 'redacted_thinking':
      return new RedactedBlock(part, block)
    case 'tool_use':
      return isReplyBlock(block) ? new ReplyBlock(part, block) : new CallBlock(part, block)
    default:
      return new OtherBlock(part, block)
  }
}
