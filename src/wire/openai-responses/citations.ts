// Completes citations of web pages whose vendor leaves out members that official clients require.

import type { JsonObject, JsonValue } from '../ir.ts'
import { isObject } from '../json/value.ts'

/** The events that may carry citations. */
export const citing: ReadonlySet<string> = new Set([
  'response.output_text.annotation.added',
  'response.content_part.done',
  'response.output_item.done',
  'response.completed',
  'response.incomplete',
])

/** An empty range means none: the format cannot leave the offsets out. */
const required = { start_index: 0, end_index: 0, title: '' } as const

/** Completes all citations within the value, in its place; tells whether any lacked something. */
export function completeCitations(value: JsonValue | undefined): boolean {
  if (Array.isArray(value)) {
    let changed = false
    for (const each of value) changed = completeCitations(each) || changed
    return changed
  }
  if (!isObject(value)) return false
  if (value['type'] === 'url_citation') return completeOne(value)
  return completeCitations(Object.values(value) as JsonValue[])
}

function completeOne(citation: JsonObject): boolean {
  const missing = Object.entries(required).filter(([name]) => citation[name] == null)
  for (const [name, empty] of missing) citation[name] = empty
  return missing.length > 0
}
