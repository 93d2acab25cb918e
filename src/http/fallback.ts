// What is answered outside of a handler: other methods, mistyped paths, interfaces not offered.

import { GatewayError } from '../errors.ts'
import { unsupportedIn, wrongMethod } from './endpoints.ts'
import type { Front } from './front.ts'
import { baseFields, refuse, shapeFor } from './refuse.ts'
import { pathOf } from './request.ts'
import { preflight } from './respond.ts'

export interface FallbackOptions {
  /** Read anew for each request: a reload replaces it. */
  readonly front: () => Front
  /** What a browser sees at `/`. */
  readonly page: () => string
}

/** Answers a browser's preflight; refuses any other. */
export function refuseMethod(front: Front, request: Request, allow: string): Response {
  const { headers, method } = request
  if (method === 'OPTIONS') {
    const asked = headers.get('access-control-request-headers')
    return preflight(headers.get('origin'), front.server.corsOrigins, asked, allow)
  }
  const fields = baseFields(front, request)
  return refuse(wrongMethod(request, fields, allow), fields, shapeFor(front, request))
}

/** What no route took: the page at `/`, interfaces not offered, mistyped paths. Never HTML but at `/`. */
export function fallback(options: FallbackOptions, request: Request): Response {
  const front = options.front()
  const path = pathOf(request.url)
  if (path === '/') return root(options, front, request)
  const fields = baseFields(front, request)
  const shape = shapeFor(front, request)
  if (request.method === 'OPTIONS') return refuseMethod(front, request, 'GET, POST, OPTIONS')
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

function root({ page }: FallbackOptions, front: Front, request: Request): Response {
  if (request.method !== 'GET' && request.method !== 'HEAD')
    return refuseMethod(front, request, 'GET, HEAD, OPTIONS')
  return new Response(page(), {
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy':
        "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'",
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
    },
  })
}
