// Writes the parts of a reply as output items of a response, with their events.

import type { FinishReason, JsonObject, PartHead, UrlCitation } from '../ir.ts'
import { ownFields } from './hub-fields.ts'
import { carried } from './hub-opaque-state.ts'
import { type Emit, OutputItems } from './hub-output-items.ts'
import { MessageOutput, type Part, type Phase } from './hub-output-message.ts'
import { inputIn, type ToolOrigins } from './tool-origins.ts'

type ToolCallHead = Extract<PartHead, { readonly type: 'tool-call' }>

interface EndedCall {
  readonly part: Part
  readonly head: ToolCallHead
  readonly sealed: string | null
}

export class Output {
  private readonly parts = new Map<number, Part>()
  readonly items: OutputItems
  private readonly message: MessageOutput
  private readonly nextNumber: () => number
  private readonly tools: ToolOrigins
  /** Calls that have ended; how they are shown depends on what follows. */
  private ended: EndedCall[] = []
  /** Opaque state of the text that ended last; the phase of its message depends on what follows. */
  private sealed: string | null = null
  /** The part that began last. */
  private last: Part | null = null

  /** Item ids are derived from `base`. `nextNumber` numbers the frames that `emit` does not make. */
  constructor(base: string, tools: ToolOrigins, emit: Emit, nextNumber: () => number) {
    this.items = new OutputItems(base, emit)
    this.message = new MessageOutput(this.items)
    this.tools = tools
    this.nextNumber = nextNumber
  }

  start(number: number, head: PartHead): string {
    const goesOn = head.type === 'refusal' || (head.type === 'text' && !head.apart)
    const sealed = this.endSealed(goesOn ? null : 'commentary')
    return sealed + this.endCalls(null) + this.begin(number, head)
  }

  private begin(number: number, head: PartHead): string {
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
    this.last = part
    if (head.type === 'text' || head.type === 'refusal') return ''
    const closed = this.message.leave('commentary')
    if (head.type === 'tool-call') return closed + this.startCall(part, head)
    if (head.type !== 'reasoning') return closed
    part.item = this.items.create({ type: 'reasoning', summary: [] })
    return closed + this.items.added(part.item)
  }

  delta(number: number, text: string): string {
    const part = this.parts.get(number)
    if (part === undefined) return ''
    const begun = this.message.begin(part)
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
        const notes = own.map((annotation) => this.message.annotate(part, annotation)).join('')
        this.sealed ??= sealed
        return notes + (part.item === null ? '' : this.message.endPart(part))
      }
      case 'reasoning':
        return this.endReasoning(part, sealed)
      case 'tool-call':
        this.ended.push({ part, head, sealed })
        return ''
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
    return this.message.begin(part) + this.message.annotate(part, annotation)
  }

  tell(number: number, tokens: readonly JsonObject[]): void {
    const part = this.parts.get(number)
    if (part === undefined) return
    part.tokens.push(...tokens)
    part.pending = [...part.pending, ...tokens]
  }

  /** Ends what is still open at the end of the reply; null: it broke off without a finish reason. */
  close(reason: FinishReason | null): string {
    const phase = phases.get(reason) ?? null
    const ended = this.endSealed(phase) + this.endCalls(reason)
    if (reason === null) return ended
    return ended + this.message.end(isCut(reason) ? 'incomplete' : 'completed', phase)
  }

  /** The last part of a reply that was cut is an incomplete call, unless its arguments are whole. */
  private endCalls(reason: FinishReason | null): string {
    const { ended, last } = this
    if (ended.length === 0) return ''
    this.ended = []
    return ended
      .map(({ part, head, sealed }) => {
        const cut = isCut(reason) && part === last && (head.custom || inputIn(part.text) === null)
        const status = cut ? 'incomplete' : 'completed'
        return this.endCall(part, head, status) + this.opaqueOfCall(sealed, head.id)
      })
      .join('')
  }

  /** Hot path: writes the frame of each text delta without building an object. */
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

  private beginSummary(part: Part): string {
    if (part.contentIndex > 0) return ''
    // Marks the summary part as sent.
    part.contentIndex = 1
    const summary = { type: 'summary_text', text: '' }
    const place = { item_id: part.item?.id, output_index: part.item?.index, summary_index: 0 }
    return this.items.emit('response.reasoning_summary_part.added', { ...place, part: summary })
  }

  private endReasoning(part: Part, sealed: string | null): string {
    const { item, text } = part
    if (item === null) return ''
    const place = { item_id: item.id, output_index: item.index, summary_index: 0 }
    const summary = { type: 'summary_text', text }
    const done =
      text === ''
        ? ''
        : this.items.emit('response.reasoning_summary_text.done', { ...place, text }) +
          this.items.emit('response.reasoning_summary_part.done', { ...place, part: summary })
    return (
      done +
      this.items.finished(item, {
        summary: text === '' ? [] : [summary],
        ...(sealed !== null && { encrypted_content: sealed }),
      })
    )
  }

  private startCall(part: Part, head: ToolCallHead): string {
    const { id, custom } = head
    const origin = this.tools.get(head.name)
    // Written once its arguments are complete, as an item of another type, which the vendor's id does not fit.
    if (origin?.known !== undefined) {
      this.items.takeNext({})
      return ''
    }
    const called = { status: 'in_progress', call_id: id, name: head.name, ...origin?.names }
    part.item = this.items.create(
      custom
        ? { type: 'custom_tool_call', ...called, input: '' }
        : { type: 'function_call', ...called, arguments: '' },
    )
    return this.items.added(part.item)
  }

  private endCall(part: Part, head: ToolCallHead, status: string): string {
    const { item, text } = part
    if (item === null) return this.typedCall(head, text, status)
    const place = { item_id: item.id, output_index: item.index }
    if (head.custom) {
      const done = this.items.emit('response.custom_tool_call_input.done', {
        ...place,
        input: text,
      })
      return done + this.items.finished(item, { status, input: text })
    }
    const fields = { ...place, name: item.value['name'], arguments: text }
    const done = this.items.emit('response.function_call_arguments.done', fields)
    return done + this.items.finished(item, { status, arguments: text })
  }

  /** Writes the call of a tool with its own item type; as a function call if the arguments do not fit that item. */
  private typedCall({ id, name }: ToolCallHead, text: string, status: string): string {
    const known = this.tools.get(name)?.known
    const input = known === undefined ? null : inputIn(text)
    if (known === undefined || input === null) {
      const called = { type: 'function_call', call_id: id, name }
      return this.items.made(
        { ...called, status: 'in_progress', arguments: '' },
        { status, arguments: text },
      )
    }
    const fields = { type: known.call, call_id: id, ...known.item(input) }
    return this.items.made({ ...fields, status: 'in_progress' }, { status })
  }

  private image(mediaType: string, data: string): string {
    const format = mediaType.slice('image/'.length)
    return (
      this.message.leave('commentary') +
      this.items.whole(
        { type: 'image_generation_call', status: 'in_progress', result: null },
        { status: 'completed', result: data, output_format: format },
      )
    )
  }

  /** Items of this format that a vendor ran itself; another format's have no `type` here and are skipped. */
  private other(item: JsonObject): string {
    const { type, code } = item
    if (typeof type !== 'string') return ''
    this.items.takeNext(item)
    if (type !== 'code_interpreter_call' || typeof code !== 'string')
      return this.items.whole({ type }, {})
    return this.items.code({ type }, code)
  }

  private endSealed(phase: Phase): string {
    const { sealed } = this
    if (sealed === null) return ''
    this.sealed = null
    return this.message.leave(phase) + this.opaqueItem(carried(sealed, null))
  }

  private opaqueOfCall(sealed: string | null, callId: string): string {
    return sealed === null ? '' : this.opaqueItem(carried(sealed, callId))
  }

  private opaqueItem(content: string): string {
    return this.items.made({ type: 'reasoning', summary: [] }, { encrypted_content: content })
  }
}

/** The phase of a message that ends the reply. */
const phases: ReadonlyMap<FinishReason | null, Phase> = new Map([
  ['stop', 'final_answer'],
  ['tool_calls', 'commentary'],
])

const summaryDelta = 'response.reasoning_summary_text.delta'

function isCut(reason: FinishReason | null): boolean {
  return reason === 'length' || reason === 'content_filter'
}
