// Checks of single values, shared by the file's schema and by flags and environment.

import { isIP } from 'node:net'

/** An absolute http or https address. */
export function isHttpUrl(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)
}

/** The address before a vendor's paths: without credentials, which belong in `key`, and without query or fragment. */
export function isBaseUrl(text: string): boolean {
  if (!isHttpUrl(text) || /[?#]/.test(text)) return false
  const { username, password } = new URL(text)
  return username === '' && password === ''
}

export const baseUrlExpected =
  'expected an http or https address without credentials, query or fragment'

export const proxyExpected =
  'expected http://HOST:PORT or http://USER:PASSWORD@HOST:PORT; *** keeps the stored password if nothing else is changed'

/** The address of an HTTP proxy. */
export function isProxyUrl(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { protocol, pathname, search, hash, port, username, password } = new URL(text)
  const isBare = pathname === '/' && search === '' && hash === ''
  if (protocol !== 'http:' || !isBare || password === '***') return false
  // Proxies have no usual port, so it must be given; the URL parser drops 80.
  if (port === '' && !/:80\/?$/.test(text)) return false
  return isPlainText(username) && isPlainText(password)
}

/** Percent-encoded text without control characters. */
function isPlainText(encoded: string): boolean {
  try {
    return !/[\0-\x1f\x7f]/.test(decodeURIComponent(encoded))
  } catch {
    return false
  }
}

/** An address of one of the given schemes, e.g. `isUrlOf('redis://h', ['redis'])`. */
export function isUrlOf(text: string, schemes: readonly string[]): boolean {
  return URL.canParse(text) && schemes.includes(new URL(text).protocol.slice(0, -1))
}

export const expectedDatabaseUrl =
  'expected postgres://USER:PASSWORD@HOST/DATABASE without quotes around it, and special characters of the password percent-encoded'

export function isDatabaseUrl(text: string): boolean {
  return /^postgres(ql)?:\/\//.test(text) && URL.canParse(text)
}

/** As browsers send it: in small letters, without a path. */
export function isOrigin(text: string): boolean {
  return /^(\*|null|[a-z][a-z\d+.-]*:\/\/[^\sA-Z/?#@]+)$/.test(text)
}

/** An IP address, or a range of them: `10.0.0.0/8`. */
export function isAddressRange(text: string): boolean {
  const [address = '', bits, ...more] = text.split('/')
  const family = isIP(address)
  if (family === 0 || more.length > 0) return false
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 6 ? 128 : 32))
}

export const valkeySchemes = ['redis', 'rediss', 'valkey', 'valkeys'] as const
export const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'silent'] as const
export const portRange = { min: 0, max: 65_535 } as const
export const workersRange = { min: 1, max: 64 } as const

/** The number that a text such as an environment variable stands for; null when it is none. */
export function numberFrom(text: string): number | null {
  return /^-?\d{1,16}(\.\d{1,16})?$/.test(text.trim()) ? Number(text) : null
}

export function withoutTrailingSlash(address: string): string {
  return address.replace(/\/+$/, '')
}

/** An IANA time zone that this system knows. */
export function isTimeZone(text: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: text }).resolvedOptions().timeZone !== ''
  } catch (error) {
    if (error instanceof RangeError) return false
    throw error
  }
}
