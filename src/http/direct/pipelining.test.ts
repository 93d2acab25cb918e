// Tests that a client which sends thousands of requests at once is answered in order and holds up nobody else.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { connect } from 'node:net'
import { type Gateway, startGateway } from '../../../test/support/gateway.ts'

let gateway: Gateway
beforeAll(async () => {
  gateway = await startGateway()
})
afterAll(async () => {
  await gateway.stop()
})

const count = 5_000
const one = 'GET /v1/models HTTP/1.1\r\nhost: x\r\nauthorization: Bearer wrong\r\n\r\n'

test('another client is answered before the flood is', async () => {
  const { hostname, port } = new URL(gateway.url)
  const socket = connect(Number(port), hostname)
  let replies = 0
  const all = new Promise<void>((resolve, reject) => {
    socket.on('error', reject)
    socket.on('data', (chunk) => {
      replies += chunk.toString('latin1').split('HTTP/1.1 401').length - 1
      if (replies >= count) resolve()
    })
  })
  await new Promise<void>((resolve) => socket.on('connect', () => resolve()))
  socket.write(one.repeat(count))
  await new Promise<void>((resolve) => socket.once('data', () => resolve()))
  const other = await fetch(`${gateway.url}/healthz`)
  expect(other.status).toBe(200)
  expect(replies).toBeLessThan(count)
  await all
  expect(replies).toBe(count)
  socket.destroy()
})
