// Tests requests for a session that are no WebSocket handshake: refused before a vendor is asked, or money is held.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Gateway, startGateway, testKey } from '../support/gateway.ts'
import { handshake, type RealtimeVendor, startRealtimeVendor } from '../support/realtime.ts'
import { readRefusal } from '../support/requests.ts'
import { realtimeConfig } from './realtime-stage.ts'

let vendor: RealtimeVendor
let gateway: Gateway

beforeAll(async () => {
  vendor = startRealtimeVendor()
  gateway = await startGateway({ config: realtimeConfig(vendor.url, vendor.url) })
})
afterAll(async () => {
  await gateway.stop()
  await vendor.close()
})

test.each([
  ['no key', { 'sec-websocket-key': '' }, 400, 'invalid_request_error'],
  ['a short key', { 'sec-websocket-key': 'c2hvcnQ=' }, 400, 'invalid_request_error'],
  ['another version', { 'sec-websocket-version': '8' }, 426, 'upgrade_required'],
  ['no upgrade of the connection', { connection: 'close' }, 400, 'invalid_request_error'],
] as const)('%s', async (_, wrong, status, code) => {
  const headers = { authorization: `Bearer ${testKey}`, ...wrong }
  const reply = await handshake(gateway.url, '/v1/realtime?model=gpt-realtime', headers)
  expect(reply.status).toBe(status)
  readRefusal(reply.body, reply.headers['content-type'], reply.headers['x-request-id'], code)
  expect(reply.headers['sec-websocket-version']).toBe('13')
  expect(vendor.sessions).toHaveLength(0)
})
