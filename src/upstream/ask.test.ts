// Tests that a call returns a whole reply of a service, or an error in time, whatever the service does.

import { afterAll, expect, test } from 'bun:test'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { ask } from './ask.ts'
import { createDialer } from './dial.ts'

const dialer = createDialer()
const server = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  routes: {
    '/echo': async (request) =>
      Response.json({
        method: request.method,
        search: new URL(request.url).search,
        body: await request.text(),
        type: request.headers.get('content-type'),
      }),
    '/moved': () => new Response('elsewhere', { status: 302, headers: { location: '/echo' } }),
    '/large': () => new Response('x'.repeat(10_000)),
    '/never': () => new Promise<Response>(() => undefined),
  },
})
afterAll(async () => {
  dialer.close()
  await server.stop(true)
})

const bounds = { dialer, maxBytes: 1_000, timeoutMs: 150 }
const address = `http://127.0.0.1:${server.port}`
const get = (url: string) => ask(bounds, { method: 'GET', url, headers: {} })

test('sends a request and gives its whole reply', async () => {
  const question = {
    method: 'POST' as const,
    url: `${address}/echo?a=b`,
    headers: { 'content-type': 'text/plain' },
    body: 'ä',
  }
  const { status, text } = await ask(bounds, question)
  expect(status).toBe(200)
  expect(JSON.parse(text)).toEqual({
    method: 'POST',
    search: '?a=b',
    body: 'ä',
    type: 'text/plain',
  })
})

test('follows no redirect', async () => {
  expect(await get(`${address}/moved`)).toEqual({ status: 302, text: 'elsewhere' })
})

test('takes no more than its bound', async () => {
  await expect(get(`${address}/large`)).rejects.toThrow('larger than 1000 bytes')
})

test('waits no longer than its bound', async () => {
  await expect(get(`${address}/never`)).rejects.toThrow('it took too long')
})

test('gives up on a reply that comes byte by byte', async () => {
  const slow = createServer((socket) => {
    socket.write('HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n')
    const timer = setInterval(() => socket.write('x'), 10)
    socket.on('close', () => clearInterval(timer))
    socket.on('error', () => undefined)
  })
  await new Promise<void>((resolve) => slow.listen(0, '127.0.0.1', resolve))
  const { port } = slow.address() as AddressInfo
  await expect(get(`http://127.0.0.1:${port}/`)).rejects.toThrow('it took too long')
  slow.close()
  await expect(get(`http://127.0.0.1:${port}/`)).rejects.toThrow()
})
