// Reads the address of a request.

import type { ServerSettings } from '../config/types.ts'
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
