// Tests background responses while several processes serve: any of them can read, follow and cancel each response.

import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { JsonObject } from '../../src/wire/ir.ts'
import { makeDirectory } from '../contract/databases.ts'
import { eventsOf } from '../responses.ts'
import { authorized, eventually } from '../support/clients.ts'
import { testKey } from '../support/gateway.ts'
import { type Responder, startResponder } from '../support/responder.ts'
import { type ServerProcess, startServer } from '../support/server-process.ts'

/** So many that each of two processes almost certainly has some and is asked for the other's. */
const count = 12

const folder = makeDirectory()
let vendor: Responder
let server: ServerProcess

beforeAll(async () => {
  vendor = await startResponder()
  const file = join(folder.path, 'tollgate.yaml')
  const channel = { vendor: 'openai', baseUrl: vendor.url, key: 'sk-upstream-secret-0123456789' }
  writeFileSync(
    file,
    JSON.stringify({
      channels: [{ ...channel, id: 'responds', models: { responds: 'gpt-5' } }],
      keys: [{ name: 'own', secret: testKey }],
      accounts: { default: { credit: '100' } },
      models: { '*': { prices: { input: '1', output: '2' } } },
    }),
  )
  server = await startServer(folder.path, { words: ['--config', file, '--workers', '2'] })
}, 30_000)
afterAll(async () => {
  vendor.release()
  await server.kill()
  await vendor.stop()
  folder.remove()
})
beforeEach(() => {
  vendor.bodies.length = 0
})

/** On a separate connection, which the system gives to any of the processes. */
async function ask(method: string, path: string, body?: JsonObject): Promise<Response> {
  const headers = {
    ...authorized(),
    connection: 'close',
    ...(body !== undefined && { 'content-type': 'application/json' }),
  }
  const url = `${server.url}/v1/responses${path}`
  const sent = body === undefined ? {} : { body: JSON.stringify(body) }
  return fetch(url, { method, headers, keepalive: false, ...sent })
}

async function bodyOf(method: string, path: string, body?: JsonObject): Promise<JsonObject> {
  return (await ask(method, path, body)).json() as Promise<JsonObject>
}

async function begun(): Promise<string[]> {
  const asked = { model: 'responds', input: 'wait', background: true }
  const all = await Promise.all(Array.from({ length: count }, () => bodyOf('POST', '', asked)))
  await eventually(() => (vendor.bodies.length === count ? true : undefined))
  return all.map(({ id }) => String(id))
}

const statuses = async (ids: readonly string[]) =>
  (await Promise.all(ids.map((id) => bodyOf('GET', `/${id}`)))).map(({ status }) => status)

test('cancelled at any process, the vendor is let go, and it stays cancelled', async () => {
  const before = vendor.aborted
  const ids = await begun()
  const followed = ids.map(async (id) =>
    eventsOf(await (await ask('GET', `/${id}?stream=true`)).text()),
  )
  expect(new Set(await statuses(ids))).toEqual(new Set(['in_progress']))
  const cancelled = await Promise.all(ids.map((id) => bodyOf('POST', `/${id}/cancel`, {})))
  expect(new Set(cancelled.map(({ status }) => status))).toEqual(new Set(['cancelled']))
  await eventually(() => (vendor.aborted === before + count ? true : undefined))
  expect(new Set(await statuses(ids))).toEqual(new Set(['cancelled']))
  for (const events of await Promise.all(followed)) {
    const last = events.at(-1)
    expect([last?.['type'], (last?.['response'] as JsonObject)['status']]).toEqual([
      'response.incomplete',
      'cancelled',
    ])
  }
}, 30_000)

test('removed at any process, the vendor is let go', async () => {
  const before = vendor.aborted
  const ids = await begun()
  await Promise.all(ids.map((id) => ask('DELETE', `/${id}`)))
  await eventually(() => (vendor.aborted === before + count ? true : undefined))
  for (const id of ids) expect((await ask('GET', `/${id}`)).status).toBe(404)
}, 30_000)

test('what ends is read, followed and gone on from at any process', async () => {
  const ids = await begun()
  const followed = ids.map(async (id) =>
    eventsOf(await (await ask('GET', `/${id}?stream=true`)).text()),
  )
  vendor.release()
  for (const events of await Promise.all(followed)) {
    expect(events.at(-1)?.['type']).toBe('response.completed')
  }
  expect(new Set(await statuses(ids))).toEqual(new Set(['completed']))
  for (const id of ids) {
    const more = { model: 'responds', input: 'Go on.', previous_response_id: id }
    expect(await bodyOf('POST', '', more)).toMatchObject({ status: 'completed' })
  }
}, 30_000)

test('a request sent at once finds what another process has just answered', async () => {
  const asked = { model: 'responds', input: 'Hello' }
  for (let round = 0; round < count; round++) {
    const { id, output } = await bodyOf('POST', '', asked)
    const next = await bodyOf('POST', '', { ...asked, previous_response_id: String(id) })
    expect(next).toMatchObject({ status: 'completed', previous_response_id: id as string })
    expect(await bodyOf('GET', `/${next['id']}`)).toMatchObject({ id: next['id'] as string })
    const named = (output as JsonObject[]).map((item) => ({
      type: 'item_reference',
      id: String(item['id']),
    }))
    const referring = await bodyOf('POST', '', { ...asked, input: named })
    expect(referring['status']).toBe('completed')
    expect((await ask('DELETE', `/${referring['id']}`)).status).toBe(200)
  }
}, 30_000)
