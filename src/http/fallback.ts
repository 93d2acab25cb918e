// Answers what no handler takes: methods that a path lacks, mistyped paths, interfaces that are not offered.

import { GatewayError } from '../errors.ts'
import type { ClientRequest } from '../operations/operation.ts'
import { endpoints, unsupportedIn, wrongMethod } from './endpoints.ts'
import type { Front } from './front.ts'
import { baseFields, turnAway } from './refuse.ts'
import type { HttpReply } from './reply.ts'
import { pathOf } from './request.ts'
import { preflight } from './respond.ts'

export interface FallbackOptions {
  /** Called for each request: a configuration reload replaces the front. */
  readonly front: () => Front
  /** The page that a browser gets at `/`. */
  readonly page: (request: Pick<ClientRequest, 'url'>) => string
}

/** Answers a browser's CORS preflight; refuses every other method. `peer`: the address at the other end. */
export function refuseMethod(
  front: Front,
  request: ClientRequest,
  allow: string,
  peer: string | null,
): HttpReply {
  const { headers, method } = request
  if (method === 'OPTIONS') {
    const asked = headers.get('access-control-request-headers')
    return preflight(headers.get('origin'), front.server.corsOrigins, asked, allow)
  }
  const caller = front.callers.of(headers, peer)
  const fields = baseFields(front, request, caller)
  return turnAway(front, request, wrongMethod(request, fields, allow), fields, { caller })
}

/** Answers a path that no route takes: the page at `/`, interfaces not offered, mistyped paths. HTML at `/` only. */
export function fallback(
  options: FallbackOptions,
  request: ClientRequest,
  peer: string | null,
): HttpReply {
  const front = options.front()
  const path = pathOf(request.url)
  if (path === '/') return root(options, front, request, peer)
  if (request.method === 'OPTIONS') return refuseMethod(front, request, 'GET, POST, OPTIONS', peer)
  const caller = front.callers.of(request.headers, peer)
  return turnAway(
    front,
    request,
    unknown(request.method, path),
    baseFields(front, request, caller),
    {
      caller,
      unrouted: true,
    },
  )
}

function unknown(method: string, path: string): GatewayError {
  const family = unsupportedIn(path)
  if (family === null) {
    const meant = withoutNeedlessSlashes(path)
    const hint = meant === null ? '' : `; did you mean ${meant}?`
    return new GatewayError('not_found', `Unknown path: ${method} ${path}${hint}`)
  }
  const message = `The interface '${family}' is not offered by this gateway.`
  return new GatewayError('unsupported_endpoint', message)
}

/** The served path that this becomes without empty parts, as a base address that ends in `/` adds them; null: none. */
function withoutNeedlessSlashes(path: string): string | null {
  const meant = path.replaceAll(/\/{2,}/g, '/').replace(/\/$/, '')
  const isServed = endpoints.some((row) =>
    row.prefixes.some((prefix) => prefix + row.path === meant),
  )
  return isServed ? meant : null
}

function root(
  { page }: FallbackOptions,
  front: Front,
  request: ClientRequest,
  peer: string | null,
): HttpReply {
  if (request.method !== 'GET' && request.method !== 'HEAD')
    return refuseMethod(front, request, 'GET, HEAD, OPTIONS', peer)
  const fields = {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy':
      "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'",
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
  }
  return { fields, body: page(request) }
}
