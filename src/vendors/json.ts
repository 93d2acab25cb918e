// Small looks into JSON whose shape nobody has vouched for.

import type { JsonObject, JsonValue } from '../wire/ir.ts'

export function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A whole number of at least `least`, else null. */
export function wholeNumber(value: JsonValue | undefined, least: number): number | null {
  return typeof value === 'number' && Number.isInteger(value) && value >= least ? value : null
}
