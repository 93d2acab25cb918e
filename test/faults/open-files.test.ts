// Tests a server that may open few files: connections beyond what it can serve are refused, and idle ones give way.

import { afterEach, beforeEach, expect, test } from 'bun:test'
import { eventually } from '../support/clients.ts'
import { type ServerProcess, startServer } from '../support/server-process.ts'
import { parseReply, portOf, RawClient } from '../support/socket.ts'

let server: ServerProcess
let port: number
const clients: RawClient[] = []

beforeEach(async () => {
  server = await startServer(undefined, { under: ['sh', '-c', 'ulimit -n 256; exec "$@"', 'sh'] })
  port = portOf(server.url)
})

afterEach(async () => {
  for (const client of clients.splice(0)) client.destroy()
  await server.kill()
  server.remove()
})

async function open(text = ''): Promise<RawClient> {
  const client = await RawClient.open(port)
  clients.push(client)
  if (text !== '') client.send(text)
  return client
}

const models = 'GET /v1/models HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n'

/** The reply to a plain request on a connection of its own. */
async function asked() {
  return parseReply(await (await open(models)).closed())
}

test('P13: idle connections give way to new ones', async () => {
  for (let count = 0; count < 300; count++) await open()
  const { body } = await eventually(async () => {
    const reply = await asked()
    return reply.status === 401 ? reply : undefined
  })
  expect(JSON.parse(body).error.code).toBe('invalid_api_key')
})

test('P13: while all are busy, a new one is refused at once, and the log says why', async () => {
  const [, key = ''] = /Bearer (sk-[\w-]+)/.exec(server.stdout) ?? []
  const begun = `POST /v1/chat/completions HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${key}\r\ncontent-length: 9\r\n\r\n{`
  const { headers, body } = await eventually(async () => {
    for (let count = 0; count < 20; count++) await open(begun)
    const reply = await asked()
    return reply.status === 503 ? reply : undefined
  })
  expect(headers['retry-after']).toBeDefined()
  expect(headers['x-request-id']).toBeDefined()
  expect(JSON.parse(body).error.code).toBe('service_unavailable')
  await server.said('limit of open files')
  for (const client of clients.splice(0)) client.destroy()
  await eventually(async () => ((await asked()).status === 401 ? true : undefined))
})
