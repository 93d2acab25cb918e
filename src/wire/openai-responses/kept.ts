// What a room that keeps responses needs to read of this format's bodies and to put into them.

import type { JsonObject, JsonValue } from '../ir.ts'
import { isObject } from '../openai/usage.ts'
import { objectsIn } from './hub-fields.ts'

/** What a request says of keeping it, and of what was kept before. */
export interface Keeping {
  /** Absent means true. */
  readonly store: boolean
  readonly background: boolean
  readonly previousResponseId: string | null
  /** The id, from either of its two spellings. */
  readonly conversation: string | null
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

/**
 * The request with the items of a conversation before its own and nothing left of where they were kept: a vendor of any
 * format can be asked it. References to items among `history` give way to those; others stay.
 */
export function withHistory(body: JsonObject, history: readonly JsonObject[]): JsonObject {
  const known = new Map<JsonValue | undefined, JsonObject>()
  for (const item of history) if (typeof item['id'] === 'string') known.set(item['id'], item)
  const own = inputItems(body).map((item) =>
    item['type'] === 'item_reference' ? (known.get(item['id']) ?? item) : item,
  )
  const { previous_response_id: _, conversation: __, ...rest } = body
  return { ...rest, input: [...history, ...own] }
}
