// Tests the address that newcomers are shown on the page at `/` where there is no console.

import { expect, test } from 'bun:test'
import { startGateway } from '../support/gateway.ts'

test('the page at / shows the address by which the browser reached it', async () => {
  await using gateway = await startGateway({})
  const page = async (headers: Record<string, string> = {}) =>
    (await fetch(`${gateway.url}/`, { headers })).text()
  expect(await page()).toContain(`curl ${gateway.url}/v1/`)
  expect(await page({ host: 'gate.example:8080' })).toContain('curl http://gate.example:8080/v1/')
})
