// Helpers of the chat format's hub side: keep, merge and write back private fields.

import type { DialectId } from '../formats.ts'
import type { CacheMark, Extra, JsonObject, JsonValue } from '../ir.ts'
import { isObject, setMember } from '../json/value.ts'

const self: DialectId = 'openai-chat'

/** The private fields of this dialect; an empty object where there are none. */
export function ownFields(extra: Extra | null | undefined): JsonObject {
  return extra?.[self] ?? {}
}

/** `{ extra }` with the fields, or nothing where there are none. */
export function withExtra(fields: JsonObject): { extra?: Extra } {
  return hasFields(fields) ? { extra: { [self]: fields } } : {}
}

/** A copy without members that are null: null counts as absent. */
export function present(body: JsonObject): JsonObject {
  const kept: JsonObject = {}
  for (const [name, value] of Object.entries(body)) if (value != null) setMember(kept, name, value)
  return kept
}

/** The members of `body` that are neither null nor among `known`. */
export function unknownFields(body: JsonObject, known: ReadonlySet<string>): JsonObject {
  const kept: JsonObject = {}
  for (const name in body) {
    const value = body[name]
    if (value != null && !known.has(name)) setMember(kept, name, value)
  }
  return kept
}

export function hasFields(body: JsonObject): boolean {
  for (const _ in body) return true
  return false
}

/**
 * The cache mark on a part or a tool: Anthropic's `cache_control`, which many clients send in this format, or
 * OpenAI's `prompt_cache_breakpoint`. The member itself stays among the private fields.
 */
export function cacheOf(fields: JsonObject): { cache?: CacheMark } {
  const { cache_control: control, prompt_cache_breakpoint: breakpoint } = fields
  if (isObject(control)) return { cache: { ttl: control['ttl'] === '1h' ? '1h' : '5m' } }
  // Of the two durations, `12h` is nearer to an hour, `30m` is as OpenAI's default what five minutes are to others.
  return isObject(breakpoint) ? { cache: { ttl: breakpoint['ttl'] === '12h' ? '1h' : '5m' } } : {}
}

/** Members whose text is streamed in pieces; any other string replaces the one before it. */
const inPieces = new Set(['data', 'transcript', 'arguments'])

/** Adds the fields of a later frame to those before it, as a client's accumulator does. */
export function mergeFields(into: JsonObject, from: JsonObject): JsonObject {
  for (const [name, value] of Object.entries(from)) {
    setMember(into, name, mergedField(name, into[name], value))
  }
  return into
}

function mergedField(
  name: string,
  before: JsonValue | undefined,
  value: JsonValue | undefined,
): JsonValue | undefined {
  if (Array.isArray(before) && Array.isArray(value)) return [...before, ...value]
  if (isObject(before) && isObject(value)) return mergeFields({ ...before }, value)
  const joins = typeof before === 'string' && typeof value === 'string' && inPieces.has(name)
  return joins ? before + value : value
}
