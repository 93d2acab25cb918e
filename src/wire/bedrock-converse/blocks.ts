// Assembles the content blocks of a Converse reply, in whatever order their pieces come, into hub events.

import type { ChatEvent, JsonObject, PartHead } from '../ir.ts'
import { isObject, jsonTextOf, listOf, objectOf, stringOf } from '../json/value.ts'
import { replyTool } from './tools.ts'

type Kind = 'text' | 'reasoning' | 'call' | 'image' | 'ignored'

interface Block {
  readonly kind: Kind
  readonly part: number
  sealed: string
  /** The input that a call's start brought; null where the block takes none. */
  input: string | null
  said: boolean
  closed: boolean
}

export class Blocks {
  /** Whether a tool of the client's own was called. */
  called = false
  /** Whether the reply's tool was called. */
  private answered = false
  private readonly emit: (event: ChatEvent) => void
  private readonly blocks = new Map<number, Block>()
  /** Events of text that is not part of the reply if the reply's tool is called; null: text is not held back. */
  private readonly aside: ChatEvent[] | null
  private next = 0
  private calls = 0

  /** `byTool`: the reply is the input of a tool, before which models such as Nova say what they think. */
  constructor(emit: (event: ChatEvent) => void, byTool: boolean) {
    this.emit = emit
    this.aside = byTool ? [] : null
  }

  /** Handles a block's `start`; text and reasoning may have none, or an empty one. */
  start(index: number, start: JsonObject): void {
    const { toolUse, image } = start
    if (isObject(toolUse)) this.startCall(index, toolUse)
    else if (isObject(image)) {
      const mediaType = `image/${stringOf(image['format']) || 'png'}`
      this.open(index, 'image', { type: 'image', mediaType })
    } else if (start['toolResult'] !== undefined) this.ignore(index)
  }

  /** Handles a streamed `delta` of a block. */
  delta(index: number, delta: JsonObject): void {
    const { text, toolUse, reasoningContent, citation, image } = delta
    if (typeof text === 'string') this.say(index, 'text', text)
    else if (isObject(toolUse)) this.input(index, jsonTextOf(toolUse['input']))
    else if (isObject(reasoningContent)) this.think(index, reasoningContent)
    else if (isObject(citation)) this.cite(index, citation)
    else if (isObject(image)) this.say(index, 'image', stringOf(objectOf(image['source'])['bytes']))
  }

  /** Handles a block of a whole reply. */
  whole(index: number, block: JsonObject): void {
    const { text, toolUse, reasoningContent, citationsContent, image } = block
    if (typeof text === 'string') this.say(index, 'text', text)
    else if (isObject(toolUse)) this.startCall(index, toolUse)
    else if (isObject(reasoningContent)) {
      this.think(index, reasoningContent)
      this.think(index, objectOf(reasoningContent['reasoningText']))
    } else if (isObject(citationsContent)) this.wholeCitations(index, citationsContent)
    else if (isObject(image)) {
      this.start(index, { image })
      this.say(index, 'image', stringOf(objectOf(image['source'])['bytes']))
    }
    this.stop(index)
  }

  stop(index: number): void {
    const block = this.blocks.get(index)
    if (block === undefined || block.closed) return
    block.closed = true
    if (block.kind === 'ignored') return
    const { part, sealed, input, said } = block
    // Official clients parse the arguments, and an empty text is not JSON.
    if (input !== null && !said) this.piece(block, input || '{}')
    this.tell(block, { type: 'part-end', choice: 0, part, ...(sealed !== '' && { sealed }) })
  }

  /** Closes all open blocks: not every server sends the end of each. */
  end(): void {
    for (const index of this.blocks.keys()) this.stop(index)
    this.flush()
  }

  private tell(block: Block, event: ChatEvent): void {
    if (this.aside !== null && block.kind === 'text' && block.input === null) this.aside.push(event)
    else this.emit(event)
  }

  private flush(): void {
    if (this.answered) return
    for (const event of this.aside?.splice(0) ?? []) this.emit(event)
  }

  private piece(block: Block, text: string): void {
    if (text !== '') this.tell(block, { type: 'part-delta', choice: 0, part: block.part, text })
  }

  private open(index: number, kind: Kind, head: PartHead, input: string | null = null): Block {
    // Only call blocks may be open beside others.
    if (kind !== 'call') this.closeAllBut(index)
    else this.closeTexts()
    const part = this.next++
    const block: Block = { kind, part, sealed: '', input, said: false, closed: false }
    this.blocks.set(index, block)
    this.tell(block, { type: 'part-start', choice: 0, part, head })
    return block
  }

  private closeAllBut(index: number): void {
    for (const [at, { kind }] of this.blocks) if (at !== index && kind !== 'call') this.stop(at)
  }

  private closeTexts(): void {
    this.closeAllBut(-1)
  }

  /** The block under this index if it continues with the same kind, else a new one; null for an ignored one. */
  private going(index: number, kind: Kind, head: PartHead): Block | null {
    const block = this.blocks.get(index)
    if (block?.kind === 'ignored') return null
    if (block !== undefined && !block.closed && block.kind === kind) return block
    if (block !== undefined) this.stop(index)
    return this.open(index, kind, head)
  }

  private ignore(index: number): void {
    const nothing = { part: -1, sealed: '', input: null, said: false }
    this.blocks.set(index, { kind: 'ignored', ...nothing, closed: true })
  }

  private startCall(index: number, toolUse: JsonObject): void {
    const name = stringOf(toolUse['name'])
    // Clients do not answer tools that Bedrock runs itself.
    if (toolUse['type'] === 'server_tool_use') {
      this.ignore(index)
      return
    }
    const input = jsonTextOf(toolUse['input'])
    if (name === replyTool) {
      this.answered = true
      this.open(index, 'text', { type: 'text' }, input)
      return
    }
    const id = stringOf(toolUse['toolUseId']) || `tooluse_${this.calls}`
    this.calls++
    this.called = true
    this.closeTexts()
    this.flush()
    this.open(index, 'call', { type: 'tool-call', id, name }, input)
  }

  private input(index: number, text: string): void {
    const block = this.blocks.get(index)
    if (block === undefined || block.closed || text === '') return
    block.said = true
    this.piece(block, text)
  }

  private say(index: number, kind: 'text' | 'image', text: string): void {
    if (text === '') return
    const head: PartHead =
      kind === 'text' ? { type: 'text' } : { type: kind, mediaType: 'image/png' }
    const block = this.going(index, kind, head)
    if (block !== null) this.piece(block, text)
  }

  /** Reads `{text}`, `{signature}` or `{redactedContent}` (base64). */
  private think(index: number, thought: JsonObject): void {
    const text = stringOf(thought['text'])
    const signature = stringOf(thought['signature'])
    const redacted = stringOf(thought['redactedContent'])
    if (text === '' && signature === '' && redacted === '') return
    const head: PartHead =
      redacted === '' ? { type: 'reasoning' } : { type: 'reasoning', redacted: true }
    const block = this.going(index, 'reasoning', head)
    if (block === null) return
    this.piece(block, text)
    block.sealed += signature + redacted
  }

  private wholeCitations(index: number, { content, citations }: JsonObject): void {
    const texts = listOf(content)
    this.say(index, 'text', texts.map((each) => stringOf(objectOf(each)['text'])).join(''))
    if (!Array.isArray(citations)) return
    for (const each of citations) this.cite(index, objectOf(each))
  }

  /** Emits a citation if it has a URL; only web citations do. */
  private cite(index: number, { title, location }: JsonObject): void {
    const url = stringOf(objectOf(objectOf(location)['web'])['url'])
    const block = this.blocks.get(index)
    if (url === '' || block?.kind !== 'text' || block.closed) return
    const citation = { url, ...(typeof title === 'string' && title !== '' && { title }) }
    this.tell(block, { type: 'citation', choice: 0, part: block.part, citation })
  }
}
