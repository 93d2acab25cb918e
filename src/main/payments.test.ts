// Tests that what is built at first use is built again if that failed.

import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Store } from '../store/store.ts'
import type { Log } from '../telemetry/log.ts'
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
