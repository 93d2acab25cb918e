// Builds a form for a vendor that speaks OpenAI's format: the client's fields and files, with the vendor's model name.

import { parsedObject } from '../../relay/parsed.ts'
import type { Upload } from '../../vendors/media.ts'
import { type Form, type FormField, multipart } from '../../vendors/multipart.ts'
import type { ClientDialect } from '../../wire/dialect.ts'
import type { JsonValue } from '../../wire/ir.ts'

/** Rebuilds the client's form; lists are named `name[]`, as OpenAI does. */
export function formOf(
  dialect: ClientDialect,
  body: Uint8Array,
  uploads: readonly Upload[],
  model: string,
): Form {
  const fields: FormField[] = []
  for (const [name, value] of Object.entries(parsedObject(body))) {
    const kind = Object.hasOwn(dialect.client.form ?? {}, name)
      ? dialect.client.form?.[name]
      : undefined
    if (name === 'model') fields.push([name, model])
    else if (Array.isArray(value) && (kind === 'list' || name.endsWith('[]')))
      for (const each of value) fields.push([kind === 'list' ? `${name}[]` : name, textOf(each)])
    else fields.push(...membersOf(name, value))
  }
  const files = uploads.map((upload) => {
    const several = uploads.filter(({ field }) => field === upload.field).length > 1
    return several ? { ...upload, field: `${upload.field}[]` } : upload
  })
  return multipart(fields, files)
}

/** Writes objects as OpenAI's clients do: `chunking_strategy[type]`. */
function membersOf(name: string, value: JsonValue | undefined): FormField[] {
  if (value === null || value === undefined) return []
  if (typeof value !== 'object') return [[name, textOf(value)]]
  if (Array.isArray(value)) return value.flatMap((each) => membersOf(`${name}[]`, each))
  return Object.entries(value).flatMap(([key, each]) => membersOf(`${name}[${key}]`, each))
}

function textOf(value: JsonValue): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}
