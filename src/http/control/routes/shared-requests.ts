// Routes for links to one request: created by whoever may see the request, read by whoever has the link.

import { z } from '@hono/zod-openapi'
import { inputs } from '../../../admin/schema.ts'
import { readSharedRequest, shareRequest } from '../../../admin/shared-request.ts'
import { timeSchema } from '../parts.ts'
import { type ControlRoute, route } from '../route.ts'
import { attempt, blame, request } from './request-schemas.ts'

const tag = 'Requests'

const shared = request
  .pick({
    ...{ requestId: true, at: true, operation: true, model: true, modelServed: true },
    ...{ stream: true, status: true, errorCode: true, tokens: true, ttftMs: true },
    ...{ durationMs: true, client: true, clientVersion: true, vendorRequestId: true },
  })
  .extend({
    blame: blame.nullable(),
    attemptList: z.array(attempt).readonly(),
    expiresAt: timeSchema.openapi({ description: 'When the link expires' }),
  })
  .openapi('SharedRequest')

export const sharedRequestRoutes: readonly ControlRoute[] = [
  route({
    method: 'post',
    path: '/api/requests/{id}/share',
    id: 'shareRequest',
    tag,
    summary: 'Create a link to a finished request',
    description:
      'Whoever has the token can read how the request went, without messages, cost, account, key, group and client ' +
      'address. The link expires after `days` (7 unless given, at most 90) and cannot be revoked.',
    access: 'user',
    params: inputs.shareRequest.pick({ id: true }),
    body: inputs.shareRequest.omit({ id: true }),
    reply: z.object({ token: z.string(), expiresAt: timeSchema }),
    async run({ admin, params, body, scope, services }) {
      const input = { ...params, ...body, owner: scope.owner }
      return { body: await shareRequest(admin, services.shareBox, input) }
    },
  }),
  route({
    method: 'get',
    path: '/api/shared/requests/{token}',
    id: 'readSharedRequest',
    tag,
    summary: 'Get a request by its link',
    access: 'public',
    params: inputs.readSharedRequest,
    reply: shared,
    async run({ admin, params, services }) {
      return { body: await readSharedRequest(admin, services.shareBox, params) }
    },
  }),
]
