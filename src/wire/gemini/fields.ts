// Helpers of the Gemini format: read members in either spelling, keep and write back private fields.

import { invalidRequest } from '../../errors.ts'
import type { DialectId } from '../formats.ts'
import type { Extra, JsonObject, JsonValue, RequestPart } from '../ir.ts'
import { isObject } from '../json/value.ts'

export const self: DialectId = 'gemini'

export function numberOf(value: JsonValue | undefined): number | null {
  // ProtoJSON writes 64-bit numbers as strings.
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  return typeof number === 'number' && Number.isFinite(number) ? number : null
}

/** The private fields of this dialect; an empty object where there are none. */
export function ownFields(extra: Extra | null | undefined): JsonObject {
  return extra?.[self] ?? {}
}

/** The part, which only this format knows. Throws GatewayError for one of another format. */
export function ownPart(
  { extra }: Extract<RequestPart, { readonly type: 'other' }>,
  path: string,
): JsonObject {
  const { part } = ownFields(extra)
  if (isObject(part)) return part
  throw invalidRequest(`${path} is of a type this model cannot take`, path)
}

/**
 * The values of a repeated field. Google's API takes a single value in place of a list: its own examples send one turn
 * or part so, and @ai-sdk/google up to 1 its tools.
 */
export function repeated(value: JsonValue | undefined): JsonValue[] {
  return value === undefined ? [] : Array.isArray(value) ? value : [value]
}

/** `{ extra }` with the fields, or nothing where there are none. */
export function withExtra(fields: JsonObject): { extra?: Extra } {
  return Object.keys(fields).length === 0 ? {} : { extra: { [self]: fields } }
}

/** The snake-case spelling of a name, which ProtoJSON also allows. */
export function snakeOf(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

export function camelOf(name: string): string {
  // Clients choose the names: tried at each underscore of a long row of them, the pattern would take hours.
  return name.includes('_')
    ? name.replace(/(?<!_)_+([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())
    : name
}

/**
 * The non-null members of an object under their camel-case names: Google reads both spellings (ProtoJSON, "JSON
 * mapping"), and its own examples use both. Names inside the values stay unchanged.
 */
export function membersOf(value: JsonObject): JsonObject {
  const members: JsonObject = {}
  for (const [name, member] of Object.entries(value)) {
    const camel = camelOf(name)
    if (member != null && !Object.hasOwn(members, camel)) members[camel] = member
  }
  return members
}
