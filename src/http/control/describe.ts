// Describes a route for the OpenAPI document.

import type { OpenAPIHono } from '@hono/zod-openapi'
import { isUnsafe } from './access.ts'
import { problemSchema, problemType } from './problem.ts'
import type { ControlRoute } from './route.ts'

type Registry = OpenAPIHono['openAPIRegistry']

const security = [{ session: [] }, { managementKey: [] }]

export function describe(registry: Registry, route: ControlRoute): void {
  const { access, params, query, body } = route
  registry.registerPath({
    method: route.method,
    path: route.path,
    operationId: route.id,
    tags: [route.tag],
    summary: route.summary,
    ...(route.description !== undefined && { description: route.description }),
    security: access === 'public' ? [] : access === 'session' ? security.slice(0, 1) : security,
    request: {
      ...(params !== undefined && { params: params as never }),
      ...(query !== undefined && { query: query as never }),
      ...(body !== undefined && {
        body: {
          required: route.bodyOptional !== true,
          content: { 'application/json': { schema: body } },
        },
      }),
    },
    responses: { ...success(route), ...failures(route) },
  })
}

/** How callers authenticate, for the OpenAPI document. */
export const securitySchemes = {
  session: {
    type: 'apiKey',
    in: 'cookie',
    name: '__Host-tollgate',
    description: 'The session of a person who signed in',
  },
  managementKey: {
    type: 'http',
    scheme: 'bearer',
    description: 'A management key (sk-tgm-...)',
  },
} as const

function success({ reply, produces, status }: ControlRoute) {
  if (produces !== undefined) {
    const content = Object.fromEntries(
      produces.map((type) => [
        type,
        { schema: /[/+]json$/.test(type) ? {} : { type: 'string' as const } },
      ]),
    )
    const json = reply === undefined ? {} : { 'application/json': { schema: reply } }
    return { [status ?? 200]: { description: 'Done', content: { ...json, ...content } } }
  }
  if (reply === undefined) return { [status ?? 204]: { description: 'Done' } }
  return {
    [status ?? 200]: {
      description: 'Done',
      content: { 'application/json': { schema: reply } },
    },
  }
}

function failures(route: ControlRoute) {
  const refusals: Record<number, string> = {
    400: 'The request is not valid; `field` names what is wrong',
    404: 'There is no such thing, or it is not yours',
    405: 'Not with this method',
    412: 'What is there is newer than If-Match says',
    500: 'The gateway failed',
    503: 'The store cannot be reached now; try again after `retry-after` seconds',
    ...(route.access !== 'public' && {
      401: 'Nobody is signed in, and no valid management key was given',
    }),
    // Public routes answer this too, for a key that calls models.
    403: 'This caller may not do it',
    // Reads may conflict too, such as those that ask a payment provider or vendor which refuses.
    409: 'In conflict with what is there',
    ...(isUnsafe(route.method) && { 413: 'The body is too large' }),
    ...(route.body !== undefined && { 415: 'The body is not JSON' }),
    ...(route.method === 'post' && { 422: 'The Idempotency-Key was used for another request' }),
    ...route.statuses,
  }
  if (route.access === 'public') refusals[401] = 'The key that was given is not valid'
  return Object.fromEntries(
    Object.entries(refusals).map(([status, description]) => [
      status,
      { description, content: { [problemType]: { schema: problemSchema } } },
    ]),
  )
}
