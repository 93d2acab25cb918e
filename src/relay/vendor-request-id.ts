// Finds the vendor's own id of a request, which its support asks for.

/** Vendors share no header for it; the most common first. */
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

/** Null where the reply's head has no id, or one that is not plausible. */
export function vendorRequestId(header: (name: string) => string | null): string | null {
  for (const name of headers) {
    const found = header(name)
    if (found !== null) return id.test(found) ? found : null
  }
  return null
}
