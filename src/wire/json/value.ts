// Small looks into JSON whose shape nobody has vouched for.

import type { JsonObject, JsonValue } from '../ir.ts'

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Empty where it is none. */
export function objectOf(value: JsonValue | undefined): JsonObject {
  return isObject(value) ? value : {}
}

/** Empty where it is none. */
export function listOf(value: JsonValue | undefined): JsonValue[] {
  return Array.isArray(value) ? value : []
}

/** Sets a member of a foreign name: one called `__proto__`, if assigned, would become the prototype, and read as members. */
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

/** The members of all; of those with one name the last. */
export function together(objects: readonly JsonObject[]): JsonObject {
  return Object.fromEntries(objects.flatMap((object) => Object.entries(object)))
}

/** What a list holds of objects. */
export function objectsIn(value: JsonValue | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : []
}

/** What a list holds of texts. */
export function stringsIn(value: JsonValue | undefined): string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : []
}

/** Empty where it is none. */
export function stringOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : ''
}

/** null where it is none, or empty. */
export function text(value: JsonValue | undefined): string | null {
  return typeof value === 'string' && value !== '' ? value : null
}

/** A whole number of at least `least`, else null. */
export function wholeNumber(value: JsonValue | undefined, least: number): number | null {
  return typeof value === 'number' && Number.isInteger(value) && value >= least ? value : null
}
