// The operations of an OpenAPI document by tag, as its page and its list for language models show them.

import { type JsonObject, listOf, objectOf } from './schema-html.ts'

export interface Entry {
  readonly id: string
  readonly method: string
  readonly path: string
  readonly operation: JsonObject
}

interface Section {
  readonly tag: string
  readonly entries: readonly Entry[]
}

/** In the document's order. Throws where an operation has no tag. */
export function sectionsOf(document: JsonObject): Section[] {
  const entries = Object.entries(objectOf(document['paths'])).flatMap(([path, item]) =>
    Object.entries(objectOf(item)).map(([method, value]) => {
      const operation = objectOf(value)
      return { id: `operation-${String(operation['operationId'])}`, method, path, operation }
    }),
  )
  return [...new Set(entries.map(({ operation }) => tagOf(operation)))].map((tag) => ({
    tag,
    entries: entries.filter(({ operation }) => tagOf(operation) === tag),
  }))
}

function tagOf({ tags, operationId }: JsonObject): string {
  const [tag] = listOf(tags)
  if (typeof tag === 'string') return tag
  throw new Error(`the operation ${String(operationId)} has no tag`)
}
