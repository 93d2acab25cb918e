// Finds the API key in a request, wherever the client's SDK puts it, and its principal.

import { GatewayError } from '../errors.ts'
import type { AddressList } from './address-list.ts'
import type { KeyPrincipal, Keyring } from './principal.ts'
import type { RequestHeaders } from './request-headers.ts'
import { managementPrefix } from './secret.ts'

const bearer = /^bearer +/i
/** Browsers cannot send headers with a WebSocket: OpenAI's clients put the key into its subprotocols. */
const keyProtocol = 'openai-insecure-api-key.'

/**
 * The secret in `Authorization: Bearer`, `x-api-key`, `api-key`, `x-goog-api-key` or a WebSocket subprotocol, or in the
 * query parameter `key` of `url` if that is given; null if there is none.
 */
export function presentedSecret(headers: RequestHeaders, url: string | null = null): string | null {
  const authorization = headers.get('authorization')
  if (authorization !== null) {
    if (authorization.startsWith('Bearer ')) return authorization.slice(7).trim()
    if (bearer.test(authorization)) return authorization.replace(bearer, '').trim()
  }
  const named =
    headers.get('x-api-key') ??
    headers.get('api-key') ??
    headers.get('x-goog-api-key') ??
    inProtocols(headers.get('sec-websocket-protocol'))
  const query = url === null ? -1 : url.indexOf('?')
  if (named !== null || url === null || query < 0) return named
  return new URLSearchParams(url.slice(query)).get('key')
}

function inProtocols(offered: string | null): string | null {
  const names = offered?.split(',').map((name) => name.trim())
  return (
    names
      ?.find((name) => name.startsWith(keyProtocol))
      ?.slice(keyProtocol.length)
      .trim() ?? null
  )
}

/** Prefixes of known kinds of keys, to recognise which kind was sent by mistake. */
const kinds = /^(?:sk-(?:tg-|tgm-|proj-|svcacct-|ant-|or-)?|xai-|gsk_|pplx-|hf_|AIza)/

/**
 * Throws GatewayError `invalid_api_key`; the message never contains the key. `address`: the caller's, null if the
 * connection is gone. `url` is given if clients of the format may send their key in the URL (Google's).
 */
export function authenticate(
  headers: RequestHeaders,
  keyring: Keyring,
  nowMs: number,
  address: string | null,
  url: string | null = null,
): KeyPrincipal {
  const secret = presentedSecret(headers, url)
  if (secret === null || secret === '') {
    throw new GatewayError(
      'invalid_api_key',
      'No API key was given. Send it as "Authorization: Bearer YOUR_KEY" (or in x-api-key, api-key or x-goog-api-key).',
    )
  }
  const principal = keyring.find(secret, nowMs)
  if (principal === null) {
    throw new GatewayError(
      'invalid_api_key',
      secret.startsWith(managementPrefix)
        ? 'This is a management key: it is for the control API below /api and calls no models. Use an API key.'
        : 'The API key is not valid: unknown, disabled or expired.',
      { keyPrefix: kinds.exec(secret)?.[0] ?? null },
    )
  }
  if (principal.addresses !== null) checkAddress(principal.addresses, address)
  return principal
}

/** Refuses in OpenAI's form. */
function checkAddress(allowed: AddressList, address: string | null): void {
  if (address !== null && allowed.has(address)) return
  const shown = address === null ? 'an address that is not known' : address
  throw new GatewayError(
    'invalid_api_key',
    `This API key may not be used from ${shown}: its list of allowed addresses does not have it.`,
    { shownCode: 'ip_not_authorized' },
  )
}
