// Reads and edits Responses bodies for stored responses and conversations.

import { GatewayError } from '../../errors.ts'
import { type OpaqueOrigin, opaquePrefix, wrapOpaque } from '../hub/opaque-state.ts'
import type { JsonObject, JsonValue } from '../ir.ts'
import { members, parseSpan, skipSpace } from '../json/scan.ts'
import { isObject, objectsIn } from '../json/value.ts'
import type { Peek } from '../request.ts'
import { carriedBy } from './hub-opaque-state.ts'
import { withEncrypted } from './include.ts'

/** A request's members about storing its response and about stored conversations. */
export interface Keeping {
  /** Absent means true. */
  readonly store: boolean
  readonly background: boolean
  readonly previousResponseId: string | null
  /** The conversation's id, given as a string or inside an object. */
  readonly conversation: string | null
}

const keepingNames = ['store', 'background', 'previous_response_id', 'conversation'] as const

/** Parses only these members. */
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
 * Edits by which a vendor of this format stores nothing of the request; `encrypted`: it must return reasoning that
 * can be sent back.
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

/** The input as items; a plain text becomes a user message. */
export function inputItems(body: JsonObject): JsonObject[] {
  const { input } = body
  if (typeof input !== 'string') return objectsIn(input)
  return [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: input }] }]
}

/** The output items of a whole response. */
export function outputItems(response: JsonObject): JsonObject[] {
  return objectsIn(response['output'])
}

/** Ids of items that `input` refers to with `item_reference`. */
export function referencedItems(items: readonly JsonObject[]): string[] {
  return items.flatMap(({ type, id }) =>
    type === 'item_reference' && typeof id === 'string' ? [id] : [],
  )
}

/**
 * The items, with references replaced where the item is known. Throws GatewayError where what replaces them is longer
 * than `maxBytes`: one item may be named any number of times.
 */
export function withReferences(
  items: readonly JsonObject[],
  known: readonly JsonObject[],
  maxBytes: number,
): JsonObject[] {
  const byId = new Map<JsonValue | undefined, JsonObject>()
  for (const item of known) if (typeof item['id'] === 'string') byId.set(item['id'], item)
  const lengths = new Map<JsonObject, number>()
  let total = 0
  return items.map((item) => {
    const found = item['type'] === 'item_reference' ? byId.get(item['id']) : undefined
    if (found === undefined) return item
    const length = lengths.get(found) ?? JSON.stringify(found).length
    lengths.set(found, length)
    total += length
    if (total > maxBytes) throw tooLarge(maxBytes)
    return found
  })
}

/** The refusal of a request that is too large with the stored items that belong to it. */
export function tooLarge(maxBytes: number): GatewayError {
  const message = `The request is larger than ${maxBytes} bytes with the stored items that it continues or refers to.`
  return new GatewayError('request_too_large', message, { param: 'input' })
}

/** Item types that vendors accept without their id; others are useless without it. */
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

/** The item without its id, if its type allows that: a vendor that stores nothing would fail to find the id. */
export function replayed(item: JsonObject): JsonObject {
  if (!plainTypes.has(item['type'])) return item
  const { id: _, status: __, ...rest } = item
  return rest
}

/**
 * The request with the conversation's earlier items before its own and without references to stored state, so that a
 * vendor of any format can answer it. References to items in `history` are replaced; others stay. Throws GatewayError
 * as `withReferences`.
 */
export function withHistory(
  body: JsonObject,
  history: readonly JsonObject[],
  maxBytes: number,
): JsonObject {
  const own = withReferences(inputItems(body), history, maxBytes)
  const { previous_response_id: _, conversation: __, ...rest } = body
  return { ...rest, input: [...history, ...own] }
}

/**
 * The response with its opaque state marked with its origin, so that its output items can be sent to any channel
 * later.
 */
export function outputWithOrigin(response: JsonObject, origin: OpaqueOrigin | null): JsonObject {
  if (origin === null) return response
  const output = outputItems(response).map((item) => {
    const sealed = item['encrypted_content']
    if (typeof sealed !== 'string') return item
    // A translated reply is marked already, also where it carries the state of a call or a text.
    if ((carriedBy(sealed)?.sealed ?? sealed).startsWith(opaquePrefix)) return item
    const { encrypted_content: _, ...rest } = item
    const marked = wrapOpaque(sealed, origin)
    return marked === null ? rest : { ...rest, encrypted_content: marked }
  })
  return { ...response, output }
}

const partTypes: ReadonlySet<JsonValue | undefined> = new Set(['user', 'system', 'developer'])

/** The item as the input items list shows it: with an id, and a message's text as a part. */
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
