// Tests which client address is used behind which proxies, and which ids of a client are recorded.

import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { createCallers } from './callers.ts'

const behind = ['10.0.0.0/8', '2001:db8:1::/48', '192.0.2.1']

function addressOf(
  peer: string,
  headers: Record<string, string>,
  forwardedHeader: 'x-forwarded-for' | 'forwarded' = 'x-forwarded-for',
  trustedProxies: readonly string[] = behind,
): string | null {
  return createCallers({ trustedProxies, forwardedHeader }).of(new Headers(headers), peer).address
}

const list = (text: string) => ({ 'x-forwarded-for': text })
const forwarded = (text: string) => ({ forwarded: text })

describe('the address', () => {
  test('is the other end of the connection where nobody is trusted', () => {
    expect(addressOf('10.1.1.1', list('198.51.100.1'), 'x-forwarded-for', [])).toBe('10.1.1.1')
    expect(addressOf('203.0.113.5', list('198.51.100.1'))).toBe('203.0.113.5')
    expect(addressOf('::ffff:203.0.113.5', {})).toBe('203.0.113.5')
  })

  test.each([
    ['198.51.100.1', '198.51.100.1'],
    ['6.6.6.6, 198.51.100.1', '198.51.100.1'],
    ['6.6.6.6, 198.51.100.1, 10.2.2.2', '198.51.100.1'],
    ['198.51.100.1:4711', '198.51.100.1'],
    ['[2001:db8:2::9]:4711', '2001:db8:2::9'],
    ['2001:db8:2::9', '2001:db8:2::9'],
    ['::ffff:198.51.100.1', '198.51.100.1'],
    ['2001:db8:1::5, 10.2.2.2', '2001:db8:1::5'],
    ['unknown', '10.1.1.1'],
    ['198.51.100.1, unknown', '10.1.1.1'],
    ['', '10.1.1.1'],
    ['<script>, 10.3.3.3', '10.3.3.3'],
    ['999.1.1.1', '10.1.1.1'],
  ])('by trusted proxies: %s', (text, found) => {
    expect(addressOf('10.1.1.1', list(text))).toBe(found)
  })

  test.each([
    ['for=198.51.100.1;proto=https;by=10.0.0.1', '198.51.100.1'],
    ['for=6.6.6.6, for="[2001:db8:2::9]:4711"', '2001:db8:2::9'],
    ['proto=http;For="198.51.100.1:80", for=10.2.2.2', '198.51.100.1'],
    ['for=_hidden', '10.1.1.1'],
    ['by=198.51.100.1', '10.1.1.1'],
  ])('by the standard header: %s', (text, found) => {
    expect(addressOf('10.1.1.1', forwarded(text), 'forwarded')).toBe(found)
  })

  test('is not taken from the header that the proxies do not write', () => {
    expect(addressOf('10.1.1.1', forwarded('for=6.6.6.6'))).toBe('10.1.1.1')
    expect(addressOf('10.1.1.1', list('6.6.6.6'), 'forwarded')).toBe('10.1.1.1')
  })

  test('whatever a client writes before what its proxy adds, the address is what the proxy added', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 200 }), (text) => {
        const written = text.replace(/[^\x20-\x7e]/g, '')
        expect(addressOf('10.1.1.1', list(`${written}, 198.51.100.7`))).toBe('198.51.100.7')
      }),
    )
  })

  test('a range longer than any chain of proxies is not walked to its end', () => {
    const text = `6.6.6.6, ${new Array(500).fill('10.9.9.9').join(', ')}`
    expect(addressOf('10.1.1.1', list(text))).toBe('10.9.9.9')
  })
})

describe('ids', () => {
  const callers = createCallers({ trustedProxies: [], forwardedHeader: 'x-forwarded-for' })
  const idOf = (headers: Record<string, string>) => callers.of(new Headers(headers), null)

  test('the client has its own; its word for it goes before the usual one', () => {
    expect(idOf({}).requestId).toBeNull()
    expect(idOf({ 'x-request-id': 'a-1' }).requestId).toBe('a-1')
    expect(idOf({ 'x-request-id': 'a-1', 'x-client-request-id': 'b-2' }).requestId).toBe('b-2')
    expect(idOf({ 'x-request-id': 'x'.repeat(512) }).requestId).toHaveLength(512)
    expect(idOf({ 'x-request-id': 'x'.repeat(513) }).requestId).toBeNull()
    for (const odd of ['a b', 'é', 'a\tb', ''])
      expect(idOf({ 'x-request-id': odd }).requestId).toBeNull()
  })

  const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
  test.each([
    [`00-${traceId}-00f067aa0ba902b7-01`, true],
    [`cc-${traceId}-00f067aa0ba902b7-01-what-the-future-will-be`, true],
    [`00-${traceId}-00f067aa0ba902b7-01-more`, false],
    [`ff-${traceId}-00f067aa0ba902b7-01`, false],
    [`00-${'0'.repeat(32)}-00f067aa0ba902b7-01`, false],
    [`00-${traceId}-${'0'.repeat(16)}-01`, false],
    [`00-${traceId.toUpperCase()}-00f067aa0ba902b7-01`, false],
    [`00-${traceId}-00f067aa0ba902b7`, false],
    [`cc-${traceId}-00f067aa0ba902b7-01-${'x'.repeat(300)}`, false],
  ])('%s is a trace: %p', (traceparent, holds) => {
    const tracestate = 'rojo=1,congo=t61'
    const caller = idOf({ traceparent, tracestate })
    expect(caller.traceparent).toBe(holds ? traceparent : null)
    expect(caller.tracestate).toBe(holds ? tracestate : null)
  })

  test.each(['x'.repeat(513), 'a=é', ''])('%p is no state of a trace', (tracestate) => {
    const traceparent = `00-${traceId}-00f067aa0ba902b7-01`
    expect(idOf({ traceparent, tracestate }).tracestate).toBeNull()
  })
})
