// Tests a gateway without a configured provider: it is paid in play money, at the simulator that it serves itself.

import { expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { auditLedger } from '../../src/admin/audit.ts'
import { openStore } from '../../src/store/open.ts'
import { parsePrometheus } from '../support/prometheus.ts'
import { type ServerProcess, startServer } from '../support/server-process.ts'
import { merchantKeys, providerKeys } from './providers.ts'

const unit = 1_000_000_000n

type Json = ReturnType<typeof JSON.parse>

interface Customer {
  send(method: string, path: string, body?: object): Promise<{ status: number; json: Json }>
}

async function signedIn(
  server: ServerProcess,
  cookie?: string,
): Promise<Customer & { cookie: string }> {
  let shown = cookie ?? ''
  if (cookie === undefined) {
    const link = /http\S+\/api\/auth\/link\S+/.exec(server.stdout)?.[0] ?? ''
    const [set = ''] = (await fetch(link, { redirect: 'manual' })).headers.getSetCookie()
    shown = set.split(';', 1)[0] ?? ''
  }
  return {
    cookie: shown,
    async send(method, path, body) {
      const reply = await fetch(`${server.url}${path}`, {
        method,
        headers: { cookie: shown, 'content-type': 'application/json' },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      })
      return { status: reply.status, json: (await reply.json()) as Json }
    },
  }
}

const balance = async (who: Customer) =>
  BigInt((await who.send('GET', '/api/balance?account=default')).json.postedNano)

/** On the page to which its instructions lead. */
async function payOn(url: string): Promise<Response> {
  const page = await fetch(url)
  expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('no real money')])
  const body = new URLSearchParams({ action: 'pay', payer: 'Li Wei' })
  return fetch(page.url, { method: 'POST', body, redirect: 'manual' })
}

const order = (provider: string, attempt: string) => ({ provider, amount: '10.00', attempt })

test('payments and refused notifications are counted', async () => {
  const server = await startServer()
  try {
    const ann = await signedIn(server)
    for (const provider of ['alipay', 'wechatpay', 'stripe']) {
      const { json } = await ann.send('POST', '/api/orders', order(provider, provider))
      await payOn(json.pay.url)
      const forged = { method: 'POST', body: '{"id":"evt_1","type":"checkout.session.completed"}' }
      await fetch(`${server.url}/api/payments/${provider}/notify`, forged)
    }
    const samples = parsePrometheus(await (await fetch(`${server.url}/metrics`)).text())
    const counted = (name: string) =>
      samples
        .filter((sample) => sample.name === `tollgate_${name}_total`)
        .map(({ labels: { provider, outcome, reason }, value }) => [
          provider,
          outcome ?? reason,
          value,
        ])
    expect(counted('payments')).toEqual([
      ['alipay', 'credited', 1],
      ['wechatpay', 'credited', 1],
      ['stripe', 'credited', 1],
    ])
    expect(counted('payment_callback_errors')).toEqual([
      ['alipay', 'refused', 1],
      ['wechatpay', 'refused', 1],
      ['stripe', 'refused', 1],
    ])
  } finally {
    await server.kill()
  }
})

test('an order is paid on its page, credited, and so after a kill -9; with a merchant it is gone', async () => {
  const server = await startServer()
  const { dataDir } = server
  try {
    const ann = await signedIn(server)
    const offer = await ann.send('GET', '/api/payments/offer?account=default')
    expect(offer.json).toMatchObject({
      mode: 'play',
      providers: [{ name: 'alipay' }, { name: 'wechatpay' }, { name: 'stripe' }],
    })
    const before = await balance(ann)
    for (const provider of ['alipay', 'wechatpay', 'stripe']) {
      const { json } = await ann.send('POST', '/api/orders', order(provider, provider))
      expect(json).toMatchObject({ mode: 'play', state: 'shown' })
      expect(json.pay.url).toStartWith(`${server.url}/paysim/`)
      const left = await payOn(json.pay.url)
      if (provider !== 'wechatpay')
        expect(left.headers.get('location')).toStartWith(
          `${server.url}/console/billing/top-up?order=`,
        )
      expect((await ann.send('GET', `/api/orders/${json.id}`)).json.state).toBe('credited')
    }
    expect(await balance(ann)).toBe(before + 30n * unit)
    const waits = await ann.send('POST', '/api/orders', order('wechatpay', 'waits'))
    const never = await ann.send('POST', '/api/orders', order('wechatpay', 'never'))
    await server.kill()

    const again = await startServer(dataDir)
    const moved = (url: string) => url.replace(server.url, again.url)
    const later = await signedIn(again, ann.cookie)
    expect((await payOn(moved(waits.json.pay.url))).status).toBe(200)
    expect(await balance(later)).toBe(before + 40n * unit)
    again.signal('SIGTERM')
    await again.exited

    const config = join(dataDir, 'merchant.json')
    const { privateKey } = merchantKeys
    const alipay = { appId: 'app-1', privateKey, alipayPublicKey: providerKeys.publicKey }
    writeFileSync(config, JSON.stringify({ payments: { alipay, rates: null } }))
    const live = await startServer(dataDir, { words: ['--config', config] })
    expect(live.stdout + live.stderr).toContain('1 CNY that is paid is credited as 1 USD')
    const there = await signedIn(live, ann.cookie)
    expect((await fetch(waits.json.pay.url.replace(server.url, live.url))).status).toBe(404)
    expect((await there.send('GET', '/api/payments/offer?account=default')).json).toMatchObject({
      mode: 'live',
      providers: [{ name: 'alipay' }],
    })
    expect((await there.send('POST', `/api/orders/${never.json.id}/cancel`)).json.state).toBe(
      'closed',
    )
    await live.kill()

    const store = await openStore({ dataDir, databaseUrl: null })
    expect((await auditLedger({ store })).findings).toEqual([])
    await store.close()
  } finally {
    server.remove()
  }
}, 60_000)

test.each([
  ['it listens for other machines', { server: { host: '0.0.0.0' } }],
  ['it has an address for others', { publicUrl: 'https://gateway.example' }],
  [
    'people sign up',
    { identity: { providers: [{ id: 'github', clientId: 'x', clientSecret: 'y' }] } },
  ],
  ['a secret was left empty', { payments: { stripe: { secretKey: '', webhookSecret: '' } } }],
  ['it is turned off', { payments: { simulator: false } }],
  ['it has several processes', { server: { workers: 2 } }],
])(
  'there is no play money where %s',
  async (_, more: object) => {
    const first = await startServer()
    first.signal('SIGTERM')
    await first.exited
    const config = join(first.dataDir, 'more.json')
    writeFileSync(config, JSON.stringify(more))
    const server = await startServer(first.dataDir, { words: ['--config', config] })
    try {
      const reply = await fetch(`${server.url}/paysim/gateway.do`)
      expect([reply.status, reply.headers.get('content-type')]).toEqual([
        404,
        expect.stringContaining('json'),
      ])
      const told = await fetch(`${server.url}/api/payments/stripe/notify`, {
        method: 'POST',
        body: '{}',
      })
      expect(told.status).toBe(404)
    } finally {
      await server.kill()
      first.remove()
    }
  },
  30_000,
)
