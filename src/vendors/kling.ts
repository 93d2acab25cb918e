// Kling: videos, with keys of two halves that sign short-lived tokens.

import { createHmac } from 'node:crypto'
import type { Fault } from '../errors.ts'
import type { ChannelSettings, Vendor } from './vendor.ts'
import { type VendorVideos, videoStarts } from './video.ts'

const klingVideos: VendorVideos = {
  variants: ['video'],
  load: async () => (await import('./kling-videos.ts')).klingVideos,
}

const tokenSeconds = 1_800
/** Allows for differences between clocks. */
const leewaySeconds = 30

/** A JWT (RFC 7519) with HS256, made for each call; a key without a colon is used as a bearer token itself. */
export function klingToken({ key }: Pick<ChannelSettings, 'key'>, nowMs: number): string | null {
  if (key === null) return null
  const [access = '', secret] = key.split(':')
  if (secret === undefined) return key
  const now = Math.floor(nowMs / 1000)
  const claims = { iss: access, exp: now + tokenSeconds, nbf: now - leewaySeconds }
  const signed = `${encoded({ alg: 'HS256', typ: 'JWT' })}.${encoded(claims)}`
  return `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`
}

function encoded(value: object): string {
  return Buffer.from(JSON.stringify(value), 'utf8').toString('base64url')
}

/** Faults by Kling's error codes, from its page of errors. */
const kinds: readonly (readonly [code: RegExp, kind: Fault['kind']])[] = [
  [/^100\d$/, 'credentials'],
  [/^110[12]$/, 'quota'],
  [/^110\d$/, 'credentials'],
  [/^1203$/, 'unknown_model'],
  [/^12\d\d$/, 'rejected'],
  [/^130[0-1]$/, 'rejected'],
  [/^130\d$/, 'rate_limited'],
  [/^5\d{3}$/, 'vendor_error'],
]

function refine(fault: Fault, _status: number, body: string): Fault {
  const code = /"code":\s*(\d{4})/.exec(body)?.[1] ?? ''
  const kind = kinds.find(([pattern]) => pattern.test(code))?.[1]
  if (kind === undefined) return fault
  const message = /"message":\s*"([^"\\]*)"/.exec(body)?.[1] ?? fault.message
  return { ...fault, kind, code, message }
}

export const kling = {
  id: 'kling',
  ownedBy: 'kling',
  baseUrl: 'https://api-singapore.klingai.com/v1',
  environment: 'KLING_API_KEY',
  speaks: ['openai-videos'],
  quirks: {
    usageOnStream: 'always',
    refine,
  },
  address: (_, { baseUrl }) => `${baseUrl}/videos/text2video`,
  signature: {
    headers: () => [],
    token: klingToken,
  },
  adapters: { 'openai-videos': videoStarts(klingVideos) },
  videos: klingVideos,
} satisfies Vendor
