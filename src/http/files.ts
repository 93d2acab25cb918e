// Serves hosted results at signed addresses: whoever has the address may read the file, without a key.

import type { Found, SignedAddress } from '../blobs/hosting-disk.ts'
import { GatewayError } from '../errors.ts'
import type { ClientRequest, Fields, Reply } from '../operations/operation.ts'

export interface HostedFiles {
  /** `forged`: the signature is not the gateway's. null: the file is gone. */
  find(asked: SignedAddress): Promise<Found | 'forged' | 'expired' | null>
}

/** Throws GatewayError. The runtime answers ranges and HEAD by itself. */
export async function readHosted(
  { url }: ClientRequest,
  _: Fields,
  { files }: { readonly files: HostedFiles },
): Promise<Reply> {
  const { pathname, searchParams } = new URL(url)
  const [expires, signature] = [searchParams.get('expires'), searchParams.get('signature')]
  if (expires === null && signature === null) {
    // OpenAI keeps its users' files at this path.
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
  const seconds = Math.max(0, Math.floor(found.expires - Date.now() / 1_000))
  const headers = {
    'content-type': found.type,
    'content-disposition': `inline; filename="${found.id}"`,
    'accept-ranges': 'bytes',
    etag: `"${found.id}"`,
    'cache-control': `private, max-age=${seconds}, immutable`,
    'x-content-type-options': 'nosniff',
    // An SVG image may hold a script, which must not run with the gateway's origin.
    'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
    'referrer-policy': 'no-referrer',
  }
  return { body: found.blob, headers }
}
