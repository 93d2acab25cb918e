// Tests WeChat Pay inside WeChat's own browser: the customer's identity there, the order that follows, and the script
// that pays it.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { testDatabaseUrl } from '../contract/databases.ts'
import { manager, origin, person } from '../support/control.ts'
import { unit } from '../support/payments.ts'
import { type PaymentScene, startPaymentScene } from './scene.ts'

const engines = [null, ...(testDatabaseUrl === null ? [] : [testDatabaseUrl])]
const wanted = { provider: 'wechatpay', method: 'jsapi' } as const

describe.each(engines)('inside WeChat, on %p', (databaseUrl) => {
  let scene: PaymentScene
  beforeAll(async () => {
    scene = await startPaymentScene({ databaseUrl, mp: true })
  })
  afterAll(() => scene.close())

  /** As WeChat's browser does: the redirect, below the gateway's address. */
  async function visit(url: string): Promise<string> {
    const reply = await fetch(url, { redirect: 'manual' })
    const location = reply.headers.get('location') ?? ''
    expect([reply.status, location]).toEqual([302, expect.stringContaining(origin)])
    return location.slice(origin.length)
  }
  const goBack = (path: string, as: ReturnType<typeof person>) =>
    scene.stage.reply(as, path, { method: 'GET' })
  async function invoke(bridge: object): Promise<string> {
    const url = `${scene.simulator.paysim.mp.baseUrl}/wechat-browser`
    const reply = await fetch(url, { method: 'POST', body: JSON.stringify(bridge) })
    return ((await reply.json()) as { err_msg: string }).err_msg
  }

  test('the browser says who it is, the order can be paid there, and is credited once', async () => {
    const order = await scene.order(wanted)
    expect(order.pay.kind).toBe('redirect')
    const asked = new URL(order.pay.url)
    expect(Object.fromEntries(asked.searchParams)).toMatchObject({
      ...{ appid: scene.simulator.paysim.mp.appid, scope: 'snsapi_base', response_type: 'code' },
      redirect_uri: `${origin}/api/payments/wechatpay/openid`,
    })
    const path = await visit(order.pay.url)
    const as = person(order.account)
    const back = await goBack(path, as)
    const location = `/console/billing/top-up?order=${order.id}`
    expect([back.status, back.headers.get('location')]).toEqual([302, location])
    const { pay } = await order.read()
    expect(pay).toMatchObject({ kind: 'bridge', url: '', bridge: { signType: 'RSA' } })
    // Back in the browser: the code was used, and the order is unchanged.
    expect((await goBack(path, as)).status).toBe(302)
    expect((await order.read()).pay).toEqual(pay)
    const fail = 'get_brand_wcpay_request:fail'
    for (const change of [{ paySign: 'AAAA' }, { nonceStr: 'other' }, { package: 'prepay_id=wx1' }])
      expect(await invoke({ ...pay.bridge, ...change })).toBe(fail)
    expect(await order.postedNano()).toBe(0n)
    expect(await invoke(pay.bridge)).toBe('get_brand_wcpay_request:ok')
    expect(await order.read()).toMatchObject({ state: 'credited', flag: null, pay: null })
    expect(await invoke(pay.bridge)).toBe(fail)
    expect(await order.postedNano()).toBe(10n * unit)
    expect((await goBack(path, as)).headers.get('location')).toBe(location)
    expect(await scene.audit()).toEqual([])
  })

  test('what WeChat brings back counts in the browser that was sent, for its order', async () => {
    const order = await scene.order(wanted)
    const as = person(order.account)
    const shown = async () => (await order.read()).pay.kind
    const path = await visit(order.pay.url)
    const other = { ...as, sessionId: 'another-browser' }
    expect((await goBack(path, other as ReturnType<typeof person>)).status).toBe(302)
    expect(await shown()).toBe('redirect')
    const state = `${order.id}.${'0'.repeat(32)}`
    await goBack(path.replace(/state=[^&]+/, `state=${state}`), as)
    expect(await shown()).toBe('redirect')
    expect((await goBack(path, person('stranger'))).status).toBe(404)
    expect((await goBack('/api/payments/wechatpay/openid?code=x', as)).status).toBe(400)
    await goBack(path.replace(/code=[^&]+/, 'code=invented'), as)
    expect(await shown()).toBe('redirect')
    await goBack(path, as)
    expect(await shown()).toBe('bridge')
  })

  test('a program orders nothing there, and a simulator that is away is said without the secret', async () => {
    const order = await scene.order(wanted)
    const program = manager(order.account, ['read', 'write'])
    const body = { ...wanted, amount: '10.00', attempt: 'program' }
    const refused = await scene.stage.send(program, 'POST', '/api/orders', { body })
    expect([refused.status, refused.json.field]).toEqual([409, 'provider'])
    const path = await visit(order.pay.url)
    scene.simulator.paysim.control.misbehave({ down: true }, 'cleared')
    const back = await goBack(path, person(order.account))
    scene.simulator.paysim.control.behave()
    const { secret } = scene.simulator.paysim.mp
    expect(back.status).toBe(302)
    expect((await back.text()) + scene.problems.join()).not.toContain(secret)
    expect(await goBack(path, person(order.account)).then(() => order.read())).toMatchObject({
      pay: { kind: 'bridge' },
    })
  })
})

test('without an official account it is not offered', async () => {
  const scene = await startPaymentScene({ databaseUrl: null })
  try {
    await scene.stage.store.accounts.ensure('ann', 1)
    const offer = await scene.stage.send(person('ann'), 'GET', '/api/payments/offer')
    const wechat = offer.json.providers.find(({ name }: { name: string }) => name === 'wechatpay')
    expect(wechat.methods).toEqual(['native', 'h5'])
    const body = { ...wanted, amount: '10.00', attempt: 'a' }
    const { status, json } = await scene.stage.send(person('ann'), 'POST', '/api/orders', { body })
    expect([status, json.field]).toEqual([400, 'method'])
  } finally {
    await scene.close()
  }
})
