// Authenticates callers of the control API: a person by the session cookie, a program by its management key.

import type { ControlPrincipal } from '../../identity/principal.ts'
import { managementPrefix } from '../../identity/secret.ts'
import { isUnsafe } from './access.ts'
import { ControlError } from './problem.ts'
import type { ControlServices } from './services.ts'

type Parts = Pick<ControlServices, 'sessions' | 'managementKey' | 'modelKey' | 'config'>

/**
 * null: the request names no valid caller. A key takes precedence over a cookie. Throws ControlError `unauthenticated`
 * for an invalid key, and `forbidden` for a key that calls models or for a change that another site's page requests
 * with a person's cookie.
 */
export async function authenticateControl(
  request: Request,
  parts: Parts,
): Promise<ControlPrincipal | null> {
  const secret = bearerOf(request.headers)
  if (secret !== null) return principalOfKey(secret, parts)
  const principal = await parts.sessions.sessionOf(request.headers)
  if (principal !== null && isUnsafe(request.method.toLowerCase())) checkOrigin(request, parts)
  return principal
}

async function principalOfKey(secret: string, parts: Parts): Promise<ControlPrincipal> {
  const nowMs = Date.now()
  if (secret.startsWith(managementPrefix)) {
    const principal = await parts.managementKey(secret, nowMs)
    if (principal !== null) return principal
  } else if (parts.modelKey(secret, nowMs) !== null) {
    const message = 'This key calls models. The control API needs a management key or a session.'
    throw new ControlError('forbidden', message)
  }
  const message = 'The management key is unknown, disabled or expired.'
  throw new ControlError('unauthenticated', message, null, { 'www-authenticate': 'Bearer' })
}

function bearerOf(headers: Headers): string | null {
  const shown = headers.get('authorization')
  if (shown === null) return null
  const secret = /^bearer +(.*)$/i.exec(shown)?.[1]?.trim()
  if (secret) return secret
  const message = 'Authorization must be "Bearer sk-tgm-..."'
  throw new ControlError('unauthenticated', message, null, { 'www-authenticate': 'Bearer' })
}

/**
 * Browsers send the page's origin with every change; a client that sends none is no browser and holds the cookie
 * deliberately. `same-site` is another host of the same domain, which is not trusted.
 */
function checkOrigin({ headers, url }: Request, { config }: Parts): void {
  const site = headers.get('sec-fetch-site')
  const origin = headers.get('origin')
  const { publicUrl } = config().server
  const isOwn =
    origin === null ||
    (publicUrl !== null && origin === new URL(publicUrl).origin) ||
    (URL.canParse(origin) && URL.canParse(url) && new URL(origin).host === new URL(url).host)
  if (isOwn && (site === null || site === 'same-origin' || site === 'none')) return
  throw new ControlError(
    'forbidden',
    'Changes by a session are accepted only from pages of this gateway.',
  )
}
