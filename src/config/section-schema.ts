// One section of the file as JSON Schema, for the description of the control API.

import { z } from 'zod'

type Node = Readonly<Record<string, unknown>>

/** One section as programs send it: values without references, and null for a default. */
export function sectionJsonSchema(section: z.ZodType): Node {
  const { $schema: _, ...schema } = z.toJSONSchema(section, { io: 'input', reused: 'inline' })
  return described(schema) as Node
}

/** Moves defaults into the description: code generated from the schema would otherwise require callers to send them. */
function described(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(described)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map(([name, inner]) => [name, described(inner)])
  const { byDefault, fromFile: _, ...plain } = Object.fromEntries(entries)
  if (byDefault === undefined) return plain
  return { ...plain, description: `${plain.description} Default: ${JSON.stringify(byDefault)}.` }
}
