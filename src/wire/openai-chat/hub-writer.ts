// Writes hub events as the chunks of OpenAI's chat completion stream.

import type { Writer, WriterHead } from '../codec.ts'
import type {
  ChatEvent,
  ChatRequest,
  Extra,
  JsonObject,
  JsonValue,
  PartHead,
  Usage,
} from '../ir.ts'
import { isObject } from '../json/value.ts'
import { tierOf } from '../openai/reply-tier.ts'
import { writeUsage } from '../openai/usage.ts'
import { writeCitation, writeImage, writeTokens } from './hub-citations.ts'
import { hasFields, mergeFields, ownFields } from './hub-fields.ts'
import { opaqueMember } from './hub-parts.ts'
import { blockOf, thoughtNames } from './hub-thoughts.ts'

/** Private fields of the reply that OpenAI repeats on every chunk; any other is sent once. */
const onEveryChunk = ['service_tier', 'system_fingerprint'] as const

interface OpenPart {
  readonly head: PartHead
  /** Index of a tool call among those of its choice. */
  readonly call: number
  /** Length of the text before this part. */
  readonly base: number
  text: string
}

interface OpenChoice {
  readonly index: number
  readonly parts: Map<number, OpenPart>
  calls: number
  opened: boolean
  /** Length of the text sent so far: citation offsets count from its beginning. */
  textLength: number
  /** The vendor's own reasoning details are passed on, with the opaque state in them. */
  detailed: boolean
  /** The opaque state of the last text that has any; sent once, because clients join the texts of several deltas. */
  sealed: string | null
  /** Private fields for the choice's next chunk; those of its delta are inside `delta`. */
  pending: JsonObject
  /** Annotations and images, sent once: openai-node keeps the last of several lists, openai-python fails at it. */
  lists: JsonObject
  /** Number of thinking blocks so far: openai-python joins lists by the `index` of their elements. */
  thoughts: number
}

type EventOf<Type extends ChatEvent['type']> = Extract<ChatEvent, { readonly type: Type }>

export class ChatWriter implements Writer {
  private readonly head: WriterHead
  private readonly choices = new Map<number, OpenChoice>()
  /** The chunk up to `choices`, as JSON text. */
  private prefix: string
  private readonly suffix: string
  /** Whether calls are written as the deprecated `function_call`. */
  private readonly older: boolean
  private constant: JsonObject = {}
  /** Private fields of the reply for its next chunk. */
  private pending: JsonObject = {}
  private start: EventOf<'response-start'> | null = null
  private usage: Usage | null = null

  constructor(head: WriterHead) {
    this.head = head
    this.older = asksByFunctions(head.request)
    this.prefix = this.prefixOf()
    // Where the client asked for usage, OpenAI's chunks carry `"usage":null`.
    this.suffix = head.wantsUsage ? ',"usage":null}\n\n' : '}\n\n'
  }

  event(event: ChatEvent): string {
    switch (event.type) {
      case 'response-start':
        this.start = event
        this.take(event.extra)
        this.prefix = this.prefixOf()
        return ''
      case 'extra':
        if (event.choice === null) this.take(event.extra)
        else this.takeOf(this.choiceAt(event.choice), ownFields(event.extra))
        return ''
      case 'usage':
        this.usage = event.usage
        return ''
      case 'part-start':
        return this.partStart(event)
      case 'part-delta':
        return this.partDelta(event)
      case 'part-end':
        return this.partEnd(event)
      case 'choice-end':
        return this.choiceEnd(event)
      case 'citation':
        this.cite(event)
        return ''
      case 'logprobs':
        this.tell(event)
        return ''
      case 'fault':
        // The relay reports faults to the client, as this format's error frames.
        return ''
    }
  }

  end(): string {
    const done = 'data: [DONE]\n\n'
    const usage = this.head.wantsUsage && this.usage !== null ? writeUsage(this.usage) : null
    if (usage === null && !hasFields(this.pending)) return done
    const tail = usage === null ? this.suffix : `,"usage":${JSON.stringify(usage)}}\n\n`
    return `${this.prefix}${this.flushed()}"choices":[]${tail}${done}`
  }

  private prefixOf(): string {
    const { id, model, createdAt } = this.head
    const text = JSON.stringify({
      id: this.start?.id || id,
      object: 'chat.completion.chunk',
      created: this.start?.createdAt || createdAt,
      model: this.start?.model || model,
      ...this.constant,
    })
    return `data: ${text.slice(0, -1)},`
  }

  private take(extra: Extra | undefined): void {
    const fields = { ...tierOf(extra), ...ownFields(extra) }
    for (const name of onEveryChunk) {
      if (fields[name] === undefined) continue
      this.constant = { ...this.constant, [name]: fields[name] }
      delete fields[name]
      this.prefix = this.prefixOf()
    }
    mergeFields(this.pending, fields)
  }

  /** The reply's pending fields as JSON members that precede `choices`. */
  private flushed(): string {
    if (!hasFields(this.pending)) return ''
    const text = JSON.stringify(this.pending)
    this.pending = {}
    return `${text.slice(1, -1)},`
  }

  private choiceAt(index: number): OpenChoice {
    const known = this.choices.get(index)
    if (known !== undefined) return known
    const opened: OpenChoice = {
      index,
      parts: new Map(),
      calls: 0,
      opened: false,
      textLength: 0,
      detailed: false,
      sealed: null,
      pending: {},
      lists: {},
      thoughts: 0,
    }
    this.choices.set(index, opened)
    return opened
  }

  private chunk(index: number, delta: JsonObject, finish: JsonValue, extra?: JsonObject): string {
    const choice: JsonObject = { index, delta, logprobs: null, ...extra, finish_reason: finish }
    return `${this.prefix}${this.flushed()}"choices":[${JSON.stringify(choice)}]${this.suffix}`
  }

  /** A chunk that also carries the choice's pending fields. */
  private flushing(choice: OpenChoice, delta: JsonObject): string {
    if (!hasFields(choice.pending)) return this.chunk(choice.index, delta, null)
    const { delta: inside, ...fields } = choice.pending
    choice.pending = {}
    return this.chunk(choice.index, { ...delta, ...(inside as JsonObject) }, null, fields)
  }

  /** The choice's first chunk; only a text or a refusal opens with empty content. */
  private opener(choice: OpenChoice, type: PartHead['type'] | null): string {
    if (choice.opened) return ''
    choice.opened = true
    const delta =
      type === 'tool-call' || type === 'reasoning'
        ? { role: 'assistant', content: null }
        : { role: 'assistant', content: '', refusal: null }
    return this.chunk(choice.index, delta, null)
  }

  private takeOf(choice: OpenChoice, fields: JsonObject): void {
    const { delta } = fields
    if (isObject(delta) && thoughtNames.some((name) => delta[name] !== undefined)) {
      choice.detailed = true
    }
    mergeFields(choice.pending, fields)
  }

  private partStart({ choice: index, part, head }: EventOf<'part-start'>): string {
    const choice = this.choiceAt(index)
    const call = head.type === 'tool-call' ? choice.calls++ : 0
    choice.parts.set(part, { head, call, base: choice.textLength, text: '' })
    if (head.type === 'other') return ''
    const opener = this.opener(choice, head.type)
    if (head.type !== 'tool-call') return opener
    const { id, name, custom = false } = head
    if (this.older) {
      // The older form has a single call, and clients would join the texts of several.
      if (call > 0) return opener
      return opener + this.flushing(choice, { function_call: { name, arguments: '' } })
    }
    const body = custom
      ? { type: 'custom', custom: { name, input: '' } }
      : { type: 'function', function: { name, arguments: '' } }
    return opener + this.flushing(choice, { tool_calls: [{ index: call, id, ...body }] })
  }

  private partDelta({ choice: index, part, text }: EventOf<'part-delta'>): string {
    const choice = this.choiceAt(index)
    const open = choice.parts.get(part)
    if (open === undefined) return ''
    const { type } = open.head
    if (type === 'text') choice.textLength += text.length
    else if (type === 'reasoning' || type === 'image') open.text += text
    const delta = this.deltaOf(open, text)
    return delta === null ? '' : this.flushing(choice, delta)
  }

  /** The delta of a part's text; null where the part is written at its end, or not at all. */
  private deltaOf({ head, call }: OpenPart, text: string): JsonObject | null {
    switch (head.type) {
      case 'text':
        return { content: text }
      case 'reasoning':
        return { reasoning_content: text }
      case 'refusal':
        return { refusal: text }
      case 'tool-call': {
        if (this.older) return call > 0 ? null : { function_call: { arguments: text } }
        const body = head.custom ? { custom: { input: text } } : { function: { arguments: text } }
        return { tool_calls: [{ index: call, ...body }] }
      }
      case 'image':
      case 'other':
        return null
    }
  }

  private partEnd({ choice: index, part, sealed, extra }: EventOf<'part-end'>): string {
    const choice = this.choiceAt(index)
    const open = choice.parts.get(part)
    choice.parts.delete(part)
    if (open === undefined) return ''
    const { head, call, text } = open
    if (head.type === 'image') {
      mergeFields(choice.lists, { images: [writeImage(head.mediaType, text)] })
    } else if (head.type === 'reasoning') {
      if (sealed === undefined || choice.detailed) return ''
      const block = { ...blockOf(text, sealed, head.redacted === true), index: choice.thoughts++ }
      return this.flushing(choice, { thinking_blocks: [block] })
    }
    if (head.type === 'text') choice.sealed = sealed ?? choice.sealed
    if (head.type !== 'tool-call' || this.older) return ''
    const fields = sealed === undefined ? {} : opaqueMember(sealed)
    mergeFields(fields, ownFields(extra))
    if (!hasFields(fields)) return ''
    // Vercel's SDK ignores a call without this member.
    const said = head.custom ? { custom: { input: '' } } : { function: { arguments: '' } }
    return this.flushing(choice, { tool_calls: [mergeFields({ index: call, ...said }, fields)] })
  }

  private cite({ choice: index, part, citation }: EventOf<'citation'>): void {
    const choice = this.choiceAt(index)
    const open = choice.parts.get(part)
    if (open?.head.type === 'text')
      mergeFields(choice.lists, { annotations: [writeCitation(citation, open.base)] })
  }

  /** Holds probabilities for the next piece of their text. */
  private tell({ choice: index, part, tokens }: EventOf<'logprobs'>): void {
    const choice = this.choiceAt(index)
    const type = choice.parts.get(part)?.head.type
    if (type !== 'text' && type !== 'refusal') return
    const lists =
      type === 'text' ? { content: tokens, refusal: [] } : { content: [], refusal: tokens }
    mergeFields(choice.pending, { logprobs: writeTokens(lists) })
  }

  private choiceEnd({ choice: index, reason, extra }: EventOf<'choice-end'>): string {
    const choice = this.choiceAt(index)
    const opener = this.opener(choice, null)
    const plain = this.older && reason === 'tool_calls' ? 'function_call' : reason
    const own = mergeFields(choice.pending, ownFields(extra))
    const opaque = choice.sealed === null ? {} : opaqueMember(choice.sealed)
    for (const delta of [choice.lists, opaque]) if (hasFields(delta)) mergeFields(own, { delta })
    const { delta, ...pending } = own
    choice.pending = {}
    const late = delta === undefined ? '' : this.chunk(index, delta as JsonObject, null)
    return opener + late + this.chunk(index, {}, plain, pending)
  }
}

/** Whether the client asked with the deprecated `functions` alone: it then expects calls in `function_call`. */
export function asksByFunctions(request: ChatRequest | undefined): boolean {
  const tools = request?.tools ?? []
  const isOlder = (tool: (typeof tools)[number]): boolean =>
    tool.type === 'function' && ownFields(tool.extra)['deprecated'] === true
  return tools.length > 0 && tools.every(isOlder)
}
