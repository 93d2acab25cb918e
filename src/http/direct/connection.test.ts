// Tests how long a client may take: for a request's head, and to read a reply of the runtime's server.

import { expect, test } from 'bun:test'
import { Buffer } from 'node:buffer'
import { eventually } from '../../../test/support/clients.ts'
import {
  type ClientSocket,
  type ConnectionOwner,
  DirectConnection,
  type DirectHandle,
} from './connection.ts'
import type { RequestHead } from './head.ts'

function open(handle: DirectHandle = () => new Promise(() => undefined)) {
  const written: string[] = []
  const heads: RequestHead[] = []
  let ended = 0
  const socket = {
    remoteAddress: '127.0.0.1',
    write: (bytes: Uint8Array, from = 0, length = bytes.length) => {
      written.push(Buffer.from(bytes.subarray(from, from + length)).toString())
      return length
    },
    end: () => {
      ended += 1
    },
    terminate: () => {
      ended += 1
    },
  }
  const owner: Partial<ConnectionOwner> = {
    unreadable: (status) => ({ status, fields: {}, body: 'unreadable' }),
    handleFor(head) {
      heads.push(head)
      return handle
    },
  }
  const connection = new DirectConnection(
    socket as unknown as ClientSocket,
    owner as ConnectionOwner,
  )
  return { connection, written, heads, ended: () => ended }
}

const bytes = (text: string) => Buffer.from(text)

test('a head that arrives byte by byte is refused after three sweeps', () => {
  const { connection, written, ended } = open()
  connection.received(bytes('GET /v1/models HTTP/1.1\r\nHost: x\r\n'))
  for (let sweep = 0; sweep < 3; sweep += 1) {
    connection.sweep()
    connection.received(bytes('X-A: b\r\n'))
  }
  expect(written).toEqual([])
  connection.sweep()
  expect(written.join('')).toStartWith('HTTP/1.1 408 Request Timeout\r\n')
  expect(written.join('')).toEndWith('unreadable')
  expect(ended()).toBe(1)
})

test('a head that ends in time is answered, however long that takes, and an idle connection is kept', () => {
  const { connection, written, heads, ended } = open()
  for (let sweep = 0; sweep < 5; sweep += 1) connection.sweep()
  connection.received(bytes('GET /v1/models HTTP/1.1\r\nHost: x\r\n'))
  for (let sweep = 0; sweep < 3; sweep += 1) connection.sweep()
  connection.received(bytes('\r\n'))
  for (let sweep = 0; sweep < 5; sweep += 1) connection.sweep()
  expect(heads.map(({ target }) => target)).toEqual(['/v1/models'])
  expect(written).toEqual([])
  expect(ended()).toBe(0)
})

test('a body that goes on without end after the reply does not keep the connection', () => {
  const reply = { status: 408, fields: {}, body: 'late' }
  const { connection, ended } = open(() => reply)
  connection.received(bytes('POST /v1/models HTTP/1.1\r\nHost: x\r\nContent-Length: 500\r\n\r\n{'))
  for (let sweep = 0; sweep < 25; sweep += 1) {
    expect(ended()).toBe(0)
    connection.received(bytes(' '))
    connection.sweep()
  }
  expect(ended()).toBe(1)
})

/** A connection whose request the runtime's server answers; `reads`: its client takes what it is sent. */
function openTunnel(serverPort: number, reads: boolean) {
  let writes = 0
  let terminated = 0
  const socket = {
    remoteAddress: '127.0.0.1',
    write: (sent: Uint8Array) => {
      writes += 1
      return reads ? sent.length : 0
    },
    pause: () => undefined,
    resume: () => undefined,
    terminate: () => {
      terminated += 1
    },
  }
  const owner: Partial<ConnectionOwner> = {
    serverPort,
    handleFor: () => null,
    tunnelled: () => undefined,
    tunnelClosed: () => undefined,
    closed: () => undefined,
  }
  const connection = new DirectConnection(
    socket as unknown as ClientSocket,
    owner as ConnectionOwner,
  )
  connection.received(bytes('GET /page HTTP/1.1\r\nHost: x\r\n\r\n'))
  return { connection, writes: () => writes, terminated: () => terminated }
}

test.each([
  ['reads nothing of it is cut off', false, 1],
  ['has read all that came so far is kept', true, 0],
])("who waits for a reply of the runtime's server and %s", async (_, reads, cutOff) => {
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: () => new Response(new ReadableStream({ start: (body) => body.enqueue('begun') })),
  })
  const { connection, writes, terminated } = openTunnel(server.port ?? 0, reads)
  try {
    await eventually(() => writes() > 0 || undefined)
    for (let sweep = 0; sweep < 24; sweep += 1) connection.sweep()
    expect(terminated()).toBe(0)
    connection.sweep()
    expect(terminated()).toBe(cutOff)
  } finally {
    connection.closed()
    await server.stop(true)
  }
})
