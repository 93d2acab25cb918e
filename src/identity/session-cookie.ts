// The session's cookie: what it is called, what it holds, and how long a session lasts.

import { hash } from 'node:crypto'

const minuteMs = 60_000
const dayMs = 86_400_000
export const idleMs = 7 * dayMs
export const longestMs = 30 * dayMs
/** Who links or unlinks a provider must have signed in no longer ago. */
export const freshMs = 15 * minuteMs
/** That it was used is noted no more often. */
export const noteMs = minuteMs

const loopback = /^(localhost|127(\.\d{1,3}){3}|\[::1\]|::1)$/

/** Whether only this machine reaches it. */
export function isLoopback(hostname: string): boolean {
  return loopback.test(hostname)
}

/** Browsers take a secure cookie over https, and from this machine. */
export function takesSecureCookies({ protocol, hostname }: URL): boolean {
  return protocol === 'https:' || isLoopback(hostname)
}

/** The origin that browsers know this server by; null where neither the operator nor the request says it. */
export function originOf(publicUrl: string | null, host: string | null): string | null {
  if (publicUrl !== null) return new URL(publicUrl).origin
  const address = `http://${host}`
  return host !== null && URL.canParse(address) ? new URL(address).origin : null
}

interface CookieNames {
  readonly secure: boolean
  readonly session: string
  /** Binds a sign-in that is under way to the browser that began it. */
  readonly state: string
}

export function cookieNames(origin: string): CookieNames {
  return takesSecureCookies(new URL(origin))
    ? { secure: true, session: '__Host-tollgate', state: '__Host-tollgate-state' }
    : { secure: false, session: 'tollgate-session', state: 'tollgate-state' }
}

/** What the database knows the request's session by; null where it shows none. */
export function sessionHash(headers: Headers, cookieName: string): string | null {
  const token = tokenIn(headers.get('cookie'), cookieName)
  return token === null ? null : hashToken(token)
}

/** The cookie holds the token and its signature; 256 random bits need no proof besides being known. */
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

/** SHA-256, hex: what is kept in place of a token of 256 random bits. */
export function hashToken(token: string): string {
  return hash('sha256', token, 'hex')
}
