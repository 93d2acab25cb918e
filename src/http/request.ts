// Reads the address of a request.

import type { ServerSettings } from '../config/types.ts'
import { GatewayError, invalidRequest } from '../errors.ts'
import type { ClientRequest } from '../operations/operation.ts'

/** The path of a URL, which may be a bare path where the client's Host header is malformed. */
export function pathOf(url: string): string {
  const scheme = url.indexOf('://')
  const start = scheme === -1 ? 0 : url.indexOf('/', scheme + 3)
  const path = url.slice(start).split('?', 1)[0] ?? '/'
  return path === '' ? '/' : path
}

export function asksSocket({ headers }: ClientRequest): boolean {
  return headers.get('upgrade')?.toLowerCase() === 'websocket'
}

/** The version of the protocol, as RFC 6455 numbers it. */
export const socketVersion = '13'

/**
 * Why a request for a WebSocket cannot become one, by RFC 6455, section 4.2.1; null: it can, or has no fields of a
 * handshake, and is refused later, for what else is wrong first.
 */
export function socketRefusal({ headers }: ClientRequest): GatewayError | null {
  if (!headers.has('sec-websocket-version') && !headers.has('sec-websocket-key')) return null
  if (headers.get('sec-websocket-version') !== socketVersion) {
    const message = `sec-websocket-version must be ${socketVersion}`
    return new GatewayError('upgrade_required', message, { param: 'sec-websocket-version' })
  }
  if (!/(^|,)\s*upgrade\s*(,|$)/i.test(headers.get('connection') ?? ''))
    return invalidRequest('connection must be Upgrade, as of a WebSocket handshake', 'connection')
  if (/^[A-Za-z0-9+/]{22}==$/.test(headers.get('sec-websocket-key') ?? '')) return null
  return invalidRequest('sec-websocket-key must be 16 bytes in base64', 'sec-websocket-key')
}

/**
 * The origin of addresses that the gateway gives this client: the configured public URL, or the host the client named;
 * '' where its Host header is malformed.
 */
export function originOf(
  { url }: Pick<ClientRequest, 'url'>,
  { publicUrl }: Pick<ServerSettings, 'publicUrl'>,
): string {
  if (publicUrl !== null) return publicUrl
  return URL.canParse(url) ? new URL(url).origin : ''
}
