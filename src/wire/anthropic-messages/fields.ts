// Helpers of Anthropic's format: keep and write back private fields and cache marks.

import type { DialectId } from '../formats.ts'
import type { CacheMark, Extra, JsonObject } from '../ir.ts'
import { isObject, setMember } from '../json/value.ts'

export const self: DialectId = 'anthropic-messages'

/** The private fields of this dialect; an empty object where there are none. */
export function ownFields(extra: Extra | null | undefined): JsonObject {
  return extra?.[self] ?? {}
}

/** `{ extra }` with the fields, or nothing where there are none. */
export function withExtra(fields: JsonObject): { extra?: Extra } {
  for (const _ in fields) return { extra: { [self]: fields } }
  return {}
}

/** A copy without members that are null: null counts as absent. */
export function present(body: JsonObject): JsonObject {
  const kept: JsonObject = {}
  for (const name in body) if (body[name] != null) setMember(kept, name, body[name])
  return kept
}

/** Takes `cache_control` out of a block. An undocumented duration counts as five minutes. */
export function takeCache(block: JsonObject): { cache?: CacheMark } {
  const { cache_control: mark } = block
  delete block['cache_control']
  if (!isObject(mark)) return {}
  return { cache: { ttl: mark.ttl === '1h' ? '1h' : '5m' } }
}

/** `{ cache_control }` for a mark, or nothing. A mark without a duration means five minutes. */
export function writeCache(cache: CacheMark | undefined): JsonObject {
  if (cache === undefined) return {}
  return { cache_control: { type: 'ephemeral', ...(cache.ttl === '1h' && { ttl: '1h' }) } }
}
