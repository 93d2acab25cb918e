// Helpers that read JSON of unverified shape.

import type { JsonObject, JsonValue } from '../ir.ts'

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The object; an empty one for any other value. */
export function objectOf(value: JsonValue | undefined): JsonObject {
  return isObject(value) ? value : {}
}

/** The list; an empty one for any other value. */
export function listOf(value: JsonValue | undefined): JsonValue[] {
  return Array.isArray(value) ? value : []
}

/** Sets a member with a foreign name: assigning `__proto__` would replace the prototype and add no member. */
export function setMember(object: JsonObject, name: string, value: JsonValue | undefined): void {
  if (name !== '__proto__') object[name] = value
  else
    Object.defineProperty(object, name, {
      value,
      writable: true,
      enumerable: true,
      configurable: true,
    })
}

/** Merges the members of all objects; of equal names the last one counts. */
export function together(objects: readonly JsonObject[]): JsonObject {
  return Object.fromEntries(objects.flatMap((object) => Object.entries(object)))
}

/** The objects in a list; empty for any other value. */
export function objectsIn(value: JsonValue | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : []
}

/** The strings in a list; empty for any other value. */
export function stringsIn(value: JsonValue | undefined): string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : []
}

/** The string; '' for any other value. */
export function stringOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : ''
}

/** The string; null for any other value and for an empty string. */
export function text(value: JsonValue | undefined): string | null {
  return typeof value === 'string' && value !== '' ? value : null
}

/**
 * A text that contains JSON, or the JSON of any other value, which some vendors send in its place; '' for none and for
 * an empty object, which may stand before the pieces of a text.
 */
export function jsonTextOf(value: JsonValue | undefined): string {
  if (typeof value === 'string') return value
  if (value == null || (isObject(value) && Object.keys(value).length === 0)) return ''
  return JSON.stringify(value)
}

/** A whole number of at least `least`, else null. */
export function wholeNumber(value: JsonValue | undefined, least: number): number | null {
  return typeof value === 'number' && Number.isInteger(value) && value >= least ? value : null
}

/** The object that a JSON text contains; null for any other text. */
export function parsedObject(text: string): JsonObject | null {
  try {
    const value = JSON.parse(text) as JsonValue
    return isObject(value) ? value : null
  } catch (error) {
    if (error instanceof SyntaxError) return null
    throw error
  }
}
