// Reads and writes private fields of the Responses format in hub objects.

import type { DialectId } from '../formats.ts'
import type { Extra, JsonObject } from '../ir.ts'
import { hasFields } from '../openai-chat/hub-fields.ts'

export const self: DialectId = 'openai-responses'

/** The private fields of this dialect; an empty object where there are none. */
export function ownFields(extra: Extra | null | undefined): JsonObject {
  return extra?.[self] ?? {}
}

/** `{ extra }` with the fields, or nothing where there are none. */
export function withExtra(fields: JsonObject): { extra?: Extra } {
  return hasFields(fields) ? { extra: { [self]: fields } } : {}
}
