// What tells a form from other bodies, before any of it is read.

import { invalidRequest } from '../../../errors.ts'

/** The boundary a form's content type names; null: it is no form. Throws GatewayError where it names none that may be. */
export function boundaryOf(contentType: string | null): string | null {
  if (contentType === null || !/^\s*multipart\/form-data\s*(;|$)/i.test(contentType)) return null
  const found = /;\s*boundary\s*=\s*(?:"([^"]*)"|([^\s;"]+))/i.exec(contentType)
  const boundary = found?.[1] ?? found?.[2]
  if (boundary === undefined)
    throw invalidRequest('The content-type of a form must name its boundary.', null)
  // RFC 2046, section 5.1.1: these characters, at most 70, the last no blank.
  if (!/^[0-9A-Za-z'()+_,\-./:=? ]{0,69}[0-9A-Za-z'()+_,\-./:=?]$/.test(boundary))
    throw invalidRequest(
      "The form's boundary must be 1 to 70 letters, digits or characters of '()+_,-./:=?",
      null,
    )
  return boundary
}
