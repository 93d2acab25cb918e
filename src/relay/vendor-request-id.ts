// What a vendor calls a request: the name to give when asking it for help.

/** Vendors have no common header for it; the most usual first. */
const headers = [
  'x-request-id',
  'request-id',
  'apim-request-id',
  'x-amzn-requestid',
  'x-goog-request-id',
  'xai-request-id',
  'x-oneapi-request-id',
]
const id = /^[\x21-\x7e]{1,200}$/

/** null where the head of its reply gives no name, or none that could be one. */
export function vendorRequestId(header: (name: string) => string | null): string | null {
  for (const name of headers) {
    const found = header(name)
    if (found !== null) return id.test(found) ? found : null
  }
  return null
}
