// Tests a wall clock that was ahead and is corrected: timed counters continue correctly.

import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { makeDirectory } from '../contract/databases.ts'
import { authorized, eventually } from '../support/clients.ts'
import { chat, deploy, keyOf } from '../support/deployment.ts'
import { clockCases, serverClock } from '../support/server-clock.ts'

const daySeconds = 86_400
const attemptsPerMinute = 30

async function aheadSeconds(url: string): Promise<number> {
  const { headers } = await fetch(`${url}/healthz`)
  return Math.round((Date.parse(headers.get('date') ?? '') - Date.now()) / 1_000)
}

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
      clock.set(daySeconds)
      await eventually(async () => (await aheadSeconds(url)) > daySeconds / 2 || undefined)
      expect(await ask()).toBe(200)
      clock.set(0)
      await eventually(async () => (await aheadSeconds(url)) < daySeconds / 2 || undefined)
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

  test('what a key spent meanwhile does not count against its limit of today', async () => {
    const folder = makeDirectory()
    const clock = serverClock(join(folder.path, 'clock'))
    const spendLimit = { amount: '0.00004', period: 'day' }
    const key = { name: 'acme', account: 'acme', secret: keyOf('acme'), spendLimit }
    const deployment = await deploy({
      databaseUrl: null,
      credits: { acme: '10' },
      config: { keys: [key] },
    })
    try {
      const { url } = await deployment.start({ env: clock.env })
      const model = { model: 'sandbox/chat+tokens=1', max_tokens: 1 }
      const ask = async () => (await chat(url, 'acme', model)).status
      clock.set(daySeconds)
      await eventually(async () => (await aheadSeconds(url)) > daySeconds / 2 || undefined)
      expect([await ask(), await ask()]).toEqual([200, 429])
      clock.set(0)
      await eventually(async () => (await aheadSeconds(url)) < daySeconds / 2 || undefined)
      expect([await ask(), await ask()]).toEqual([200, 429])
    } finally {
      await deployment.remove()
      folder.remove()
    }
  })

  test('codes may be tried again, and a video begun meanwhile is made', async () => {
    const folder = makeDirectory()
    const clock = serverClock(join(folder.path, 'clock'))
    const deployment = await deploy({ databaseUrl: null, credits: { acme: '10' } })
    try {
      const { url, stdout } = await deployment.start({ env: clock.env })
      const link = /http\S+link\?token=\S+/.exec(stdout)?.[0] ?? ''
      const signedIn = await fetch(link, { redirect: 'manual' })
      const [cookie = ''] = (signedIn.headers.get('set-cookie') ?? '').split(';')
      const redeem = async () => {
        const headers = { cookie, origin: url, 'content-type': 'application/json' }
        const body = JSON.stringify({ code: 'ABCD-EFGH-JKMN-PQRS', account: 'acme' })
        return fetch(`${url}/api/redeem`, { method: 'POST', headers, body })
      }
      const videos = async (init: RequestInit) => {
        const reply = await fetch(`${url}/v1/videos`, {
          headers: authorized(keyOf('acme')),
          ...init,
        })
        return reply.json()
      }
      clock.set(daySeconds)
      await eventually(async () => (await aheadSeconds(url)) > daySeconds / 2 || undefined)
      const body = JSON.stringify({ model: 'sandbox/video', prompt: 'A cat', seconds: '4' })
      expect(await videos({ method: 'POST', body })).toMatchObject({ status: 'queued' })
      while ((await redeem()).status !== 429);
      clock.set(0)
      await eventually(async () => (await aheadSeconds(url)) < daySeconds / 2 || undefined)
      const refused = await redeem()
      expect(Number(refused.headers.get('retry-after'))).toBeLessThanOrEqual(60)
      await eventually(async () => {
        const { data } = (await videos({})) as { readonly data: readonly { status: string }[] }
        return data[0]?.status === 'completed' || undefined
      }, 30_000)
      await eventually(async () => (await redeem()).status !== 429 || undefined, 30_000)
    } finally {
      await deployment.remove()
      folder.remove()
    }
  })
})
