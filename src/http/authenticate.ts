// Finds the key in a request, wherever the client's SDK puts it, and whom it belongs to.

import { GatewayError } from '../errors.ts'
import type { Keyring, Principal } from '../identity/principal.ts'

const bearer = /^bearer +/i

/** The secret the client shows: `Authorization: Bearer`, `x-api-key` or `api-key`; null when it shows none. */
export function presentedSecret(headers: Headers): string | null {
  const authorization = headers.get('authorization')
  if (authorization !== null) {
    if (authorization.startsWith('Bearer ')) return authorization.slice(7).trim()
    if (bearer.test(authorization)) return authorization.replace(bearer, '').trim()
  }
  return headers.get('x-api-key') ?? headers.get('api-key')
}

/** Throws GatewayError `invalid_api_key`; the message never repeats the key. */
export function authenticate(headers: Headers, keyring: Keyring, nowMs: number): Principal {
  const secret = presentedSecret(headers)
  if (secret === null || secret === '') {
    throw new GatewayError(
      'invalid_api_key',
      'No API key was given. Send it as "Authorization: Bearer YOUR_KEY" (or in x-api-key or api-key).',
    )
  }
  const principal = keyring.find(secret, nowMs)
  if (principal === null) {
    throw new GatewayError(
      'invalid_api_key',
      'The API key is not valid: unknown, disabled or expired.',
    )
  }
  return principal
}
