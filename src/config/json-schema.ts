// For tests: the file's schema as JSON Schema, against which they check `config.schema.json`.

import { z } from 'zod'
import { type FileSettings, fileSchema } from './schema.ts'

type Node = Readonly<Record<string, unknown>>

const reference: Node = { type: 'string', pattern: '\\$\\{[A-Za-z_][A-Za-z0-9_]*\\}' }

const fileReference: Node = {
  type: 'object',
  properties: { file: { type: 'string' } },
  required: ['file'],
  additionalProperties: false,
}

/** The settings of an empty file, as committed in defaults.json, so that a start without a file loads no schema. */
export function defaultSettings(): FileSettings {
  return fileSchema.parse({})
}

/** JSON Schema draft 2020-12, as committed in config.schema.json. */
export function configJsonSchema(): Node {
  const schema = z.toJSONSchema(fileSchema, {
    target: 'draft-2020-12',
    io: 'input',
    reused: 'inline',
  })
  const { $schema, ...rest } = schema
  return {
    $schema,
    title: 'Tollgate configuration',
    description: 'Any text may hold ${NAME}, which reads the environment; $${ is a literal ${.',
    ...asObject(published(rest)),
  }
}

function published(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(published)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map(([name, inner]) => [
    name,
    name === 'propertyNames' ? inner : published(inner),
  ])
  const { description, byDefault, fromFile, ...plain } = withoutNull(Object.fromEntries(entries))
  const described = {
    ...(description === undefined ? {} : { description }),
    ...(byDefault === undefined ? {} : { default: byDefault }),
  }
  const forms = [
    plain,
    ...(refusesReference(plain) ? [reference] : []),
    ...(fromFile === true ? [fileReference] : []),
  ]
  return forms.length > 1 ? { ...described, anyOf: forms } : { ...described, ...plain }
}

/**
 * Whether the type excludes a `${NAME}` reference, as a number, a boolean, a choice or a text of fixed form does; the
 * published schema must allow one there.
 */
function refusesReference({ type, pattern, minLength, enum: choices }: Node): boolean {
  if (type === 'integer' || type === 'boolean' || choices !== undefined) return true
  if (type !== 'string') return false
  return minLength !== undefined || !new RegExp(String(pattern ?? ''), 'u').test('${NAME}')
}

/** An empty key counts as left out, but the schema need not offer null. */
function withoutNull(node: Node): Node {
  if (Array.isArray(node.type)) return { ...node, type: node.type.find((name) => name !== 'null') }
  if (!Array.isArray(node.anyOf)) return node
  const options = node.anyOf.filter((option) => asObject(option).type !== 'null')
  const { anyOf, ...rest } = node
  return options.length === 1 && anyOf !== undefined
    ? { ...rest, ...asObject(options[0]) }
    : { ...rest, anyOf: options }
}

function asObject(value: unknown): Node {
  return typeof value === 'object' && value !== null ? { ...value } : {}
}
