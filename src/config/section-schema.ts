// One section of the file as JSON Schema, for the description of the control API.

import { z } from 'zod'

type Node = Readonly<Record<string, unknown>>

/** One section, as programs send it: values stand for themselves, null for the default. */
export function sectionJsonSchema(section: z.ZodType): Node {
  const { $schema: _, ...schema } = z.toJSONSchema(section, { io: 'input', reused: 'inline' })
  return described(schema) as Node
}

/** Defaults are told in words: programs that are made from the schema would else have to give them. */
function described(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(described)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map(([name, inner]) => [name, described(inner)])
  const { byDefault, fromFile: _, ...plain } = Object.fromEntries(entries)
  if (byDefault === undefined) return plain
  return { ...plain, description: `${plain.description} Default: ${JSON.stringify(byDefault)}.` }
}
