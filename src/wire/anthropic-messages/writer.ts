// Writes hub events as a stream of Anthropic's Messages API, where only one block is open at a time.

import { replyKinds } from '../../config/prices.ts'
import type { Writer, WriterHead } from '../codec.ts'
import type { ChatEvent, JsonObject, PartHead, Usage } from '../ir.ts'
import { carried } from './opaque-state.ts'
import {
  deltaOf,
  eagerTools,
  emptyBlock,
  type Form,
  formOf,
  inputText,
  ownCitations,
  privateFields,
  streamedBlock,
  writeCitation,
} from './write-blocks.ts'
import { type Ending, messageHead, tellsRefusal, writeCounts, writeEnding } from './write-end.ts'

type EventOf<Type extends ChatEvent['type']> = Extract<ChatEvent, { readonly type: Type }>

/** A part whose end is not written yet. */
interface OpenPart {
  readonly head: PartHead
  readonly form: Form
  /** Deltas that wait for the blocks before it to end. */
  readonly waiting: JsonObject[]
  text: string
  ended: EventOf<'part-end'> | null
  /** Its opaque state was written before it. */
  opaqueWritten: boolean
  /** Its input goes out in pieces: set with the first one. */
  inPieces: boolean
}

type CallHead = Extract<PartHead, { readonly type: 'tool-call' }>

/** One event of the stream; official clients dispatch on the name in its `event` line. */
export function frame(type: string, fields: JsonObject): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`
}

export class MessagesWriter implements Writer {
  private readonly head: WriterHead
  private start: EventOf<'response-start'> | null = null
  private usage: Usage | null = null
  private began = false
  /** In order of their start; only the first may have its block open. */
  private readonly parts = new Map<number, OpenPart>()
  /** Index of the current block; all blocks before it are closed. */
  private index = 0
  private blockOpen = false
  private refusal = ''
  private ending: Ending | null = null
  /** Tools whose input the client wants in pieces, whether it becomes valid JSON or not. */
  private readonly eager: ReadonlySet<string>

  constructor(head: WriterHead) {
    this.head = head
    this.eager = eagerTools(head.request)
  }

  event(event: ChatEvent): string {
    // The format has a single choice.
    if ('choice' in event && event.choice !== null && event.choice !== 0) return ''
    switch (event.type) {
      case 'response-start':
        this.start = event
        return ''
      case 'usage':
        this.usage = event.usage
        return ''
      case 'part-start':
        return this.begin() + this.partStart(event)
      case 'part-delta':
        return this.partDelta(event)
      case 'citation':
        return this.cite(event)
      case 'part-end':
        return this.partEnd(event)
      case 'choice-end':
        return this.begin() + this.choiceEnd(event)
      case 'logprobs':
      case 'extra':
      case 'fault':
        return ''
    }
  }

  /** Writes the end of the message last, because usage may arrive after everything else. */
  end(): string {
    const before = this.begin() + this.unfinished()
    const ending = this.ending ?? { reason: 'stop', refusal: this.refusal }
    const usage = writeCounts(this.usage, ending.extra)
    const delta = writeEnding(ending)
    const { context_management: edits, ...rest } = delta
    const beside = edits === undefined ? {} : { context_management: edits }
    const last = frame('message_delta', { delta: { container: null, ...rest }, usage, ...beside })
    return before + last + frame('message_stop', {})
  }

  private unfinished(): string {
    if (this.ending !== null) return ''
    return this.choiceEnd({ type: 'choice-end', choice: 0, reason: 'stop' })
  }

  private begin(): string {
    if (this.began) return ''
    this.began = true
    const message = {
      ...messageHead(this.head, this.start),
      content: [],
      stop_reason: null,
      stop_sequence: null,
      stop_details: null,
      usage: writeCounts(promptOf(this.usage), undefined),
    }
    return frame('message_start', { message })
  }

  private partStart({ part, head }: EventOf<'part-start'>): string {
    const form = formOf(head)
    const opened: OpenPart = {
      head,
      form,
      waiting: [],
      text: '',
      ended: null,
      opaqueWritten: false,
      inPieces: false,
    }
    this.parts.set(part, opened)
    // A text block is opened with its first delta, because a part may have no text.
    return this.isFirst(opened) && form !== 'text' ? this.open(opened, {}) : ''
  }

  private isFirst(part: OpenPart): boolean {
    const [first] = this.parts.values()
    return first === part
  }

  /** Opens the block, where the part's form can start before its end is known. */
  private open(part: OpenPart, fields: JsonObject): string {
    const { form, head } = part
    if (form === 'none' || form === 'redacted' || form === 'refusal' || form === 'other') return ''
    this.blockOpen = true
    const block = { ...emptyBlock(head), ...fields }
    return frame('content_block_start', { index: this.index, content_block: block })
  }

  private delta(delta: JsonObject): string {
    return frame('content_block_delta', { index: this.index, delta })
  }

  private close(): string {
    if (!this.blockOpen) return ''
    this.blockOpen = false
    return frame('content_block_stop', { index: this.index++ })
  }

  /** Writes a whole block at once. */
  private whole(block: JsonObject): string {
    const { start, deltas } = streamedBlock(block)
    this.blockOpen = true
    const begun = frame('content_block_start', { index: this.index, content_block: start })
    return begun + deltas.map((delta) => this.delta(delta)).join('') + this.close()
  }

  private partDelta({ part: number, text }: EventOf<'part-delta'>): string {
    const part = this.parts.get(number)
    if (part === undefined || text === '') return ''
    part.text += text
    if (part.form === 'refusal') this.refusal += text
    if (part.head.type === 'tool-call' && !this.flows(part, part.head)) return ''
    return this.say(part, deltaOf(part.form, text))
  }

  /**
   * Whether the call's input goes out as it arrives. Else it waits until it is complete, as Anthropic's own does
   * without `eager_input_streaming`: official clients fail at input that is not JSON, or read it as `{}`.
   */
  private flows(part: OpenPart, { name, custom }: CallHead): boolean {
    part.inPieces ||= !custom && this.eager.has(name) && /^\s*\{/.test(part.text)
    return part.inPieces
  }

  private say(part: OpenPart, delta: JsonObject): string {
    if (this.isFirst(part) && (this.blockOpen || part.form === 'text')) {
      return (this.blockOpen ? '' : this.open(part, {})) + this.delta(delta)
    }
    if (part.form !== 'none') part.waiting.push(delta)
    return ''
  }

  private cite({ part: number, citation }: EventOf<'citation'>): string {
    const part = this.parts.get(number)
    if (part?.form !== 'text') return ''
    return this.say(part, {
      type: 'citations_delta',
      citation: writeCitation(citation, part.text),
    })
  }

  private partEnd(event: EventOf<'part-end'>): string {
    const part = this.parts.get(event.part)
    if (part === undefined) return ''
    part.ended = event
    return this.isFirst(part) ? this.advance() : ''
  }

  /** Finishes parts that have ended, and writes the next one as far as it has come. */
  private advance(): string {
    let out = ''
    for (const [number, part] of this.parts) {
      const { ended } = part
      if (!this.blockOpen) out += this.opaqueBefore(part) + this.openLate(part)
      if (ended === null) return out
      this.parts.delete(number)
      out += this.finish(part, ended)
    }
    return out
  }

  /** Opens the block of a part that waited for others to end. */
  private openLate(part: OpenPart): string {
    if (part.form === 'text' && part.waiting.length === 0) return ''
    const fields = part.head.type === 'tool-call' ? privateFields(part.ended?.extra) : {}
    const opened = this.open(part, fields)
    if (!this.blockOpen) return opened
    return (
      opened +
      part.waiting
        .splice(0)
        .map((delta) => this.delta(delta))
        .join('')
    )
  }

  /** Writes opaque state of a part other than thinking in a thinking block, before the part if known in time. */
  private opaqueBefore(part: OpenPart): string {
    const { form, ended } = part
    if (ended?.sealed === undefined || (form !== 'text' && form !== 'call')) return ''
    if (part.opaqueWritten) return ''
    part.opaqueWritten = true
    return this.whole(opaqueBlock(carried(ended.sealed, 'next')))
  }

  private finish(part: OpenPart, ended: EventOf<'part-end'>): string {
    const { form, head, text } = part
    const { sealed } = ended
    if (form === 'other') return this.whole(emptyBlock(head))
    if (form === 'redacted') {
      return sealed === undefined ? '' : this.whole({ type: 'redacted_thinking', data: sealed })
    }
    if (!this.blockOpen) return ''
    if (form === 'thinking') {
      return this.delta({ type: 'signature_delta', signature: sealed ?? '' }) + this.close()
    }
    const last =
      head.type !== 'tool-call'
        ? citationsOf(ended)
        : part.inPieces
          ? []
          : [deltaOf(form, inputText(text, head.custom === true))]
    const out = last.map((delta) => this.delta(delta)).join('') + this.close()
    if (sealed === undefined || part.opaqueWritten) return out
    return out + this.whole(opaqueBlock(carried(sealed, 'previous')))
  }

  private choiceEnd({ reason, stopText, extra }: EventOf<'choice-end'>): string {
    let out = ''
    for (const [part, open] of this.parts) {
      open.ended ??= { type: 'part-end', choice: 0, part }
    }
    out += this.advance()
    this.ending = { reason, stopText, extra, refusal: this.refusal }
    // Otherwise the client would see no reason why there is no answer.
    if (this.refusal === '' || tellsRefusal(extra)) return out
    out += frame('content_block_start', {
      index: this.index,
      content_block: { type: 'text', text: '', citations: [] },
    })
    this.blockOpen = true
    return out + this.delta(deltaOf('text', this.refusal)) + this.close()
  }
}

const noReply = Object.fromEntries(replyKinds.map((kind) => [kind, 0]))

/** Output counts are reported only at the end: some clients add up the counts of beginning and end. */
function promptOf(usage: Usage | null): Usage | null {
  return usage === null ? null : { ...usage, ...noReply }
}

function opaqueBlock(signature: string): JsonObject {
  return { type: 'thinking', thinking: '', signature }
}

function citationsOf(ended: EventOf<'part-end'>): JsonObject[] {
  return ownCitations(ended.extra).map((citation) => ({ type: 'citations_delta', citation }))
}
