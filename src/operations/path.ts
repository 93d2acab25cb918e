// Names in the paths of addresses.

/** The path without the prefixes clients put before it: `/v1/v1/files/x` gives `/files/x`. */
export function belowPrefix(path: string): string {
  let rest = path
  while (rest.startsWith('/v1/')) rest = rest.slice(3)
  return rest
}

/** Ids hold `/`, `:` and `@`, plain or percent-encoded; what is no encoding is taken as it stands. */
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
