// Answers the health checks (alive, ready) of load balancers, and the metrics for Prometheus.

import { timingSafeEqual } from 'node:crypto'
import { errorTable, GatewayError } from '../errors.ts'
import { expositionFor } from '../telemetry/exposition.ts'
import type { Reading } from '../telemetry/registry.ts'
import { jsonType, refusalBody } from './respond.ts'

/** Tollgate's own path, and the paths that other gateways use for the same. */
const livePaths = ['/healthz', '/health', '/health/liveliness', '/health/liveness'] as const
export const readyPaths: readonly string[] = ['/readyz', '/health/readiness']
export const healthPaths: readonly string[] = [...livePaths, ...readyPaths, '/metrics']

export interface Health {
  readonly version: string
  /** Each component that requests need, by name: why it is unavailable, or null. Shown to anybody. */
  components(): Readonly<Record<string, string | null>>
  /** Conditions the operator should fix, though requests are served. */
  warnings(): readonly string[]
  metrics(): readonly Reading[]
  /** The token that opens /metrics to other hosts; null: /metrics answers on the loopback address alone. */
  metricsToken(): string | null
}

const startedMs = performance.now()

export function respondHealth(
  path: string,
  request: Request,
  health: Health,
  address: string,
): Response {
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    const message = `This path takes GET, HEAD, not ${request.method}.`
    return refuse(new GatewayError('method_not_allowed', message), { allow: 'GET, HEAD' })
  }
  if (path === '/metrics') return respondMetrics(request, health, address)
  const uptimeSeconds = Math.round((performance.now() - startedMs) / 1000)
  const { version } = health
  if (!readyPaths.includes(path)) return json(200, { status: 'ok', version, uptimeSeconds })
  const parts = Object.entries(health.components())
  const missing = parts.flatMap(([, reason]) => reason ?? [])
  const components = Object.fromEntries(parts.map(([name, reason]) => [name, componentOf(reason)]))
  const isReady = missing.length === 0
  const status = isReady ? 'ok' : 'unavailable'
  const warnings = health.warnings()
  return json(isReady ? 200 : 503, {
    status,
    version,
    uptimeSeconds,
    missing,
    components,
    ...(warnings.length > 0 && { warnings }),
  })
}

function componentOf(reason: string | null) {
  return reason === null ? { status: 'ok' } : { status: 'unavailable', reason }
}

function respondMetrics(request: Request, health: Health, address: string): Response {
  if (!mayRead(request.headers, health.metricsToken(), address)) {
    return refuse(
      new GatewayError(
        'invalid_api_key',
        'Metrics are read from this machine itself, or with the token that server.metricsToken sets as a bearer token.',
      ),
      { 'www-authenticate': 'Bearer' },
    )
  }
  const { contentType, print } = expositionFor(request.headers.get('accept'))
  return new Response(print(health.metrics()), {
    headers: { 'content-type': contentType, vary: 'accept' },
  })
}

/** Headers that proxies add: a proxy on this machine speaks for others, so a forwarded request is not local. */
const forwarding = [
  'x-forwarded-for',
  'forwarded',
  'x-real-ip',
  'x-forwarded-proto',
  'via',
] as const

function mayRead(headers: Headers, token: string | null, address: string): boolean {
  const forwarded = forwarding.some((name) => headers.has(name))
  if (!forwarded && (address === '::1' || /^(::ffff:)?127\./.test(address))) return true
  const shown = headers.get('authorization')
  if (token === null || shown === null) return false
  const [expected, given] = [Buffer.from(token), Buffer.from(shown.replace(/^bearer +/i, ''))]
  return expected.length === given.length && timingSafeEqual(expected, given)
}

function refuse(error: GatewayError, headers: Readonly<Record<string, string>> = {}): Response {
  return reply(errorTable[error.code].status, refusalBody(error), headers)
}

function json(status: number, body: unknown): Response {
  return reply(status, JSON.stringify(body))
}

function reply(
  status: number,
  text: string,
  headers: Readonly<Record<string, string>> = {},
): Response {
  return new Response(text, {
    status,
    headers: { 'content-type': jsonType, 'cache-control': 'no-store', ...headers },
  })
}
