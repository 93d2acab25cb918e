// Bounds the size of a request's head, and reads the headers that the client's format gives a meaning.

import { GatewayError, invalidRequest } from '../../errors.ts'
import type { RequestHeaders } from '../../identity/request-headers.ts'
import type { ClientDialect } from '../../wire/dialect.ts'
import type { Address } from '../../wire/request.ts'

/**
 * Checked here because the runtime accepts larger heads but refuses too large ones without JSON. Throws GatewayError
 * `request_headers_too_large`.
 */
export function checkHeaderBytes(headers: RequestHeaders, maxBytes: number): void {
  if ((headers.headBytes ?? estimatedBytes(headers)) <= maxBytes) return
  throw new GatewayError(
    'request_headers_too_large',
    `The request headers are larger than ${maxBytes} bytes.`,
  )
}

/** Estimates each name, colon, blank and line end as 24 bytes. */
function estimatedBytes(headers: RequestHeaders): number {
  let bytes = 0
  for (const value of headers.values()) bytes += value.length + 24
  return bytes
}

/**
 * The runtime joins repeated headers by a comma, which no host name holds. With two hosts each reader may choose
 * another one, so such a request must be refused (RFC 9112, section 3.2).
 */
export function hasTwoHosts(headers: RequestHeaders): boolean {
  return headers.get('host')?.includes(',') === true
}

const none: readonly string[] = []

/** The client's headers that its format gives a meaning; null where the format has no such headers. */
export function headersOf(
  dialect: ClientDialect,
  headers: RequestHeaders,
): Pick<Address, 'headers'> | null {
  const { clientHeaders = none } = dialect.client
  const { stateHeaders = none } = dialect.vendor ?? {}
  if (clientHeaders.length + stateHeaders.length === 0) return null
  const found: Record<string, string> = {}
  for (const name of [...clientHeaders, ...stateHeaders]) {
    const value = headers.get(name)
    if (value !== null) found[name] = value
  }
  return Object.keys(found).length === 0 ? null : { headers: found }
}

/** The boundary that a form's content type names; null where it is no form. Throws GatewayError for a malformed one. */
export function boundaryOf(contentType: string | null): string | null {
  if (contentType === null || !/^\s*multipart\/form-data\s*(;|$)/i.test(contentType)) return null
  const found = /;\s*boundary\s*=\s*(?:"([^"]*)"|([^\s;"]+))/i.exec(contentType)
  const boundary = found?.[1] ?? found?.[2]
  if (boundary === undefined)
    throw invalidRequest('The content-type of a form must name its boundary.', null)
  // RFC 2046, section 5.1.1: these characters, at most 70, and no blank at the end.
  if (!/^[0-9A-Za-z'()+_,\-./:=? ]{0,69}[0-9A-Za-z'()+_,\-./:=?]$/.test(boundary))
    throw invalidRequest(
      "The form's boundary must be 1 to 70 letters, digits or characters of '()+_,-./:=?",
      null,
    )
  return boundary
}
