// Extracts ids from the paths of URLs.

/** Stands before the paths of Azure's clients and of Groq's. */
const vendorPrefix = '/openai'

/** The path without the prefixes that clients put before it: `/v1/v1/files/x` becomes `/files/x`. */
export function belowPrefix(path: string): string {
  let rest = path.startsWith(`${vendorPrefix}/`) ? path.slice(vendorPrefix.length) : path
  while (rest.startsWith('/v1/')) rest = rest.slice(3)
  return rest
}

/** Ids contain `/`, `:` and `@`, plain or percent-encoded; invalid encodings are kept as they are. */
export function decodeId(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch (error) {
    if (error instanceof URIError) return text
    throw error
  }
}

/** The id in a path such as `/v1/responses/ID/cancel`, where `collection` is `responses`. */
export function idIn(pathname: string, collection: string): string {
  const [, rest = ''] = pathname.split(`/${collection}/`)
  return decodeId(rest.split('/')[0] ?? '')
}

/**
 * A request's path and query as a URL on a host of ours: its own is what the client wrote, which may be no host, or be
 * missing.
 */
export function pathUrlOf(url: string): URL {
  return new URL(`http://localhost${url.replace(/^https?:\/\/[^/?]*/, '')}`)
}
