// What is answered outside of a handler: other methods, mistyped paths, interfaces not offered.

import { GatewayError } from '../errors.ts'
import type { Dialects } from '../wire/dialect.ts'
import { unsupportedIn } from './endpoints.ts'
import type { FrontRooms } from './front-rooms.ts'
import { baseFields, pathOf, refuse, shapeFor } from './refuse.ts'
import { preflight } from './respond.ts'

export interface FallbackOptions {
  /** Read anew for each request: a reload replaces them. */
  readonly rooms: () => FrontRooms
  readonly dialects: Dialects
  /** What a browser sees at `/`. */
  readonly page: () => string
}

export function wrongMethod(options: FallbackOptions, request: Request, allow: string): Response {
  const rooms = options.rooms()
  if (request.method === 'OPTIONS') {
    const { headers } = request
    const asked = headers.get('access-control-request-headers')
    return preflight(headers.get('origin'), rooms.server.corsOrigins, asked, allow)
  }
  const fields = { ...baseFields(rooms, request), allow }
  return refuse(
    new GatewayError('method_not_allowed', `This path takes ${allow}, not ${request.method}.`),
    fields,
    shapeFor(options, request),
  )
}

/** What no route took: the page at `/`, interfaces not offered, mistyped paths. Never HTML but at `/`. */
export function fallback(options: FallbackOptions, request: Request): Response {
  const rooms = options.rooms()
  const path = pathOf(request.url)
  if (path === '/') return root(options, request)
  const fields = baseFields(rooms, request)
  const shape = shapeFor(options, request)
  if (request.method === 'OPTIONS') return wrongMethod(options, request, 'GET, POST, OPTIONS')
  const family = unsupportedIn(path)
  if (family !== null) {
    const message = `The interface '${family}' is not offered by this gateway.`
    return refuse(new GatewayError('unsupported_endpoint', message), fields, shape)
  }
  return refuse(
    new GatewayError('not_found', `Unknown path: ${request.method} ${path}`),
    fields,
    shape,
  )
}

function root(options: FallbackOptions, request: Request): Response {
  if (request.method !== 'GET' && request.method !== 'HEAD')
    return wrongMethod(options, request, 'GET, HEAD, OPTIONS')
  return new Response(options.page(), {
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy':
        "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'",
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
    },
  })
}
