// The output items of a response as they come about, and the events that tell of them.

import type { FinishReason, JsonObject, PartHead, UrlCitation } from '../ir.ts'
import { isObject } from '../json/value.ts'
import { ownFields } from './hub-fields.ts'
import { carried } from './hub-opaque-state.ts'
import { inputIn, type ToolOrigins } from './tool-origins.ts'

/** Gives one event its number and frame. */
type Emit = (type: string, fields: JsonObject) => string

type ToolCallHead = Extract<PartHead, { readonly type: 'tool-call' }>

/** One item and its place among the output. */
interface Item {
  readonly index: number
  readonly id: string
  value: JsonObject
}

interface MessageItem extends Item {
  readonly content: JsonObject[]
  /** Parts of it that are not at their end. */
  open: number
  /** Something else was begun: it ends with its last part. */
  over: boolean
}

interface Part {
  readonly head: PartHead
  text: string
  /** Null while nothing is sent of it. */
  item: Item | null
  contentIndex: number
  readonly annotations: JsonObject[]
  readonly tokens: JsonObject[]
  /** Probabilities for its next piece. */
  pending: readonly JsonObject[]
}

const prefixes: Readonly<Record<string, string>> = {
  message: 'msg',
  reasoning: 'rs',
  function_call: 'fc',
  custom_tool_call: 'ctc',
  image_generation_call: 'ig',
  local_shell_call: 'lsh',
  shell_call: 'sh',
  apply_patch_call: 'apc',
  tool_search_call: 'tsc',
}

export class Output {
  private readonly done: JsonObject[] = []
  private readonly parts = new Map<number, Part>()
  private message: MessageItem | null = null
  /** Private members of the next item, where the vendor speaks this format. */
  private nextItem: JsonObject = {}
  private readonly base: string
  private readonly emit: Emit
  private readonly nextNumber: () => number

  private readonly tools: ToolOrigins

  /** `base` makes the ids of items. `nextNumber` numbers the frames that are not made by `emit`. */
  constructor(base: string, tools: ToolOrigins, emit: Emit, nextNumber: () => number) {
    this.base = base
    this.tools = tools
    this.emit = emit
    this.nextNumber = nextNumber
  }

  /** All items as far as they came. */
  items(): JsonObject[] {
    return [...this.done]
  }

  takeItem({ item }: JsonObject): void {
    if (isObject(item)) this.nextItem = item
  }

  start(number: number, head: PartHead): string {
    const part: Part = {
      head,
      text: '',
      item: null,
      contentIndex: 0,
      annotations: [],
      tokens: [],
      pending: [],
    }
    this.parts.set(number, part)
    if (head.type === 'text' || head.type === 'refusal') return ''
    const closed = this.leaveMessage()
    if (head.type === 'tool-call') return closed + this.startCall(part, head)
    if (head.type !== 'reasoning') return closed
    part.item = this.newItem({ type: 'reasoning', summary: [] })
    return closed + this.added(part.item)
  }

  delta(number: number, text: string): string {
    const part = this.parts.get(number)
    if (part === undefined) return ''
    const begun = this.begin(part)
    part.text += text
    return begun + this.textDelta(part, text)
  }

  end(number: number, sealed: string | null, own: readonly JsonObject[]): string {
    const part = this.parts.get(number)
    if (part === undefined) return ''
    this.parts.delete(number)
    const { head } = part
    switch (head.type) {
      case 'text':
      case 'refusal': {
        const notes = own.map((annotation) => this.annotate(part, annotation)).join('')
        const ended = part.item === null ? '' : this.endContent(part)
        return notes + ended + this.opaqueOfText(sealed)
      }
      case 'reasoning':
        return this.endReasoning(part, sealed)
      case 'tool-call':
        return this.endCall(part, head) + this.opaqueOfCall(sealed, head.id)
      case 'image':
        return this.image(head.mediaType, part.text)
      case 'other':
        return this.other(ownFields(head.extra))
    }
  }

  cite(number: number, citation: UrlCitation): string {
    const part = this.parts.get(number)
    if (part === undefined) return ''
    const { url, title = '', start = 0, end = 0, extra } = citation
    const annotation = {
      type: 'url_citation',
      start_index: start,
      end_index: end,
      url,
      title,
      ...ownFields(extra),
    }
    return this.begin(part) + this.annotate(part, annotation)
  }

  tell(number: number, tokens: readonly JsonObject[]): void {
    const part = this.parts.get(number)
    if (part === undefined) return
    part.tokens.push(...tokens)
    part.pending = [...part.pending, ...tokens]
  }

  /** The reply is over: what is still open ends with it. */
  close(reason: FinishReason): string {
    const cut = reason === 'length' || reason === 'content_filter'
    return this.endMessage(cut ? 'incomplete' : 'completed')
  }

  private newItem(fields: JsonObject): Item {
    const index = this.done.length
    const own = this.nextItem
    this.nextItem = {}
    const prefix = prefixes[String(fields['type'])] ?? 'item'
    const given = own['id']
    const id = typeof given === 'string' ? given : `${prefix}_${this.base}_${index}`
    const value = { id, ...fields, ...own }
    this.done.push(value)
    return { index, id, value }
  }

  private added(item: Item): string {
    return this.emit('response.output_item.added', { output_index: item.index, item: item.value })
  }

  private finished(item: Item, fields: JsonObject): string {
    item.value = { ...item.value, ...fields }
    this.done[item.index] = item.value
    return this.emit('response.output_item.done', { output_index: item.index, item: item.value })
  }

  private at(part: Part): JsonObject {
    const { item, contentIndex } = part
    return { item_id: item?.id, output_index: item?.index, content_index: contentIndex }
  }

  private begin(part: Part): string {
    const { type } = part.head
    if (part.item !== null || (type !== 'text' && type !== 'refusal')) return ''
    // The vendor's own next message is another, though nothing stands between them.
    const apart = 'id' in this.nextItem ? this.leaveMessage() : ''
    const opened = this.openMessage()
    const { message } = this
    if (message === null) return apart + opened
    part.item = message
    part.contentIndex = message.content.length
    message.open++
    message.content.push(contentOf(part, ''))
    const fields = { ...this.at(part), part: contentOf(part, '') }
    return apart + opened + this.emit('response.content_part.added', fields)
  }

  private openMessage(): string {
    if (this.message !== null && !this.message.over) return ''
    const fields = { type: 'message', status: 'in_progress', role: 'assistant', content: [] }
    const item = this.newItem(fields)
    this.message = { ...item, content: [], open: 0, over: false }
    return this.added(item)
  }

  private leaveMessage(): string {
    const { message } = this
    if (message === null) return ''
    message.over = true
    return message.open === 0 ? this.endMessage('completed') : ''
  }

  private endMessage(status: string): string {
    const { message } = this
    if (message === null) return ''
    this.message = null
    return this.finished(message, { status, content: message.content })
  }

  /** The hot path: one frame for each piece of text, put together by hand. */
  private textDelta(part: Part, text: string): string {
    const { head, item } = part
    if (item === null || text === '') return ''
    const id = JSON.stringify(item.id)
    const place = `"item_id":${id},"output_index":${item.index}`
    const frame = (type: string, rest: string): string =>
      `event: ${type}\ndata: {"type":"${type}","sequence_number":${this.nextNumber()},${place},${rest}}\n\n`
    const delta = `"delta":${JSON.stringify(text)}`
    const content = `"content_index":${part.contentIndex},${delta}`
    switch (head.type) {
      case 'text': {
        const tokens = part.pending.length === 0 ? '[]' : JSON.stringify(part.pending)
        part.pending = []
        return frame('response.output_text.delta', `${content},"logprobs":${tokens}`)
      }
      case 'refusal':
        return frame('response.refusal.delta', content)
      case 'reasoning':
        return this.beginSummary(part) + frame(summaryDelta, `"summary_index":0,${delta}`)
      case 'tool-call': {
        const type = head.custom
          ? 'response.custom_tool_call_input.delta'
          : 'response.function_call_arguments.delta'
        return frame(type, delta)
      }
      case 'image':
      case 'other':
        return ''
    }
  }

  private annotate(part: Part, annotation: JsonObject): string {
    const begun = this.begin(part)
    const index = part.annotations.length
    part.annotations.push(annotation)
    const fields = { ...this.at(part), annotation_index: index, annotation }
    return begun + this.emit('response.output_text.annotation.added', fields)
  }

  private endContent(part: Part): string {
    const { head, text, tokens } = part
    const { message } = this
    const content = contentOf(part, text)
    const done =
      head.type === 'refusal'
        ? this.emit('response.refusal.done', { ...this.at(part), refusal: text })
        : this.emit('response.output_text.done', { ...this.at(part), text, logprobs: tokens })
    const ended = this.emit('response.content_part.done', { ...this.at(part), part: content })
    if (message === null) return done + ended
    message.content[part.contentIndex] = content
    message.open--
    return done + ended + (message.over && message.open === 0 ? this.endMessage('completed') : '')
  }

  private beginSummary(part: Part): string {
    if (part.contentIndex > 0) return ''
    // Sent from here on.
    part.contentIndex = 1
    const summary = { type: 'summary_text', text: '' }
    const place = { item_id: part.item?.id, output_index: part.item?.index, summary_index: 0 }
    return this.emit('response.reasoning_summary_part.added', { ...place, part: summary })
  }

  private endReasoning(part: Part, sealed: string | null): string {
    const { item, text } = part
    if (item === null) return ''
    const place = { item_id: item.id, output_index: item.index, summary_index: 0 }
    const summary = { type: 'summary_text', text }
    const done =
      text === ''
        ? ''
        : this.emit('response.reasoning_summary_text.done', { ...place, text }) +
          this.emit('response.reasoning_summary_part.done', { ...place, part: summary })
    return (
      done +
      this.finished(item, {
        summary: text === '' ? [] : [summary],
        ...(sealed !== null && { encrypted_content: sealed }),
      })
    )
  }

  private startCall(part: Part, head: ToolCallHead): string {
    const { id, custom } = head
    const origin = this.tools.get(head.name)
    // Its item can be sent when its arguments are known.
    if (origin?.known !== undefined) return ''
    const called = { status: 'in_progress', call_id: id, name: head.name, ...origin?.names }
    part.item = this.newItem(
      custom
        ? { type: 'custom_tool_call', ...called, input: '' }
        : { type: 'function_call', ...called, arguments: '' },
    )
    return this.added(part.item)
  }

  private endCall(part: Part, head: ToolCallHead): string {
    const { item, text } = part
    if (item === null) return this.typedCall(head, text)
    const place = { item_id: item.id, output_index: item.index }
    if (head.custom) {
      const done = this.emit('response.custom_tool_call_input.done', { ...place, input: text })
      return done + this.finished(item, { status: 'completed', input: text })
    }
    const fields = { ...place, name: item.value['name'], arguments: text }
    const done = this.emit('response.function_call_arguments.done', fields)
    return done + this.finished(item, { status: 'completed', arguments: text })
  }

  /** The call of a tool that has a type of its own; of a function, where its arguments are none that the item could have. */
  private typedCall({ id, name }: ToolCallHead, text: string): string {
    const known = this.tools.get(name)?.known
    const input = known === undefined ? null : inputIn(text)
    if (known === undefined || input === null) {
      const called = { type: 'function_call', call_id: id, name }
      return this.whole(
        { ...called, status: 'in_progress', arguments: '' },
        { status: 'completed', arguments: text },
      )
    }
    const fields = { type: known.call, call_id: id, ...known.item(input) }
    return this.whole({ ...fields, status: 'in_progress' }, { status: 'completed' })
  }

  /** An item that is sent at once. */
  private whole(begun: JsonObject, done: JsonObject): string {
    const item = this.newItem(begun)
    return this.added(item) + this.finished(item, done)
  }

  private image(mediaType: string, data: string): string {
    const format = mediaType.slice('image/'.length)
    return (
      this.leaveMessage() +
      this.whole(
        { type: 'image_generation_call', status: 'in_progress', result: null },
        { status: 'completed', result: data, output_format: format },
      )
    )
  }

  /** What another vendor ran itself is none of this format's items. */
  private other(item: JsonObject): string {
    if (typeof item['type'] !== 'string') return ''
    this.nextItem = item
    return this.whole({ type: item['type'] }, {})
  }

  private opaqueOfText(sealed: string | null): string {
    if (sealed === null) return ''
    return this.leaveMessage() + this.opaqueItem(carried(sealed, null))
  }

  private opaqueOfCall(sealed: string | null, callId: string): string {
    return sealed === null ? '' : this.opaqueItem(carried(sealed, callId))
  }

  private opaqueItem(content: string): string {
    return this.whole({ type: 'reasoning', summary: [] }, { encrypted_content: content })
  }
}

const summaryDelta = 'response.reasoning_summary_text.delta'

/** A content part with the text given and all else sent of it. */
function contentOf({ head, annotations, tokens }: Part, text: string): JsonObject {
  if (head.type === 'refusal') return { type: 'refusal', refusal: text }
  return { type: 'output_text', annotations: [...annotations], logprobs: [...tokens], text }
}
