// Writes a stored response as a stream. The events and their numbers depend on its content alone, so that they are the
// same during generation or later, in any process.

import type { JsonObject, JsonValue } from '../ir.ts'
import { isObject, listOf, objectsIn, stringOf } from '../json/value.ts'
import { frameOf } from './errors.ts'
import { type ItemSoFar, isBroken, type ResponseSoFar } from './so-far.ts'

/** Frames in order; null where the next one is not known yet. */
type Frames = Generator<string | null, void, void>

/** UTF-16 units of text in one event. */
const pieceLength = 32

/** Numbers one event and writes it as a frame. */
type Emit = (type: string, fields: JsonObject) => string

/**
 * The frames of events whose `sequence_number` is above `after` (-1: all); earlier ones are empty. After a null, ask
 * again once the response has grown. A response that failed or was cancelled always ends with its terminal event.
 */
export function* replay(source: ResponseSoFar, after: number): Frames {
  let number = 0
  const emit: Emit = (type, fields) => {
    const own = number++
    return own > after ? frameOf(type, own, fields) : ''
  }
  const background = source.response['background'] === true
  const begun = { ...source.response, ...unset, status: background ? 'queued' : 'in_progress' }
  yield emit('response.created', { response: begun })
  if (background) yield emit('response.queued', { response: begun })
  yield emit('response.in_progress', { response: { ...begun, status: 'in_progress' } })
  for (let index = 0; ; index++) {
    while (!source.items.has(index) && !source.ended) yield null
    const item = source.items.get(index)
    if (item === undefined) break
    yield* itemFrames(new ItemTeller(source, index, item, emit))
  }
  const { response } = source
  if (isBroken(response)) number = Math.max(number, after + 1)
  yield emit(terminalOf(response), { response })
}

const unset = { output: [], usage: null, error: null, incomplete_details: null }

/** There is no event for a cancelled response that clients know. */
function terminalOf({ status }: JsonObject): string {
  if (status === 'failed') return 'response.failed'
  return status === 'completed' ? 'response.completed' : 'response.incomplete'
}

type PartList = 'content' | 'summary'

/** Gives access to one item, which may still grow. */
class ItemTeller {
  readonly emit: Emit
  private readonly source: ResponseSoFar
  private readonly index: number
  private known: ItemSoFar

  constructor(source: ResponseSoFar, index: number, known: ItemSoFar, emit: Emit) {
    this.source = source
    this.index = index
    this.known = known
    this.emit = emit
  }

  get value(): JsonObject {
    this.known = this.source.items.get(this.index) ?? this.known
    return this.known.value
  }

  get done(): boolean {
    return this.source.ended || this.source.items.get(this.index)?.done === true
  }

  get place(): JsonObject {
    return { item_id: this.value['id'], output_index: this.index }
  }

  count(name: PartList): number {
    return listOf(this.value[name]).length
  }

  part(name: PartList, at: number): JsonObject | null {
    const part = listOf(this.value[name])[at]
    return isObject(part) ? part : null
  }
}

function* itemFrames(item: ItemTeller): Frames {
  const { output_index: index } = item.place
  yield item.emit('response.output_item.added', { output_index: index, item: emptied(item.value) })
  switch (item.value['type']) {
    case 'message':
      yield* partFrames(item, 'content')
      break
    case 'reasoning':
      yield* partFrames(item, 'summary')
      // A summary may still come, so that the raw text waits until the item is done.
      while (!item.done) yield null
      yield* partFrames(item, 'content')
      break
    case 'function_call':
      yield* callFrames(item, 'response.function_call_arguments', 'arguments')
      break
    case 'custom_tool_call':
      yield* callFrames(item, 'response.custom_tool_call_input', 'input')
  }
  while (!item.done) yield null
  yield item.emit('response.output_item.done', { output_index: index, item: item.value })
}

/** The item as its first event shows it. */
function emptied(item: JsonObject): JsonObject {
  // What a message is follows from what comes after it.
  const { encrypted_content: _, phase: __, ...begun } = item
  if ('status' in item) begun['status'] = 'in_progress'
  if ('content' in item) begun['content'] = []
  if ('summary' in item) begun['summary'] = []
  if (item['type'] === 'function_call') begun['arguments'] = ''
  if (item['type'] === 'custom_tool_call') begun['input'] = ''
  if (item['type'] === 'image_generation_call') begun['result'] = null
  return item['type'] === 'compaction' ? item : begun
}

function* callFrames(item: ItemTeller, type: string, name: 'arguments' | 'input'): Frames {
  const said = () => textIn(item.value, name)
  yield* deltas(said, item, (delta) => item.emit(`${type}.delta`, { ...item.place, delta }))
  const { name: called } = item.value
  const whole = name === 'input' ? { input: said() } : { name: called, arguments: said() }
  yield item.emit(`${type}.done`, { ...item.place, ...whole })
}

function* partFrames(item: ItemTeller, name: PartList): Frames {
  for (let at = 0; ; at++) {
    while (item.count(name) <= at && !item.done) yield null
    const part = item.part(name, at)
    if (part === null) return
    if (name === 'summary') yield* summaryFrames(item, at)
    else yield* contentFrames(item, at, part)
  }
}

function* summaryFrames(item: ItemTeller, at: number): Frames {
  const place = { ...item.place, summary_index: at }
  const said = () => textIn(item.part('summary', at), 'text')
  const part = { type: 'summary_text', text: '' }
  yield item.emit('response.reasoning_summary_part.added', { ...place, part })
  const type = 'response.reasoning_summary_text'
  yield* deltas(said, endOfPart(item, 'summary', at), (delta) =>
    item.emit(`${type}.delta`, { ...place, delta }),
  )
  yield item.emit(`${type}.done`, { ...place, text: said() })
  const whole = { ...part, text: said() }
  yield item.emit('response.reasoning_summary_part.done', { ...place, part: whole })
}

function* contentFrames(item: ItemTeller, at: number, begun: JsonObject): Frames {
  const place = { ...item.place, content_index: at }
  const name = begun['type'] === 'refusal' ? 'refusal' : 'text'
  const plain = begun['type'] === 'output_text'
  if (!streamedParts.has(begun['type'])) return yield* otherPart(item, place, at)
  const type = plain ? 'response.output_text' : `response.${begun['type']}`
  const part = () => item.part('content', at) ?? begun
  const empty = { ...begun, [name]: '', ...(plain && { annotations: [], logprobs: [] }) }
  yield item.emit('response.content_part.added', { ...place, part: empty })
  const logprobs = plain && { logprobs: [] }
  yield* deltas(
    () => textIn(part(), name),
    endOfPart(item, 'content', at),
    (delta) => item.emit(`${type}.delta`, { ...place, delta, ...logprobs }),
  )
  const { annotations, logprobs: tokens = [] } = part()
  for (const [index, annotation] of objectsIn(annotations).entries()) {
    const fields = { ...place, annotation_index: index, annotation }
    yield item.emit(`${type}.annotation.added`, fields)
  }
  const said = { [name]: textIn(part(), name), ...(plain && { logprobs: tokens }) }
  yield item.emit(`${type}.done`, { ...place, ...said })
  yield item.emit('response.content_part.done', { ...place, part: part() })
}

/** Content parts whose text is sent in deltas. */
const streamedParts: ReadonlySet<JsonValue | undefined> = new Set([
  'output_text',
  'refusal',
  'reasoning_text',
])

function* otherPart(item: ItemTeller, place: JsonObject, at: number): Frames {
  while (!item.done) yield null
  const part = item.part('content', at) ?? {}
  yield item.emit('response.content_part.added', { ...place, part })
  yield item.emit('response.content_part.done', { ...place, part })
}

interface Ending {
  readonly done: boolean
}

/** Whether a part is complete: for a summary, when the next one begins. */
function endOfPart(item: ItemTeller, name: PartList, at: number): Ending {
  return {
    get done() {
      // Members beside the text may arrive until the item ends.
      return item.done || (name === 'summary' && item.count(name) > at + 1)
    },
  }
}

/** Cuts the text into pieces that depend only on the text itself. */
function* deltas(said: () => string, ending: Ending, tell: (piece: string) => string): Frames {
  let at = 0
  for (;;) {
    const { done } = ending
    const text = said()
    const end = pieceEnd(text, at)
    if (end < text.length || (done && at < text.length)) {
      yield tell(text.slice(at, end))
      at = end
    } else if (done) return
    else yield null
  }
}

/** Never splits a surrogate pair. */
function pieceEnd(text: string, at: number): number {
  const end = at + pieceLength
  const isPair =
    /[\ud800-\udbff]/.test(text[end - 1] ?? '') && /[\udc00-\udfff]/.test(text[end] ?? '')
  return isPair ? end + 1 : end
}

function textIn(value: JsonObject | null, name: string): string {
  const text = value?.[name]
  return stringOf(text)
}
