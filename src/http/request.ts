// What a request shows before anything of it is judged.

import type { ServerSettings } from '../config/types.ts'
import type { ClientRequest } from '../operations/operation.ts'

/** Of a URL that may hold nothing but a path, where the client's Host made no sense. */
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
 * What the gateway's own addresses begin with, for the client that asks: the public address, or the host the client
 * named; '' where it named none that makes sense.
 */
export function originOf(
  { url }: Pick<ClientRequest, 'url'>,
  { publicUrl }: Pick<ServerSettings, 'publicUrl'>,
): string {
  if (publicUrl !== null) return publicUrl
  return URL.canParse(url) ? new URL(url).origin : ''
}
