// Tests that what is built at first use is built again if that failed.

import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createIdentity } from '../identity/identity.ts'
import { createPayments } from '../payments/payments.ts'
import type { Store } from '../store/store.ts'
import type { Log } from '../telemetry/log.ts'
import { openControl } from './control.ts'
import { openOrderDesk } from './payments.ts'
import { openPlayMoney } from './play-money.ts'
import type { State } from './state.ts'

const server = { host: '127.0.0.1', publicUrl: null }
const payments = { simulator: true, alipay: null, wechatpay: null, stripe: null }

test('orders are taken again once the store is back', async () => {
  let isAway = true
  const state = { current: { config: { server, payments, currency: 'USD' } } } as unknown as State
  const deployment = {
    address: async () => {
      if (isAway) throw new Error('away')
      return 'http://127.0.0.1:1'
    },
  }
  const desk = openOrderDesk(state, { deployment } as unknown as Store, {
    log: {} as Log,
    play: { isOn: () => false } as unknown as ReturnType<typeof openPlayMoney>,
  })
  expect(desk()).rejects.toThrow('away')
  await desk().catch(() => undefined)
  isAway = false
  const made = await desk()
  expect(made).toMatchObject({ mode: 'live', address: 'http://127.0.0.1:1' })
  expect(await desk()).toBe(made)
})

test('the control API is loaded again after a failure', async () => {
  let asked = 0
  const state = {
    store: { engine: 'sqlite' },
    get current(): never {
      asked += 1
      throw new Error('too many open files')
    },
  } as unknown as State
  const options = { version: '1', log: {}, play: {} } as unknown as Parameters<
    typeof openControl
  >[1]
  const control = openControl(state, options)
  const request = new Request('http://127.0.0.1/api/me')
  for (const _ of [1, 2])
    await expect(control.handle(request, null)).rejects.toThrow('too many open files')
  expect(asked).toBe(2)
  await control.close()
})

test('a payment provider that could not be opened is opened at its next use', async () => {
  const stripe = { secretKey: 'sk', webhookSecret: 'wh', baseUrl: 'https://stripe.test' }
  let isAway = true
  const settings = {
    ...payments,
    stripe: {
      ...stripe,
      get currency() {
        if (isAway) throw new Error('away')
        return 'USD'
      },
    },
  }
  const options = { store: {}, settings, currency: 'USD', mode: 'live', onProblem: () => undefined }
  const opened = createPayments(options as unknown as Parameters<typeof createPayments>[0])
  await expect(opened.offered()).rejects.toThrow('away')
  isAway = false
  expect(await opened.offered()).toMatchObject([{ name: 'stripe' }])
})

test('identity providers that could not be created are created at the next request', async () => {
  let isAway = true
  const identity = {
    get providers() {
      if (isAway) throw new Error('away')
      return []
    },
  }
  const options = {
    config: () => ({ identity, server }),
    signUp: async () => ({ mode: 'open', group: 'default' }),
  }
  const sessions = createIdentity(options as unknown as Parameters<typeof createIdentity>[0])
  const ask = () => {
    const request = new Request('http://127.0.0.1/api/auth/providers')
    request.headers.set('host', '127.0.0.1')
    return sessions.handler(request, null, 'req_1')
  }
  await expect(ask()).rejects.toThrow('away')
  isAway = false
  expect((await ask()).status).toBe(200)
})

test('play money is there once its folder can be written', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'play-'))
  const inTheWay = join(dataDir, 'paysim')
  writeFileSync(inTheWay, 'a file')
  const identity = { providers: [] }
  const config = { server, payments, identity, dataDir }
  const state = { current: { config } } as unknown as State
  const play = openPlayMoney(state, {
    isAlone: true,
    notify: async () => new Response('success'),
  })
  try {
    expect(play.settings('http://127.0.0.1:1')).rejects.toThrow()
    await play.settings('http://127.0.0.1:1').catch(() => undefined)
    rmSync(inTheWay)
    expect((await play.settings('http://127.0.0.1:1')).alipay).not.toBeNull()
  } finally {
    play.close()
    rmSync(dataDir, { recursive: true })
  }
})
