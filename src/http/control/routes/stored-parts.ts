// What the routes of channels, groups and models made at run time have in common.

import { z } from '@hono/zod-openapi'
import type { ZodType } from 'zod'
import { inputs } from '../../../admin/schema.ts'
import type { Changed } from '../../../admin/stored-items.ts'
import { sectionJsonSchema } from '../../../config/section-schema.ts'
import { pageOf, timeSchema } from '../parts.ts'

/** A section of the file as it is sent: judged by the use case, described here. */
export function documentOf(name: string, section: ZodType) {
  return z.looseObject({ id: z.string() }).openapi(name, sectionJsonSchema(section) as never)
}

/** Every field may be left out, and stays then. */
export function changesOf(name: string, section: ZodType) {
  const { required: _, properties, ...schema } = sectionJsonSchema(section)
  const { id: __, keys, ...others } = properties as Readonly<Record<string, object>>
  const fields = keys === undefined ? others : { ...others, keys: knownKeys(keys) }
  return z.looseObject({}).openapi(name, { ...schema, properties: fields } as never)
}

/** A key that is there already is named alone. */
function knownKeys(keys: object): object {
  return JSON.parse(JSON.stringify(keys), (name, value) =>
    name === 'required' ? ['name'] : value,
  ) as object
}

export const itemParams = z.strictObject({
  id: z.string().openapi({ description: 'A slash in it is written %2F' }),
})

export const documentSchema = z
  .record(z.string(), z.unknown())
  .openapi({ description: 'As the configuration file would have it; *** stands for a secret' })

export const versionsOf = pageOf(
  z
    .object({
      version: z.number().int(),
      document: documentSchema.nullable().openapi({ description: 'null: it was removed' }),
      changedAt: timeSchema,
      actor: z.string(),
    })
    .openapi('ConfigurationVersion'),
)

export const rollbackBody = inputs.rollbackItem.pick({ version: true })

/** Of one change: its revision is the new one's. */
export function detailOf(changes: readonly Changed[]): object {
  const [only] = changes
  return changes.length === 1 && only !== undefined ? only : { changes }
}
