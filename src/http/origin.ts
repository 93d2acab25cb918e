// What the gateway's own addresses begin with, for the client that asks.

import type { ServerSettings } from '../config/types.ts'

/** The public address, or the host the client named; '' where it named none that makes sense. */
export function originOf(
  { url }: Pick<Request, 'url'>,
  { publicUrl }: Pick<ServerSettings, 'publicUrl'>,
): string {
  if (publicUrl !== null) return publicUrl
  return URL.canParse(url) ? new URL(url).origin : ''
}
