// The route that gives the console's playground a key.

import { z } from '@hono/zod-openapi'
import { playgroundKey } from '../../../admin/playground-key.ts'
import { inputs } from '../../../admin/schema.ts'
import { timeSchema } from '../parts.ts'
import { type ControlRoute, route } from '../route.ts'
import { newKeyLimit, secretsPace } from './key-pace.ts'
import { accountOf } from './me.ts'

const made = z
  .object({
    id: z.string(),
    group: z.string(),
    key: z.string().openapi({ description: 'Secret of the key, shown in this reply only' }),
    expiresAt: timeSchema,
  })
  .openapi('PlaygroundKey')

export const playgroundRoutes: readonly ControlRoute[] = [
  route({
    method: 'post',
    path: '/api/playground/key',
    id: 'createPlaygroundKey',
    tag: 'Keys',
    summary: 'Get a key for the playground, valid for an hour',
    description:
      'There is one such key for each account and group, and its usage stays under one id. A repeated request ' +
      'creates a new secret; the previous secret works until its own hour is over. Without `group`, the group is ' +
      '`default`, or else the first that the account may use. Refused with 409 if the key is disabled.',
    access: 'user',
    body: inputs.playgroundKey.omit({ account: true }),
    bodyOptional: true,
    reply: made,
    status: 201,
    statuses: { 429: secretsPace.message },
    async run(asked) {
      const account = accountOf(asked)
      const most = await newKeyLimit(asked.scope, asked.services)
      return { body: await playgroundKey(asked.admin, { ...asked.body, account }, most) }
    },
  }),
]
