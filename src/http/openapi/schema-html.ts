// Renders a JSON Schema as HTML: its type in words, and a table of its members.

import { escapeHtml } from '../html.ts'

export type Json = null | boolean | number | string | readonly Json[] | JsonObject
export interface JsonObject {
  readonly [name: string]: Json | undefined
}

export function objectOf(value: Json | undefined): JsonObject {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
  return isObject ? (value as JsonObject) : {}
}

export function listOf(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : []
}

/** Renders a description, with code between backticks as in Markdown. */
export function prose(text: Json | undefined): string {
  if (typeof text !== 'string') return ''
  return escapeHtml(text).replace(/`([^`]+)`/g, '<code>$1</code>')
}

/** A short text for the type: `integer, 1 to 128`, `list of ChatMessage`. */
export function typeHtml(value: Json | undefined): string {
  const schema = objectOf(value)
  const { $ref: reference, const: only, enum: words, type, items } = schema
  if (typeof reference === 'string') {
    const name = escapeHtml(reference.slice(reference.lastIndexOf('/') + 1))
    return `<a href="#schema-${name}">${name}</a>`
  }
  const any = listOf(schema['anyOf'] ?? schema['oneOf'])
  if (any.length > 0) return any.map(typeHtml).join(' or ')
  const all = listOf(schema['allOf'])
  if (all.length > 0) return all.map(typeHtml).join(' and ')
  if (only !== undefined) return code(only)
  if (Array.isArray(words)) return words.map(code).join(' or ')
  const types = Array.isArray(type) ? type : [type ?? 'any']
  const named = types.map((one) =>
    one === 'array' && items !== undefined ? `list of ${typeHtml(items)}` : escapeHtml(String(one)),
  )
  return named.join(' or ') + boundsOf(schema)
}

function code(value: Json): string {
  return `<code>${escapeHtml(JSON.stringify(value))}</code>`
}

const bounds: readonly (readonly [name: string, word: string])[] = [
  ['format', ''],
  ['minimum', 'at least '],
  ['exclusiveMinimum', 'above '],
  ['maximum', 'at most '],
  ['minLength', 'minimum length '],
  ['maxLength', 'maximum length '],
  ['minItems', 'minimum items '],
  ['maxItems', 'maximum items '],
  ['pattern', 'matches '],
  ['default', 'default '],
]

function boundsOf(schema: JsonObject): string {
  const said = bounds.flatMap(([name, word]) => {
    const bound = schema[name]
    if (bound === undefined) return []
    return [
      `, ${word}<code>${escapeHtml(typeof bound === 'string' ? bound : JSON.stringify(bound))}</code>`,
    ]
  })
  return said.join('')
}

/** A table of an object's members, nested members included; '' where there are none. */
export function membersHtml(value: Json | undefined): string {
  const schema = objectOf(value)
  const { items, anyOf, oneOf, allOf } = schema
  const inside = [anyOf, oneOf, allOf].flatMap(listOf)
  const required = listOf(schema['required'])
  const rows = Object.entries(objectOf(schema['properties'])).map(([name, member]) =>
    rowHtml(name, member, required.includes(name)),
  )
  const own = rows.length === 0 ? '' : `<table>${rows.join('')}</table>`
  return own + [...(items === undefined ? [] : [items]), ...inside].map(choiceHtml).join('')
}

function choiceHtml(value: Json | undefined): string {
  const members = membersHtml(value)
  const { description } = objectOf(value)
  return members === '' ? '' : `<div class="choice"><p>${prose(description)}</p>${members}</div>`
}

/** A table row for one member, parameter or header. `required`: it must be present. */
export function rowHtml(name: string, value: Json | undefined, required: boolean): string {
  const { description } = objectOf(value)
  const mark = required ? ' <strong>required</strong>' : ''
  return `<tr><th scope="row"><code>${escapeHtml(name)}</code>${mark}</th><td><span class="type">${typeHtml(value)}</span> ${prose(description)}${membersHtml(value)}</td></tr>`
}
