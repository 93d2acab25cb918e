// The route that gives the console's playground a key.

import { z } from '@hono/zod-openapi'
import { playgroundKey } from '../../../admin/playground-key.ts'
import { inputs } from '../../../admin/schema.ts'
import { timeSchema } from '../parts.ts'
import { type ControlRoute, route } from '../route.ts'
import { accountOf } from './me.ts'

const made = z
  .object({
    id: z.string(),
    group: z.string(),
    key: z.string().openapi({ description: 'The secret, shown this once' }),
    expiresAt: timeSchema,
  })
  .openapi('PlaygroundKey')

export const playgroundRoutes: readonly ControlRoute[] = [
  route({
    method: 'post',
    path: '/api/playground/key',
    id: 'createPlaygroundKey',
    tag: 'Keys',
    summary: 'Get a key of my own for an hour, one for each group',
    description:
      'What it is used for stays under one id. Asked again, it has a new secret; the one before works until its own hour is over.',
    access: 'user',
    body: inputs.playgroundKey.omit({ account: true }),
    bodyOptional: true,
    reply: made,
    status: 201,
    run: async (asked) => ({
      body: await playgroundKey(asked.admin, { ...asked.body, account: accountOf(asked) }),
    }),
  }),
]
