// Describes a route for the OpenAPI document.

import type { OpenAPIHono } from '@hono/zod-openapi'
import { type Access, isUnsafe } from './access.ts'
import { problemSchema, problemType } from './problem.ts'
import type { ControlRoute } from './route.ts'

type Registry = OpenAPIHono['openAPIRegistry']

const security = [{ session: [] }, { managementKey: [] }]

/** Who may call a route, where its description must say so. */
const callers: Readonly<Record<Access, string>> = {
  public: '',
  session: 'Callers: signed-in people, for their own account; management keys are refused.',
  user: '',
  auditor: 'Callers: auditors, admins, and management keys that are bound to no account.',
  admin: 'Callers: admins, and management keys that are bound to no account.',
}

export function describe(registry: Registry, route: ControlRoute): void {
  const { access, params, query, body } = route
  const description = [route.description ?? '', callers[access]].join(' ').trim()
  registry.registerPath({
    method: route.method,
    path: route.path,
    operationId: route.id,
    tags: [route.tag],
    summary: route.summary,
    ...(description !== '' && { description }),
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
      ...(route.consumes !== undefined && {
        body: { required: true, content: contentOf(route.consumes) },
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
    description: 'Session of a signed-in person',
  },
  managementKey: {
    type: 'http',
    scheme: 'bearer',
    description: 'Management key (`sk-tgm-...`), sent as a bearer token',
  },
} as const

function success({ reply, produces, status }: ControlRoute) {
  if (produces !== undefined) {
    const content = contentOf(produces)
    const json = reply === undefined ? {} : { 'application/json': { schema: reply } }
    return { [status ?? 200]: { description: 'Success', content: { ...json, ...content } } }
  }
  if (reply === undefined) return { [status ?? 204]: { description: 'Success' } }
  return {
    [status ?? 200]: {
      description: 'Success',
      content: { 'application/json': { schema: reply } },
    },
  }
}

/** Bodies of these media types, of which the document says no more. */
function contentOf(types: readonly string[]) {
  return Object.fromEntries(
    types.map((type) => [
      type,
      { schema: /[/+]json$/.test(type) ? {} : { type: 'string' as const } },
    ]),
  )
}

function failures(route: ControlRoute) {
  const refusals: Record<number, string> = {
    400: 'The request is not valid; `field` names the field at fault',
    404: 'The object does not exist, or it is another account’s',
    405: 'The path does not support this method; the header `allow` names those it supports',
    412: 'The object was changed since the revision in If-Match',
    500: 'The gateway failed; its log has the cause under `requestId`',
    503: 'The store cannot be reached; try again after `retry-after` seconds',
    ...(route.access !== 'public' && {
      401: 'The caller is not signed in and sent no valid management key',
    }),
    // Public routes answer this too, for a key that calls models.
    403: 'The caller’s role or scopes do not allow it, or another site’s page sent the request',
    // Reads may conflict too, such as those that ask a payment provider or vendor which refuses.
    409: 'The current state does not allow it; `detail` says why',
    ...(isUnsafe(route.method) && { 413: 'The body is too large' }),
    ...(route.body !== undefined && { 415: 'The body is not JSON' }),
    ...(route.method === 'post' && {
      422: 'The Idempotency-Key was used for another request within the last day',
    }),
    ...route.statuses,
  }
  if (route.access === 'public') refusals[401] = 'The key in the request is not valid'
  return Object.fromEntries(
    Object.entries(refusals).map(([status, description]) => [
      status,
      {
        description,
        content: {
          ...(status === '400' && contentOf(route.refuses ?? [])),
          [problemType]: { schema: problemSchema },
        },
      },
    ]),
  )
}
