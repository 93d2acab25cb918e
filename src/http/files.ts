// Serves hosted results to whoever has their address: no key is asked for, the address is signed.

import type { Found, SignedAddress } from '../blobs/hosting-disk.ts'
import { GatewayError } from '../errors.ts'
import type { Fields } from './respond.ts'

export interface HostedFiles {
  /** `forged`: the gateway never gave that address away. null: what was there is gone. */
  find(asked: SignedAddress): Promise<Found | 'forged' | 'expired' | null>
}

/** The path of one file; ids have no `/`. */
export const filePath = '/files/:id'

/** Throws GatewayError. Ranges, and a head without its body, are the runtime's work. */
export async function readHosted(
  files: HostedFiles,
  request: Request,
  fields: Fields,
  nowMs: number,
): Promise<Response> {
  const { pathname, searchParams } = new URL(request.url)
  const [expires, signature] = [searchParams.get('expires'), searchParams.get('signature')]
  if (expires === null && signature === null) {
    // Where OpenAI keeps the files of its users.
    throw new GatewayError(
      'unsupported_endpoint',
      "The interface 'files' is not offered by this gateway.",
    )
  }
  const id = pathname.slice(pathname.lastIndexOf('/') + 1)
  const found = await files.find({ id, expires: expires ?? '', signature: signature ?? '' })
  if (found === 'forged')
    throw new GatewayError('invalid_signature', 'The signature of this address is not right.')
  if (found === 'expired')
    throw new GatewayError('file_expired', 'This address has expired: ask for the result anew.')
  if (found === null) throw new GatewayError('not_found', 'This file is not here any more.')
  const seconds = Math.max(0, Math.floor(found.expires - nowMs / 1_000))
  Object.assign(fields, {
    'content-type': found.type,
    'content-disposition': `inline; filename="${found.id}"`,
    'accept-ranges': 'bytes',
    etag: `"${found.id}"`,
    'cache-control': `private, max-age=${seconds}, immutable`,
    'x-content-type-options': 'nosniff',
    // A drawing may hold a script, which must not run as the gateway's own.
    'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
    'referrer-policy': 'no-referrer',
  })
  return new Response(found.blob, { headers: fields })
}
