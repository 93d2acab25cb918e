// Names that every object has, and JSON with one of them in place of each of its texts and names in turn.

import type { JsonObject, JsonValue } from '../../src/wire/ir.ts'

export const foreignWords = ['constructor', '__proto__', 'toString'] as const

/** Copies of the value, each with one text replaced by the word: a value, or the name of a member. */
export function* withWord(value: JsonValue, word: string): Generator<JsonValue> {
  if (typeof value === 'string' && value !== word) yield word
  if (typeof value !== 'object' || value === null) return
  if (Array.isArray(value)) {
    for (const [at, each] of value.entries())
      for (const other of withWord(each, word)) yield value.with(at, other)
    return
  }
  const members = Object.entries(value)
  for (const [at, [name, member = null]] of members.entries()) {
    for (const other of withWord(member, word))
      yield Object.fromEntries(members.with(at, [name, other]))
    yield Object.fromEntries(members.with(at, [word, member]))
  }
}

/** Parts of a value that cannot come from JSON: a function, a number that is not finite, a changed prototype. */
export function strangeIn(value: unknown, path = ''): string[] {
  if (typeof value === 'function' || (typeof value === 'number' && !Number.isFinite(value)))
    return [`${path} is ${value}`]
  if (typeof value !== 'object' || value === null) return []
  const isPlain = [Object.prototype, Array.prototype].includes(Object.getPrototypeOf(value))
  const own = isPlain ? [] : [`${path} has another prototype`]
  const members = Object.entries(value as JsonObject)
  return [
    ...own,
    ...members.flatMap(([name, member]) =>
      name.includes('[native code]')
        ? [`${path} has a member ${name}`]
        : strangeIn(member, `${path}.${name}`),
    ),
  ]
}
