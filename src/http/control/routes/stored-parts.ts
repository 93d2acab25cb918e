// Shared parts of the routes for channels, groups and models that are created at run time.

import { z } from '@hono/zod-openapi'
import type { ZodType } from 'zod'
import { inputs } from '../../../admin/schema.ts'
import type { Changed } from '../../../admin/stored-items.ts'
import { sectionJsonSchema } from '../../../config/section-schema.ts'
import { pageOf, timeSchema } from '../parts.ts'

/** The body schema of a configuration section: described here, checked by the use case. */
export function documentOf(name: string, section: ZodType) {
  return z.looseObject({ id: z.string() }).openapi(name, sectionJsonSchema(section) as never)
}

/** The schema of a change: every field may be left out and then keeps its value. */
export function changesOf(name: string, section: ZodType) {
  const { required: _, properties, ...schema } = sectionJsonSchema(section)
  const { id: __, keys, ...others } = properties as Readonly<Record<string, object>>
  const fields = keys === undefined ? others : { ...others, keys: knownKeys(keys) }
  return z.looseObject({}).openapi(name, { ...schema, properties: fields } as never)
}

/** In a change, an existing key may be given by its name alone. */
function knownKeys(keys: object): object {
  return JSON.parse(JSON.stringify(keys), (name, value) =>
    name === 'required' ? ['name'] : value,
  ) as object
}

export const itemParams = z.strictObject({
  id: z.string().openapi({ description: 'Id of the item; a slash in it is written `%2F`' }),
})

export const documentSchema = z.record(z.string(), z.unknown()).openapi({
  description:
    'The section of the configuration file, with every default; `***` stands for a secret',
})

export const versionsOf = pageOf(
  z
    .object({
      version: z.number().int(),
      document: documentSchema
        .nullable()
        .openapi({ description: 'The item in this version; null: it was deleted' }),
      changedAt: timeSchema,
      actor: z.string(),
    })
    .openapi('ConfigurationVersion'),
)

export const rollbackBody = inputs.rollbackItem.pick({ version: true })

/** The event detail of one change is the change itself, with its new revision; of several, their list. */
export function detailOf(changes: readonly Changed[]): object {
  const [only] = changes
  return changes.length === 1 && only !== undefined ? only : { changes }
}
