// Tests options about the cost of a request, in each form that is allowed and not allowed.

import { describe, expect, test } from 'bun:test'
import { GatewayError } from '../errors.ts'
import { dialects } from '../wire/dialects.ts'
import { readRequestOptions } from './request-options.ts'

const chat = dialects['openai-chat']

/** `more` is put among the members of a chat request, as JSON text. */
function read(headers: Readonly<Record<string, string>>, more = '', keyShowsCost = false) {
  const text = `{"model":"m"${more},"messages":[{"role":"user","content":"Hi"}]}`
  const peek = chat.client.peek(new TextEncoder().encode(text))
  const chosen = readRequestOptions(new Headers(headers), chat.client.peek, peek, keyShowsCost)
  return { ...chosen.options, body: new TextDecoder().decode(chosen.peek.body), peek: chosen.peek }
}

/** The name of the refused field. */
function refused(headers: Readonly<Record<string, string>>, more = ''): string | null | undefined {
  try {
    read(headers, more)
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error
    expect(error.code).toBe('invalid_request_error')
    expect(error.message).toStartWith(error.detail.param ?? '')
    return error.detail.param
  }
  throw new Error('it was taken')
}

const plain = '{"model":"m","messages":[{"role":"user","content":"Hi"}]}'

test('who wishes nothing gets nothing', () => {
  const chosen = read({})
  expect(chosen).toMatchObject({
    capNano: null,
    showCost: false,
    idempotencyKey: null,
    body: plain,
  })
})

describe('the cost is shown', () => {
  test.each([
    ['true', false, true],
    ['true', true, true],
    ['false', true, false],
    ['false', false, false],
  ])('header %s, key %p: %p', (value, key, shown) => {
    expect(read({ 'x-tollgate-cost': value }, '', key).showCost).toBe(shown)
  })

  test('as the key says where the request does not', () => {
    expect(read({}, '', true).showCost).toBeTrue()
  })

  test.each(['', 'True', 'yes', '1', 'true, true'])('%j is refused', (value) => {
    expect(refused({ 'x-tollgate-cost': value })).toBe('x-tollgate-cost')
  })
})

describe('the ceiling', () => {
  test.each([
    ['"0.05"', 50_000_000n],
    ['0.05', 50_000_000n],
    ['1', 1_000_000_000n],
    ['"0"', 0n],
    ['"0.000000001"', 1n],
  ])('max_cost %s', (value, nano) => {
    const chosen = read({}, `,"max_cost":${value}`)
    expect(chosen.capNano).toBe(nano)
    expect(chosen.body).toBe(plain)
    expect(chosen.peek.keys).not.toContain('max_cost')
    expect(chosen.peek.model).toBe('m')
  })

  test('a name spelled with an escape does not get past, and none is said twice', () => {
    const escaped = read({}, ',"max\\u005fcost":"0.05"')
    expect(escaped.capNano).toBe(50_000_000n)
    expect(JSON.parse(escaped.body)).toEqual(JSON.parse(plain))
    expect(refused({}, ',"max_cost":"9","max_cost":"0.05"')).toBe('max_cost')
  })

  test('null is no ceiling, and goes no further', () => {
    expect(read({}, ',"max_cost":null')).toMatchObject({ capNano: null, body: plain })
    expect(read({ 'x-tollgate-max-cost': '2' }, ',"max_cost":null').capNano).toBe(2_000_000_000n)
  })

  test.each(['-1', '"-1"', '1e-3', '"1,5"', '""', 'true', '[]', '{}', '"0.0000000001"', '"1 USD"'])(
    'max_cost %s is refused',
    (value) => {
      expect(refused({}, `,"max_cost":${value}`)).toBe('max_cost')
    },
  )

  test('by header; the body wins', () => {
    expect(read({ 'x-tollgate-max-cost': ' 0.05 ' }).capNano).toBe(50_000_000n)
    expect(read({ 'x-tollgate-max-cost': '2' }, ',"max_cost":"1"').capNano).toBe(1_000_000_000n)
  })

  test.each(['', '-1', '0x1', '1, 2'])('the header %j is refused', (value) => {
    expect(refused({ 'x-tollgate-max-cost': value })).toBe('x-tollgate-max-cost')
  })
})

describe('the idempotency key', () => {
  test.each(['k', '"quoted"', 'k'.repeat(255), '8e03978e-40d5-43e8-bc93-6894a57f9324'])(
    '%s',
    (key) => {
      expect(read({ 'Idempotency-Key': key }).idempotencyKey).toBe(key)
    },
  )

  test.each(['', 'a b', 'ä', 'k'.repeat(256), 'a, b'])('%j is refused', (key) => {
    expect(refused({ 'Idempotency-Key': key })).toBe('Idempotency-Key')
  })
})
