// Parses JSON so that numbers which JavaScript would change are written again as they were.

import type { JsonObject, JsonValue } from '../ir.ts'
import { isObject } from './value.ts'

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

/** The object that a JSON text contains, to be written again; null for any other text. */
export function objectExactly(text: string): JsonObject | null {
  try {
    const value = parsedExactly(text)
    return isObject(value) ? value : null
  } catch (error) {
    if (error instanceof SyntaxError) return null
    throw error
  }
}

/** A call's arguments, for formats that take only an object: any other text is put into one. */
export function argumentsObject(text: string): JsonObject {
  return text.trim() === '' ? {} : (objectExactly(text) ?? { input: text })
}

/** Members that have a call's arguments, or a tool's answer, as an object: only these are written again as they are. */
const written: ReadonlySet<string> = new Set(['input', 'args', 'arguments', 'functionResponse'])

/**
 * Parses a request or a reply whose calls' arguments may be objects: in these numbers are written again as they were,
 * everywhere else they are numbers. Throws SyntaxError.
 */
export function parsedWithCalls(text: string): JsonValue {
  const value = JSON.parse(text) as JsonValue
  if (hasLargeNumber(value)) exchangeCalls(value, JSON.parse(text, keepingNumbers as never))
  return value
}

/** Whether a number is beyond those that JavaScript has exactly. */
function hasLargeNumber(root: JsonValue): boolean {
  const open: (JsonValue | undefined)[] = [root]
  while (open.length > 0) {
    const value = open.pop()
    if (typeof value === 'number') {
      if (Math.abs(value) > Number.MAX_SAFE_INTEGER) return true
    } else if (Array.isArray(value)) for (const each of value) open.push(each)
    else if (isObject(value)) for (const name in value) open.push(value[name])
  }
  return false
}

/** Puts the calls' arguments of `exact`, which is the same document, into `root`. */
function exchangeCalls(root: JsonValue, exact: JsonValue): void {
  const open: [JsonValue | undefined, JsonValue | undefined][] = [[root, exact]]
  for (let pair = open.pop(); pair !== undefined; pair = open.pop()) {
    const [value, same] = pair as [JsonObject, JsonObject]
    if (typeof value !== 'object' || value === null) continue
    for (const name of Object.keys(value)) {
      const isWritten = written.has(name) && isObject(value[name])
      if (isWritten && same[name] !== undefined) value[name] = same[name]
      else open.push([value[name], same[name]])
    }
  }
}
