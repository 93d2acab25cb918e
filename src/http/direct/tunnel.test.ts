// Tests two servers on one connection: requests that are not plain go to the runtime's server, later plain ones are
// answered here again.

import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import fc from 'fast-check'
import { eventually } from '../../../test/support/clients.ts'
import { RawClient } from '../../../test/support/socket.ts'
import { DirectListener } from './listener.ts'
import type { DirectRequest } from './request.ts'

/** Replies contain the number of their request between marks. */
const numbers = (text: string) => [...text.matchAll(/<(\d+)>/g)].map((found) => Number(found[1]))
const numberOf = (target: string) => `<${target.slice(target.indexOf('?') + 1)}>`

let direct: string[]
let served: string[]
let peers: Set<number>
let reading: Promise<void>
let leaving: boolean
let runtime: ReturnType<typeof startRuntime>
let listener: DirectListener

function startRuntime() {
  return Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request, server) {
      const { pathname, search } = new URL(request.url)
      served.push(`${pathname}${search}`)
      peers.add(server.requestIP(request)?.port ?? 0)
      const number = numberOf(search)
      if (pathname === '/early') return new Response(number)
      if (pathname === '/brief') server.timeout(request, 1)
      await reading
      const length = (await request.bytes()).length
      if (pathname === '/none')
        return new Response(null, { status: 204, headers: { 'x-n': number } })
      if (pathname === '/chunks') {
        const pieces = [number, 'x'.repeat(length), 'y']
        return new Response(
          new ReadableStream({
            async pull(controller) {
              await new Promise((resolve) => setImmediate(resolve))
              const piece = pieces.shift()
              if (piece === undefined) controller.close()
              else controller.enqueue(piece)
            },
          }),
        )
      }
      return new Response(`${number}${'z'.repeat(length)}`)
    },
  })
}

beforeAll(() => {
  runtime = startRuntime()
  const handle = ({ headers: { target } }: DirectRequest) => {
    direct.push(target)
    return { fields: {}, body: numberOf(target) }
  }
  listener = new DirectListener({
    host: '127.0.0.1',
    port: 0,
    sharePort: false,
    serverPort: runtime.port ?? 0,
    handles: new Map([
      ['GET /direct', handle],
      ['POST /direct', handle],
    ]),
    maxBodyBytes: () => 1_000_000,
    leaving: () => leaving,
    mostConnections: 1_000,
    onFull: () => undefined,
    unreadable: (status) => ({ status, fields: { 'x-ours': 'yes' }, body: 'unreadable' }),
    full: () => ({ status: 503, fields: {}, body: 'full' }),
    crashed: () => ({ status: 500, fields: {}, body: 'crashed' }),
  })
})
beforeEach(() => {
  direct = []
  served = []
  peers = new Set()
  reading = Promise.resolve()
  leaving = false
})
afterAll(async () => {
  listener.terminate()
  await runtime.stop(true)
})

const get = (path: string, number: number, more = '') =>
  `GET ${path}?${number} HTTP/1.1\r\nhost: a\r\n${more}\r\n`
const post = (path: string, number: number, bytes: number) =>
  `POST ${path}?${number} HTTP/1.1\r\nhost: a\r\ncontent-length: ${bytes}\r\n\r\n${'b'.repeat(bytes)}`

test('requests of both kinds take turns on one connection, and need one more between them', async () => {
  const client = await RawClient.open(listener.port)
  for (let round = 0; round < 12; round += 4) {
    const paths = ['/other', '/direct', '/chunks', '/none']
    for (const [at, path] of paths.entries()) {
      client.send(path === '/chunks' ? post(path, round + at, 10) : get(path, round + at))
      await client.until((text) => numbers(text).length === round + at + 1)
      if (path === '/chunks') await client.until((text) => text.endsWith('y\r\n0\r\n\r\n'))
    }
  }
  expect(numbers(client.received)).toEqual([...Array(12).keys()])
  expect(direct).toEqual(['/direct?1', '/direct?5', '/direct?9'])
  expect(served).toHaveLength(9)
  expect(peers.size).toBe(1)
  client.destroy()
})

test('whatever is sent in a row, however it is cut, is answered in its order', async () => {
  const kinds = fc.constantFrom('/direct', '/other', '/chunks', '/none', '/post', '/early', '/form')
  const cases = fc.record({
    kinds: fc.array(kinds, { minLength: 1, maxLength: 8 }),
    bytes: fc.constantFrom(0, 1, 5_000, 70_000, 300_000),
    cuts: fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 6 }),
  })
  await fc.assert(
    fc.asyncProperty(cases, async ({ kinds, bytes, cuts }) => {
      direct = []
      const text = kinds
        .map((kind, number) => {
          if (kind === '/direct' || kind === '/other') return get(kind, number)
          if (kind !== '/form') return post(kind, number, bytes)
          return post('/other', number, bytes).replace(
            'host: a',
            'host: a\r\ncontent-type: multipart/form-data; boundary=x',
          )
        })
        .join('')
      const client = await RawClient.open(listener.port)
      const places = [0, ...cuts.map((cut) => Math.floor(cut * text.length)), text.length]
      const sorted = places.toSorted((a, b) => a - b)
      for (const [at, place] of sorted.entries()) {
        if (at === 0) continue
        client.send(text.slice(sorted[at - 1], place))
        await new Promise((resolve) => setImmediate(resolve))
      }
      // If a server answers before it has read the whole request, it keeps the rest of the connection, and the
      // runtime's closes it at some requests that follow.
      const first = kinds.indexOf('/early')
      const certain = first < 0 ? kinds.length : first + 1
      await client.until((received) => numbers(received).length >= certain)
      const answered = numbers(client.received)
      expect(answered).toEqual([...answered.keys()])
      const before = first < 0 ? kinds : kinds.slice(0, first)
      const least = before.filter((kind) => kind === '/direct').length
      expect(direct.length).toBeGreaterThanOrEqual(least)
      client.destroy()
    }),
    { numRuns: 60 },
  )
}, 60_000)

test('what comes while the other server works is kept for its turn, also more than is read ahead', async () => {
  const gate = Promise.withResolvers<void>()
  reading = gate.promise
  const client = await RawClient.open(listener.port)
  client.send(get('/other', 0))
  await eventually(() => served.length === 1 || undefined)
  const many = 3_000
  for (let number = 1; number <= many; number++) client.send(get('/direct', number))
  expect(direct).toEqual([])
  gate.resolve()
  await client.until((text) => numbers(text).length === many + 1, 20_000)
  expect(numbers(client.received)).toEqual([...Array(many + 1).keys()])
  expect(direct).toHaveLength(many)
  client.destroy()
}, 30_000)

test('a client that asks for its end has it behind the reply', async () => {
  const client = await RawClient.open(listener.port)
  client.send(get('/other', 1, 'connection: close\r\n') + get('/direct', 2))
  expect(numbers(await client.closed())).toEqual([1])
  expect(direct).toEqual([])
})

test('the other server ends its resting connection: the client’s goes on', async () => {
  const client = await RawClient.open(listener.port)
  client.send(get('/brief', 1))
  await client.until((text) => numbers(text).length === 1)
  const [port = 0] = peers
  await eventually(() => listener.clientOf(port) === null || undefined, 20_000)
  client.send(get('/direct', 2) + get('/other', 3))
  await client.until((text) => numbers(text).length === 3)
  expect(numbers(client.received)).toEqual([1, 2, 3])
  expect(peers.size).toBe(2)
  client.destroy()
}, 30_000)

test('while the gateway leaves, a connection ends behind the reply', async () => {
  const client = await RawClient.open(listener.port)
  leaving = true
  client.send(get('/other', 1))
  expect(numbers(await client.closed())).toEqual([1])
})
