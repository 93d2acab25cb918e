// Tests who may call what: each row of the endpoint table requires the access that it declares.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { endpoints } from '../../src/http/endpoints.ts'
import { createSecret, managementPrefix } from '../../src/identity/secret.ts'
import { type Gateway, startGateway, testKey } from '../support/gateway.ts'

let gateway: Gateway
beforeAll(async () => {
  gateway = await startGateway({
    config: { channels: [{ id: 'sandbox', vendor: 'sandbox', models: ['sandbox/*'] }] },
  })
})
afterAll(async () => {
  await gateway.stop()
})

/** A path that matches the row. */
function pathOf(prefix: string, path: string): string {
  return (prefix + path)
    .replace('*', 'sandbox/chat:generateContent')
    .replace(/:(id|project|location)\b/g, 'x')
}

const rows = endpoints.map((row) => [`${row.method} ${row.prefixes[0]}${row.path}`, row] as const)

async function statusOf(row: (typeof endpoints)[number], key: string | null): Promise<number> {
  const url = gateway.url + pathOf(row.prefixes[0] ?? '', row.path)
  const socket = 'socketOnly' in row ? { upgrade: 'websocket' } : {}
  const shown = key === null ? {} : { authorization: `Bearer ${key}` }
  const body = row.method === 'POST' ? { body: '{}' } : {}
  const headers = { 'content-type': 'application/json', ...socket, ...shown }
  const reply = await fetch(url, { method: row.method, headers, ...body })
  await reply.arrayBuffer()
  return reply.status
}

test.each(rows)('%s', async (_, row) => {
  if (row.access === 'public') expect(await statusOf(row, null)).not.toBe(401)
  else {
    expect(await statusOf(row, null)).toBe(401)
    expect(await statusOf(row, 'sk-nobody-0123456789abcdef')).toBe(401)
    expect(await statusOf(row, testKey)).not.toBe(401)
  }
})

test('a management key calls no model, and is told what it is', async () => {
  const { status, headers, text } = await asked(createSecret(managementPrefix))
  expect(status).toBe(401)
  expect(JSON.parse(text).error).toMatchObject({
    code: 'invalid_api_key',
    message: expect.stringContaining('management key'),
  })
  expect(headers.get('x-should-retry')).toBe('false')
})

async function asked(key: string) {
  const body = { model: 'sandbox/chat', messages: [{ role: 'user', content: 'Hello' }] }
  const headers = { authorization: `Bearer ${key}` }
  const reply = await gateway.post('/v1/chat/completions', body, { headers })
  return { status: reply.status, headers: reply.headers, text: await reply.text() }
}
