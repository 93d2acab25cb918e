// What a room that keeps responses needs to read of this format's bodies and to put into them.

import { type OpaqueOrigin, opaquePrefix, wrapOpaque } from '../hub/opaque-state.ts'
import type { JsonObject, JsonValue } from '../ir.ts'
import { members, parseSpan, skipSpace } from '../json/scan.ts'
import { isObject, objectsIn } from '../json/value.ts'
import type { Peek } from '../request.ts'
import { withEncrypted } from './include.ts'

/** What a request says of keeping it, and of what was kept before. */
export interface Keeping {
  /** Absent means true. */
  readonly store: boolean
  readonly background: boolean
  readonly previousResponseId: string | null
  /** The id, from either of its two spellings. */
  readonly conversation: string | null
}

const keepingNames = ['store', 'background', 'previous_response_id', 'conversation'] as const

/** Reads nothing but the members it is about. */
export function keepingIn(peek: Peek): Keeping {
  const found: JsonObject = {}
  if (keepingNames.some((name) => peek.keys.includes(name))) {
    const { body } = peek
    for (const { key, start, end } of members(body, skipSpace(body, 0))) {
      if ((keepingNames as readonly string[]).includes(key)) {
        found[key] = parseSpan(body, start, end) as JsonValue
      }
    }
  }
  return keepingOf(found)
}

export function keepingOf(body: JsonObject): Keeping {
  const { store, background, previous_response_id: previous, conversation } = body
  const id = isObject(conversation) ? conversation['id'] : conversation
  return {
    store: store !== false,
    background: background === true,
    previousResponseId: typeof previous === 'string' ? previous : null,
    conversation: typeof id === 'string' ? id : null,
  }
}

/**
 * What makes a vendor of this format keep nothing of the request; `encrypted`: it is asked for reasoning that can be
 * given back.
 */
export function vendorEdits(peek: Peek, encrypted: boolean): NonNullable<Peek['vendorEdits']> {
  const { body, keys, bodyEnd } = peek
  const required = new Map<string, JsonValue>([['store', false]])
  if (keys.includes('background')) required.set('background', false)
  if (keys.includes('previous_response_id')) required.set('previous_response_id', null)
  if (encrypted) required.set('include', withEncrypted([]))
  const edits: { start: number; end: number; text: string }[] = []
  if ([...required.keys()].some((name) => keys.includes(name))) {
    for (const { key, start, end } of members(body, skipSpace(body, 0))) {
      let value = required.get(key)
      if (value === undefined) continue
      if (key === 'include') {
        const asked = parseSpan(body, start, end)
        value = withEncrypted(Array.isArray(asked) ? (asked as JsonValue[]) : [])
      }
      edits.push({ start, end, text: JSON.stringify(value) })
      required.delete(key)
    }
  }
  let added = ''
  for (const [name, value] of required) added += `,${JSON.stringify(name)}:${JSON.stringify(value)}`
  if (added !== '') edits.push({ start: bodyEnd, end: bodyEnd, text: added })
  return edits
}

/** The input of a request as items, a plain text as the user's message. */
export function inputItems(body: JsonObject): JsonObject[] {
  const { input } = body
  if (typeof input !== 'string') return objectsIn(input)
  return [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: input }] }]
}

/** The output items of a whole response. */
export function outputItems(response: JsonObject): JsonObject[] {
  return objectsIn(response['output'])
}

/** Ids of the items that `input` only names. */
export function referencedItems(items: readonly JsonObject[]): string[] {
  return items.flatMap(({ type, id }) =>
    type === 'item_reference' && typeof id === 'string' ? [id] : [],
  )
}

/** The items, with what is known in place of references to it. */
export function withReferences(
  items: readonly JsonObject[],
  known: readonly JsonObject[],
): JsonObject[] {
  const byId = new Map<JsonValue | undefined, JsonObject>()
  for (const item of known) if (typeof item['id'] === 'string') byId.set(item['id'], item)
  return items.map((item) =>
    item['type'] === 'item_reference' ? (byId.get(item['id']) ?? item) : item,
  )
}

/** Items that stand for themselves wherever they are shown; others are of use under their ids alone. */
const plainTypes: ReadonlySet<JsonValue | undefined> = new Set([
  undefined,
  'message',
  'reasoning',
  'function_call',
  'custom_tool_call',
  'function_call_output',
  'custom_tool_call_output',
  'shell_call',
  'shell_call_output',
  'apply_patch_call',
  'apply_patch_call_output',
  'tool_search_call',
  'tool_search_output',
  'additional_tools',
  'agent_message',
  'compaction',
])

/** The item as a vendor may be given it that keeps none: under its old id it would be looked for, and not found. */
export function replayed(item: JsonObject): JsonObject {
  if (!plainTypes.has(item['type'])) return item
  const { id: _, status: __, ...rest } = item
  return rest
}

/**
 * The request with the items of a conversation before its own and nothing left of where they were kept: a vendor of any
 * format can be asked it. References to items among `history` give way to those; others stay.
 */
export function withHistory(body: JsonObject, history: readonly JsonObject[]): JsonObject {
  const own = withReferences(inputItems(body), history)
  const { previous_response_id: _, conversation: __, ...rest } = body
  return { ...rest, input: [...history, ...own] }
}

/**
 * The output items of a response as they can be given back to any channel: opaque state is marked with where
 * it came from.
 */
export function outputWithOrigin(response: JsonObject, origin: OpaqueOrigin | null): JsonObject {
  if (origin === null) return response
  const output = outputItems(response).map((item) => {
    const sealed = item['encrypted_content']
    if (typeof sealed !== 'string' || sealed.startsWith(opaquePrefix)) return item
    const { encrypted_content: _, ...rest } = item
    const marked = wrapOpaque(sealed, origin)
    return marked === null ? rest : { ...rest, encrypted_content: marked }
  })
  return { ...response, output }
}

const partTypes: ReadonlySet<JsonValue | undefined> = new Set(['user', 'system', 'developer'])

/** The item as a list of input items shows it: with an id, a message's text as a part. */
export function listedItem(item: JsonObject, id: string): JsonObject {
  const { type = 'message', role, content } = item
  if (type !== 'message') return { id, ...item, type }
  const kind = partTypes.has(role) ? 'input_text' : 'output_text'
  const parts =
    typeof content === 'string'
      ? [{ type: kind, text: content, ...(kind === 'output_text' && { annotations: [] }) }]
      : content
  return { id, status: 'completed', ...item, type, content: parts ?? [] }
}
