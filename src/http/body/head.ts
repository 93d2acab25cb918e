// Bounds the head of a request, and reads what its format says there.

import { GatewayError } from '../../errors.ts'
import type { ClientDialect } from '../../wire/dialect.ts'
import type { Address } from '../../wire/request.ts'

/** The runtime takes larger heads than it can answer in JSON. Throws GatewayError `request_headers_too_large`. */
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

const none: readonly string[] = []

/** The client's headers that its format gives a meaning. */
export function headersOf(dialect: ClientDialect, headers: Headers): Pick<Address, 'headers'> {
  const { clientHeaders = none } = dialect.client
  const { stateHeaders = none } = dialect.vendor ?? {}
  if (clientHeaders.length + stateHeaders.length === 0) return {}
  const found: Record<string, string> = {}
  for (const name of [...clientHeaders, ...stateHeaders]) {
    const value = headers.get(name)
    if (value !== null) found[name] = value
  }
  return Object.keys(found).length === 0 ? {} : { headers: found }
}
