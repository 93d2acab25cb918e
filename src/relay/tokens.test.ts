// Tests that all waiting calls share one token, that it is renewed before it expires, and failures of the token server.

import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import { createDialer, type Dialer } from '../upstream/dial.ts'
import { TokenMissing, TokenRefused, Tokens } from './tokens.ts'

let answer: () => Response | Promise<Response>
let asked: string[] = []
let server: Bun.Server<undefined>
let dialer: Dialer

beforeAll(() => {
  dialer = createDialer()
  server = Bun.serve({
    port: 0,
    fetch: async (request) => {
      asked.push(await request.text())
      return answer()
    },
  })
})
beforeEach(() => {
  asked = []
  let count = 0
  answer = () =>
    Response.json({ access_token: `t${++count}`, expires_in: 3_600, token_type: 'Bearer' })
})
afterAll(async () => {
  dialer.close()
  await server.stop(true)
})

function tokens(url = `http://127.0.0.1:${server.port}/token`): Tokens {
  return new Tokens({ url, body: async (nowMs) => `now=${nowMs}` })
}

const hour = 3_600_000

test('many wait for one, and later ones have it at once', async () => {
  const source = tokens()
  const headers = await Promise.all(Array.from({ length: 20 }, () => source.header(dialer, 0)))
  expect(new Set(headers)).toEqual(new Set(['Bearer t1']))
  expect(source.header(dialer, 1)).toBe('Bearer t1')
  expect(asked).toEqual(['now=0'])
})

test('near its end it serves while another is asked for, after its end it does not', async () => {
  const source = tokens()
  await source.header(dialer, 0)
  expect(source.header(dialer, hour - 200_000)).toBe('Bearer t1')
  expect(await source.header(dialer, hour)).toBe('Bearer t2')
  expect(asked).toHaveLength(2)
})

test('an old one serves on where no new one can be had', async () => {
  const source = tokens()
  await source.header(dialer, 0)
  answer = () => new Response('down', { status: 503 })
  expect(source.header(dialer, hour - 1)).toBe('Bearer t1')
  expect(source.header(dialer, hour)).rejects.toBeInstanceOf(TokenMissing)
})

test('one the vendor does not take is asked for again', async () => {
  const source = tokens()
  source.drop(await source.header(dialer, 0))
  expect(await source.header(dialer, 0)).toBe('Bearer t2')
  source.drop('Bearer t1')
  expect(source.header(dialer, 0)).toBe('Bearer t2')
})

test.each([
  [400, { error: 'invalid_grant', error_description: 'Invalid JWT Signature.' }],
  [401, { error: 'invalid_client' }],
])('%i is a refusal, in the words of the server', async (status, body) => {
  answer = () => Response.json(body, { status })
  const failed = await Promise.resolve(tokens().header(dialer, 0)).catch((error: unknown) => error)
  expect(failed).toBeInstanceOf(TokenRefused)
  expect(String(failed)).toContain(body.error)
})

test.each([
  ['a busy server', () => new Response('', { status: 429 })],
  ['a broken one', () => new Response('<html>', { status: 500 })],
  ['a reply without a token', () => Response.json({})],
  ['a token that is none', () => Response.json({ access_token: 'a\r\nx: y' })],
])('%s leaves the call without a token, and the next one asks again', async (_what, said) => {
  answer = said
  const source = tokens()
  expect(source.header(dialer, 0)).rejects.toBeInstanceOf(TokenMissing)
  await Promise.resolve(source.header(dialer, 0)).catch(() => undefined)
  answer = () => Response.json({ access_token: 'good' })
  expect(await source.header(dialer, 0)).toBe('Bearer good')
})

test('a server that is not there', async () => {
  const failed = await Promise.resolve(tokens('http://127.0.0.1:1/token').header(dialer, 0)).catch(
    (error: unknown) => error,
  )
  if (!(failed instanceof TokenMissing)) throw new Error(String(failed))
  expect(failed.fault.kind).toBe('unreachable')
})
