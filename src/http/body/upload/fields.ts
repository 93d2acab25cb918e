// Collects the text fields of a form into one JSON object, with the types that its format gives them.

import { invalidRequest } from '../../../errors.ts'
import type { JsonObject, JsonValue } from '../../../wire/ir.ts'
import { JsonSyntaxError, parseSpan, skipSpace, valueEnd } from '../../../wire/json/scan.ts'
import type { FormFields } from '../../../wire/request.ts'

type Kind = FormFields[string]

/** `a[b][c]`: how client libraries write nested objects in a form. */
const nested = /^([^[\]]+)((?:\[[^[\]]*\])+)$/
const maxDepth = 8

/** The members of an object or a list whose parts arrive as separate fields. */
type Branch = Map<string, JsonValue | Branch>

export class FieldTexts {
  private readonly fields: FormFields
  private readonly found: Branch = new Map()

  constructor(fields: FormFields) {
    this.fields = fields
  }

  kindOf(field: string): Kind | null {
    return Object.hasOwn(this.fields, field) ? (this.fields[field] ?? null) : null
  }

  /** The field that `name[]`, `name[0]` or `name[part]` belongs to, where its format has such a list or object. */
  baseOf(name: string): string {
    const [, base = '', path = ''] = nested.exec(name) ?? []
    const kind = this.kindOf(base)
    if (kind === 'json') return base
    const isList = kind === 'list' || kind === 'files' || kind === 'file'
    return isList && /^\[\d*\]$/.test(path) ? base : name
  }

  /** Throws GatewayError naming the field. */
  add(name: string, text: string): void {
    const field = this.baseOf(name)
    const kind = this.kindOf(field)
    const [, base = ''] = nested.exec(field) ?? []
    if (isSingle(this.kindOf(base))) throw invalidRequest(`${base} must be one value`, base)
    if (kind === 'list' || (kind === null && name.endsWith('[]'))) {
      const list = this.found.get(field) ?? []
      this.found.set(field, [...(list as JsonValue[]), text])
    } else if (field !== name) this.addInside(field, name, text)
    else if (this.found.has(field)) throw twice(field)
    else this.found.set(field, typed(field, text, kind))
  }

  object(): JsonObject {
    // `fromEntries`, since assigning to a field named `__proto__` would change the prototype.
    return Object.fromEntries([...this.found].map(([name, value]) => [name, whole(value)]))
  }

  private addInside(field: string, name: string, text: string): void {
    const path = [...name.slice(field.length).matchAll(/\[([^[\]]*)\]/g)].map(([, key = '']) => key)
    if (path.length > maxDepth) throw invalidRequest(`${field} is nested too deep`, field)
    let branch = branchOf(this.found, field, field)
    for (const [at, given] of path.entries()) {
      const key = given === '' ? String(branch.size) : given
      if (at < path.length - 1) branch = branchOf(branch, key, field)
      else if (branch.has(key)) throw twice(name)
      else branch.set(key, plain(text))
    }
  }
}

function isSingle(kind: Kind | null): boolean {
  return kind === 'text' || kind === 'number' || kind === 'boolean'
}

function twice(name: string) {
  return invalidRequest(`${name} may be given only once`, name)
}

function branchOf(parent: Branch, key: string, field: string): Branch {
  const found = parent.get(key) ?? new Map()
  if (!(found instanceof Map)) throw twice(field)
  parent.set(key, found)
  return found
}

/** Members whose keys count up from 0 make a list, others an object. */
function whole(value: JsonValue | Branch): JsonValue {
  if (!(value instanceof Map)) return value
  const members = [...value].map(([key, each]): [string, JsonValue] => [key, whole(each)])
  if (members.every(([key], at) => key === String(at))) return members.map(([, each]) => each)
  return Object.fromEntries(members)
}

function typed(field: string, text: string, kind: Kind | null): JsonValue {
  switch (kind) {
    case 'number':
      return numberOf(field, text)
    case 'boolean':
      if (/^(true|false)$/i.test(text)) return text.toLowerCase() === 'true'
      throw invalidRequest(`${field} must be true or false`, field)
    case 'json':
      return jsonOf(field, text)
    default:
      return text
  }
}

const numberPattern = /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/

function numberOf(field: string, text: string): number {
  const value = numberPattern.test(text) ? Number(text) : Number.NaN
  if (Number.isFinite(value)) return value
  throw invalidRequest(`${field} must be a number`, field)
}

const encoder = new TextEncoder()

/**
 * Words such as `auto` are accepted without quotes. The depth is checked before the value is made: writing a value of
 * 30,000 levels takes the runtime half a second.
 */
function jsonOf(field: string, text: string): JsonValue {
  if (!/^\s*[{["]/.test(text)) return plain(text)
  const bytes = encoder.encode(text)
  try {
    valueEnd(bytes, skipSpace(bytes, 0))
    return parseSpan(bytes, 0, bytes.length) as JsonValue
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error
    throw invalidRequest(`${field} is not valid JSON: ${error.message}`, field)
  }
}

/** A value without quotes: a boolean, null, a number, or else text. */
function plain(text: string): JsonValue {
  if (text === 'true' || text === 'false') return text === 'true'
  if (text === 'null') return null
  const value = numberPattern.test(text) ? Number(text) : Number.NaN
  return Number.isFinite(value) ? value : text
}
