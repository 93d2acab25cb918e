// Writes the message item of a response: opens and closes its content parts, and ends it.

import type { JsonObject, PartHead } from '../ir.ts'
import type { Item, OutputItems } from './hub-output-items.ts'

interface MessageItem extends Item {
  readonly content: JsonObject[]
  /** The vendor wrote this item, and its phase where it has one. */
  readonly named: boolean
  phase: Phase
  /** Number of its parts that are still open. */
  open: number
  /** Another item has begun: the message ends with its last open part. */
  over: boolean
}

/** What OpenAI says of a message: something follows it, or it is the answer. Null where that is not known. */
export type Phase = 'commentary' | 'final_answer' | null

/** One part of the reply so far. */
export interface Part {
  readonly head: PartHead
  text: string
  /** Null until something of the part is sent. */
  item: Item | null
  contentIndex: number
  readonly annotations: JsonObject[]
  readonly tokens: JsonObject[]
  /** Token probabilities for the next delta. */
  pending: readonly JsonObject[]
}

export class MessageOutput {
  private readonly items: OutputItems
  private message: MessageItem | null = null

  constructor(items: OutputItems) {
    this.items = items
  }

  /** Opens a text part, and the message if there is none; does nothing if the part is open. */
  begin(part: Part): string {
    const { type } = part.head
    if (part.item !== null || (type !== 'text' && type !== 'refusal')) return ''
    // A new message item of the vendor's stays separate, even where no other item lies between.
    const apart = this.items.nextIsNamed ? this.leave('commentary') : ''
    const opened = this.open()
    const { message } = this
    if (message === null) return apart + opened
    part.item = message
    part.contentIndex = message.content.length
    message.open++
    message.content.push(contentOf(part, ''))
    const fields = { ...at(part), part: contentOf(part, '') }
    return apart + opened + this.items.emit('response.content_part.added', fields)
  }

  annotate(part: Part, annotation: JsonObject): string {
    const begun = this.begin(part)
    const index = part.annotations.length
    part.annotations.push(annotation)
    const fields = { ...at(part), annotation_index: index, annotation }
    return begun + this.items.emit('response.output_text.annotation.added', fields)
  }

  endPart(part: Part): string {
    const { head, text, tokens } = part
    const { message } = this
    const content = contentOf(part, text)
    const done =
      head.type === 'refusal'
        ? this.items.emit('response.refusal.done', { ...at(part), refusal: text })
        : this.items.emit('response.output_text.done', { ...at(part), text, logprobs: tokens })
    const ended = this.items.emit('response.content_part.done', { ...at(part), part: content })
    if (message === null) return done + ended
    message.content[part.contentIndex] = content
    message.open--
    const over = message.over && message.open === 0
    return done + ended + (over ? this.end('completed', message.phase) : '')
  }

  /** Called when another item begins: the message ends with its last open part. */
  leave(phase: Phase): string {
    const { message } = this
    if (message === null) return ''
    message.over = true
    message.phase = phase
    return message.open === 0 ? this.end('completed', phase) : ''
  }

  end(status: string, phase: Phase): string {
    const { message } = this
    if (message === null) return ''
    this.message = null
    const said = phase !== null && !message.named ? { phase } : {}
    return this.items.finished(message, { status, content: message.content, ...said })
  }

  private open(): string {
    if (this.message !== null && !this.message.over) return ''
    const fields = { type: 'message', status: 'in_progress', role: 'assistant', content: [] }
    const named = this.items.nextIsNamed
    const item = this.items.create(fields)
    this.message = { ...item, named, phase: null, content: [], open: 0, over: false }
    return this.items.added(item)
  }
}

function at(part: Part): JsonObject {
  const { item, contentIndex } = part
  return { item_id: item?.id, output_index: item?.index, content_index: contentIndex }
}

/** A content part with this text and everything else sent for it. */
function contentOf({ head, annotations, tokens }: Part, text: string): JsonObject {
  if (head.type === 'refusal') return { type: 'refusal', refusal: text }
  return { type: 'output_text', annotations: [...annotations], logprobs: [...tokens], text }
}
