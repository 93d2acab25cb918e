// Tests a wall clock that was ahead and is corrected: timed counters continue correctly.

import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { makeDirectory } from '../contract/databases.ts'
import { eventually } from '../support/clients.ts'
import { chat, deploy } from '../support/deployment.ts'
import { clockCases, serverClock } from '../support/server-clock.ts'

const daySeconds = 86_400
const attemptsPerMinute = 30

describe.each(clockCases)('a clock a day ahead, set right', () => {
  test('limits drain as before, of requests and of attempts to sign in', async () => {
    const folder = makeDirectory()
    const clock = serverClock(join(folder.path, 'clock'))
    const deployment = await deploy({
      databaseUrl: null,
      credits: { acme: '10' },
      config: { groups: { default: { models: ['*'], limits: { requestsPerMinute: 120 } } } },
    })
    try {
      const { url } = await deployment.start({ env: clock.env })
      const ask = async () => (await chat(url, 'acme', { model: 'sandbox/chat+tokens=1' })).status
      const signIn = async () => (await fetch(`${url}/api/auth/link?token=guess`)).status
      const aheadSeconds = async () => {
        const { headers } = await fetch(`${url}/healthz`)
        return Math.round((Date.parse(headers.get('date') ?? '') - Date.now()) / 1_000)
      }
      clock.set(daySeconds)
      await eventually(async () => (await aheadSeconds()) > daySeconds / 2 || undefined)
      expect(await ask()).toBe(200)
      clock.set(0)
      await eventually(async () => (await aheadSeconds()) < daySeconds / 2 || undefined)
      while ((await ask()) === 200);
      await eventually(async () => (await ask()) === 200 || undefined)
      for (let attempt = 0; attempt < attemptsPerMinute; attempt++) await signIn()
      await eventually(async () => (await signIn()) === 429 || undefined)
      await eventually(async () => (await signIn()) === 400 || undefined)
    } finally {
      await deployment.remove()
      folder.remove()
    }
  })
})
