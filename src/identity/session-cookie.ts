// The session's cookie: its name and contents, and how long a session lasts.

import { hash } from 'node:crypto'

const minuteMs = 60_000
const dayMs = 86_400_000
export const idleMs = 7 * dayMs
export const longestMs = 30 * dayMs
/** Linking or unlinking a provider requires a sign-in within this time. */
export const freshMs = 15 * minuteMs
/** A session's use is recorded at most this often. */
export const noteMs = minuteMs

const loopback = /^(localhost|127(\.\d{1,3}){3}|\[::1\]|::1)$/

/** Whether the name is this machine's loopback. */
export function isLoopback(hostname: string): boolean {
  return loopback.test(hostname)
}

/** Browsers accept a secure cookie over https, and from this machine. */
export function takesSecureCookies({ protocol, hostname }: URL): boolean {
  return protocol === 'https:' || isLoopback(hostname)
}

/** The origin under which browsers know this server; null if neither the operator nor the request names it. */
export function originOf(publicUrl: string | null, host: string | null): string | null {
  if (publicUrl !== null) return new URL(publicUrl).origin
  const address = `http://${host}`
  return host !== null && URL.canParse(address) ? new URL(address).origin : null
}

interface CookieNames {
  readonly secure: boolean
  readonly session: string
  /** Binds a sign-in under way to the browser that began it. */
  readonly state: string
}

export function cookieNames(origin: string): CookieNames {
  return takesSecureCookies(new URL(origin))
    ? { secure: true, session: '__Host-tollgate', state: '__Host-tollgate-state' }
    : { secure: false, session: 'tollgate-session', state: 'tollgate-state' }
}

/** The hash by which the database finds the request's session; null if the request has no session cookie. */
export function sessionHash(headers: Headers, cookieName: string): string | null {
  const token = tokenIn(headers.get('cookie'), cookieName)
  return token === null ? null : hashToken(token)
}

/** The cookie has the token and its signature; the signature is not checked, as 256 random bits cannot be guessed. */
function tokenIn(cookies: string | null, name: string): string | null {
  for (const pair of (cookies ?? '').split(';')) {
    const at = pair.indexOf('=')
    if (at < 0 || pair.slice(0, at).trim() !== name) continue
    const [token = ''] = pair
      .slice(at + 1)
      .trim()
      .split(/[.%]/, 1)
    return token === '' ? null : token
  }
  return null
}

/** SHA-256, hex: stored instead of a token of 256 random bits. */
export function hashToken(token: string): string {
  return hash('sha256', token, 'hex')
}
