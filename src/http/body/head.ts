// Bounds the head of a request: the runtime takes larger ones than it can answer in JSON.

import { GatewayError } from '../../errors.ts'

/** Throws GatewayError `request_headers_too_large`. */
export function checkHeaderBytes(headers: Headers, maxBytes: number): void {
  // A name, a colon, a blank and a line end: about this much beside each value.
  let bytes = 0
  for (const value of headers.values()) bytes += value.length + 24
  if (bytes <= maxBytes) return
  throw new GatewayError(
    'request_headers_too_large',
    `The request headers are larger than ${maxBytes} bytes.`,
  )
}

/**
 * The runtime joins repeated headers by a comma, which no name of a host holds. Of two hosts each reader may take
 * another, so that such a request is refused (RFC 9112, 3.2).
 */
export function hasTwoHosts(headers: Headers): boolean {
  return headers.get('host')?.includes(',') === true
}
