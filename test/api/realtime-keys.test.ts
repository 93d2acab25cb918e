// Tests that an open realtime session ends soon after its key is disabled, also one that begins no response.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { onStage } from '../money/realtime-stage.ts'
import { eventually } from '../support/clients.ts'
import { RealtimeClient, type RealtimeVendor, startRealtimeVendor } from '../support/realtime.ts'

let vendor: RealtimeVendor
beforeAll(() => {
  vendor = startRealtimeVendor()
})
afterAll(() => vendor.close())

test('a session that only listens ends once its key is disabled', async () => {
  await using stage = await onStage(vendor, '10')
  const { deployment } = stage
  const wish = ['--account', 'acme', '--group', 'default', '--name', 'later']
  const made = await deployment.command('key', 'create', ...wish)
  const { id, secret } = made as { readonly id: string; readonly secret: string }
  const client = await eventually(() =>
    RealtimeClient.open(stage.server.url, { key: secret }).catch(() => undefined),
  )
  await deployment.command('key', 'disable', id)
  expect((await client.error()).code).toBe('invalid_api_key')
  expect((await client.closed()).code).toBe(1_008)
})
