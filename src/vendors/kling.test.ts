// Tests Kling's keys and codes.

import { expect, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import { kling, klingToken } from './kling.ts'

test('a key of two halves signs a token of half an hour, any other is one itself', () => {
  const nowMs = 1_763_700_000_000
  const token = klingToken({ key: 'access:secret' }, nowMs) ?? ''
  const [head = '', claims = '', signature] = token.split('.')
  const read = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString('utf8'))
  expect(read(head)).toEqual({ alg: 'HS256', typ: 'JWT' })
  const now = nowMs / 1000
  expect(read(claims)).toEqual({ iss: 'access', exp: now + 1_800, nbf: now - 30 })
  const hmac = createHmac('sha256', 'secret').update(`${head}.${claims}`)
  expect(signature).toBe(hmac.digest('base64url'))
  expect(klingToken({ key: 'plain' }, nowMs)).toBe('plain')
  expect(klingToken({ key: null }, nowMs)).toBeNull()
})

test.each([
  [1000, 'credentials'],
  [1101, 'quota'],
  [1102, 'quota'],
  [1103, 'credentials'],
  [1203, 'unknown_model'],
  [1301, 'rejected'],
  [1303, 'rate_limited'],
  [5000, 'vendor_error'],
  [4242, 'unreachable'],
] as const)('code %i is the fault %s', (code, kind) => {
  const fault = { kind: 'unreachable', message: 'x' } as const
  expect(kling.quirks.refine(fault, 400, `{"code":${code},"message":"m"}`).kind).toBe(kind)
})
