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

/** Where a number may lose digits or its value: sixteen digits and more, or an exponent of three. */
const longNumber = /\d{16}|[eE][+-]?\d{3}/

/** Part of JavaScript since ECMAScript 2026 ("JSON.parse source text access"); not in the types yet. */
const { rawJSON } = JSON as typeof JSON & { readonly rawJSON: (text: string) => JsonValue }
type Reviver = (name: string, value: JsonValue, context?: { readonly source?: string }) => JsonValue

const keepingNumbers: Reviver = (_, value, context) => {
  const { source } = context ?? {}
  return typeof value === 'number' && source !== undefined && String(value) !== source
    ? rawJSON(source)
    : value
}

/**
 * Parses a JSON text that is only to be written again, as a part of a larger one: numbers that are not exact in
 * JavaScript, such as ids of 19 digits, are written as they were. Throws SyntaxError.
 */
export function parsedExactly(text: string): JsonValue {
  return longNumber.test(text) ? JSON.parse(text, keepingNumbers as never) : JSON.parse(text)
}

/** A whole number of at least `least`, else null. */
export function wholeNumber(value: JsonValue | undefined, least: number): number | null {
  return typeof value === 'number' && Number.isInteger(value) && value >= least ? value : null
}

/** A call's arguments, for formats that take only an object: any other text is put into one. */
export function argumentsObject(text: string): JsonObject {
  if (text.trim() === '') return {}
  try {
    const value = parsedExactly(text)
    return isObject(value) ? value : { input: text }
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    return { input: text }
  }
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
