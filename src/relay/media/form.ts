// A form for a vendor that speaks OpenAI's format: the client's fields and files with the vendor's name of the model.

import type { Upload } from '../../vendors/media.ts'
import { type Form, multipart } from '../../vendors/multipart.ts'
import type { Dialect, Peek } from '../../wire/dialect.ts'
import type { JsonValue } from '../../wire/ir.ts'
import { parsedObject } from '../parsed.ts'

/** The client's own form, told to another: OpenAI's names for lists are `name[]`. */
export function formOf(
  dialect: Dialect,
  peek: Peek,
  uploads: readonly Upload[],
  model: string,
): Form {
  const fields: (readonly [name: string, value: string])[] = []
  for (const [name, value] of Object.entries(parsedObject(peek.body))) {
    if (name === 'model') fields.push([name, model])
    else if (Array.isArray(value) && dialect.form?.[name] === 'list')
      for (const each of value) fields.push([`${name}[]`, textOf(each)])
    else if (value !== undefined) fields.push(...texts(name, value))
  }
  const files = uploads.map((upload) => {
    const several = uploads.filter(({ field }) => field === upload.field).length > 1
    return several ? { ...upload, field: `${upload.field}[]` } : upload
  })
  return multipart(fields, files)
}

/** Members of an object one by one, as clients' own libraries send them: `name[member]`. */
function texts(name: string, value: JsonValue): (readonly [string, string])[] {
  if (value === null) return []
  if (typeof value !== 'object' || Array.isArray(value)) return [[name, textOf(value)]]
  return Object.entries(value).flatMap(([key, each]) => texts(`${name}[${key}]`, each ?? null))
}

function textOf(value: JsonValue): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}
