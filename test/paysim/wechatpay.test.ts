// Tests that the simulator's WeChat Pay and the library wechatpay-axios-plugin accept each other's signatures.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createHash, X509Certificate } from 'node:crypto'
import { gunzipSync } from 'node:zlib'
import { Aes, Formatter, Rsa, Wechatpay } from 'wechatpay-axios-plugin'
import { eventually } from '../support/clients.ts'
import { last, type Notified, type PaysimScene, startPaysim } from '../support/paysim.ts'

const notifyUrl = 'https://merchant.example/notify'
let scene: PaysimScene
let certified: PaysimScene

beforeAll(async () => {
  scene = await startPaysim({ base: '/paysim' })
  certified = await startPaysim({ wechatpayMode: 'certificate' })
})
afterAll(async () => {
  await scene.stop()
  await certified.stop()
})

interface Call {
  readonly scene?: PaysimScene
  readonly body?: object
  readonly certificates?: Readonly<Record<string, string>>
}

/** The library's client: it signs what it sends and verifies what it receives. */
async function call(method: 'get' | 'post', path: string, more: Call = {}) {
  const at = more.scene ?? scene
  const { merchant } = at.paysim
  const { mchid, serial, privateKey, publicKeyId, publicKey, baseUrl } = merchant.wechatpay
  const client = new Wechatpay({
    mchid,
    serial,
    privateKey,
    certs: more.certificates ?? { [publicKeyId ?? '']: publicKey ?? '' },
    secret: '',
    baseURL: `${baseUrl}/`,
  } as ConstructorParameters<typeof Wechatpay>[0])
  const { data, status } = await client.client.request(path, method, more.body)
  return { status, data: typeof data === 'string' && data !== '' ? JSON.parse(data) : data }
}

function order(number: string, at = scene, more: object = {}) {
  const { mchid, appid } = at.paysim.merchant.wechatpay
  return {
    mchid,
    appid,
    description: 'Top up 100%',
    out_trade_no: number,
    notify_url: notifyUrl,
    amount: { total: 100, currency: 'CNY' },
    ...more,
  }
}

/** Whether the library accepts the notification as the provider's. */
function verified({ headers, body }: Notified, key: string): boolean {
  const text = Formatter.response(
    headers.get('wechatpay-timestamp') ?? '',
    headers.get('wechatpay-nonce') ?? '',
    body,
  )
  return Rsa.verify(text, headers.get('wechatpay-signature') ?? '', key)
}

interface Resource {
  readonly ciphertext: string
  readonly nonce: string
  readonly associated_data: string
}

/** Signed by the library at the time of the simulator's clock. */
async function signedGet({ paysim, baseUrl, clock }: PaysimScene, path: string): Promise<Response> {
  const { mchid, serial, privateKey } = paysim.merchant.wechatpay
  const [time, nonce] = [Math.floor(clock.now() / 1000), Formatter.nonce()]
  const target = `${new URL(baseUrl).pathname.replace(/\/$/, '')}${path}`
  const text = Formatter.request('GET', target, time, nonce)
  const signature = Rsa.sign(text, Rsa.from(privateKey, Rsa.KEY_TYPE_PRIVATE))
  const authorization = Formatter.authorization(mchid, nonce, signature, time, serial)
  return fetch(`${baseUrl}${path}`, { headers: { authorization } })
}

function opened(resource: Resource, at = scene): string {
  const key = at.paysim.merchant.wechatpay.apiV3Key
  return Aes.AesGcm.decrypt(resource.ciphertext, key, resource.nonce, resource.associated_data)
}

function content(notified: Notified, at = scene) {
  return JSON.parse(opened(JSON.parse(notified.body).resource, at))
}

describe('requests of the library', () => {
  test('are accepted, and its replies verified: an order paid, queried and refunded', async () => {
    const created = await call('post', 'v3/pay/transactions/native', { body: order('native-0001') })
    expect(created.data.code_url).toStartWith(`${scene.baseUrl}/pay/wechatpay/wx`)
    const { mchid } = scene.paysim.merchant.wechatpay
    const path = `v3/pay/transactions/out-trade-no/native-0001?mchid=${mchid}`
    expect((await call('get', path)).data.trade_state).toBe('NOTPAY')
    await scene.paysim.control.pay('native-0001')
    const { data } = await call('get', path)
    expect(data).toMatchObject({ trade_state: 'SUCCESS', amount: { total: 100, currency: 'CNY' } })
    const byId = await call('get', `v3/pay/transactions/id/${data.transaction_id}?mchid=${mchid}`)
    expect(byId.data).toEqual(data)

    const refund = {
      out_trade_no: 'native-0001',
      out_refund_no: 'refund-0001',
      notify_url: notifyUrl,
      amount: { refund: 40, total: 100, currency: 'CNY' },
    }
    const first = await call('post', 'v3/refund/domestic/refunds', { body: refund })
    expect(first.data.status).toBe('PROCESSING')
    const again = await call('post', 'v3/refund/domestic/refunds', { body: refund })
    expect(again.data.refund_id).toBe(first.data.refund_id)
    const asked = await call('get', 'v3/refund/domestic/refunds/refund-0001')
    expect(asked.data).toMatchObject({ status: 'SUCCESS', amount: { refund: 40, total: 100 } })
    expect((await call('get', path)).data.trade_state).toBe('REFUND')
    const told = await eventually(() => {
      const one = content(last(scene.notified))
      return one.refund_status === undefined ? undefined : one
    })
    expect(told).toMatchObject({ refund_status: 'SUCCESS', amount: { refund: 40 } })
    const tooMuch = { ...refund, out_refund_no: 'refund-0002', amount: { refund: 61, total: 100 } }
    const refused = call('post', 'v3/refund/domestic/refunds', { body: tooMuch })
    await expect(refused).rejects.toMatchObject({
      response: { status: 403, data: { code: 'NOT_ENOUGH' } },
    })
  })

  test('are accepted for H5 and JSAPI, and closing leaves nothing to pay', async () => {
    const scene_info = { payer_client_ip: '127.0.0.1', h5_info: { type: 'Wap' } }
    const h5 = await call('post', 'v3/pay/transactions/h5', {
      body: order('h5-000001', scene, { scene_info }),
    })
    expect(h5.data.h5_url).toContain('/pay/wechatpay/wx')
    const jsapi = await call('post', 'v3/pay/transactions/jsapi', {
      body: order('jsapi-0001', scene, { payer: { openid: 'o123' } }),
    })
    expect(jsapi.data.prepay_id).toStartWith('wx')
    const { mchid } = scene.paysim.merchant.wechatpay
    const path = 'v3/pay/transactions/out-trade-no/h5-000001'
    expect((await call('post', `${path}/close`, { body: { mchid } })).status).toBe(204)
    expect((await call('get', `${path}?mchid=${mchid}`)).data.trade_state).toBe('CLOSED')
    const again = call('post', 'v3/pay/transactions/h5', {
      body: order('h5-000001', scene, { scene_info }),
    })
    await expect(again).rejects.toMatchObject({ response: { data: { code: 'ORDER_CLOSED' } } })
  })

  test('of H5 lead from the pay page to the address that the merchant adds, if it is one', async () => {
    const scene_info = { payer_client_ip: '127.0.0.1', h5_info: { type: 'Wap' } }
    const body = new URLSearchParams({ action: 'pay', payer: 'Li Wei' })
    for (const [number, back, status] of [
      ['h5-000002', 'https://merchant.example/back?order=2', 303],
      ['h5-000003', 'javascript:alert(1)', 200],
    ] as const) {
      const asked = { body: order(number, scene, { scene_info }) }
      const { data } = await call('post', 'v3/pay/transactions/h5', asked)
      const page = `${data.h5_url}&redirect_url=${encodeURIComponent(back)}`
      const paid = await fetch(page, { method: 'POST', body, redirect: 'manual' })
      expect(paid.status).toBe(status)
      expect(paid.headers.get('location')).toBe(status === 303 ? back : null)
      const [payment] = scene.paysim.control.payments().filter(({ orderId }) => orderId === number)
      expect(payment?.transactions).toHaveLength(1)
    }
  })

  test('refund an order that was paid twice by the transaction', async () => {
    await call('post', 'v3/pay/transactions/native', { body: order('twice-0001') })
    await scene.paysim.control.pay('twice-0001')
    await scene.paysim.control.pay('twice-0001', { payer: 'Alex Smith' })
    const { transaction_id, payer } = content(last(scene.notified))
    const refund = {
      transaction_id,
      out_refund_no: 'twice-r1',
      amount: { refund: 100, total: 100 },
    }
    const { data } = await call('post', 'v3/refund/domestic/refunds', { body: refund })
    expect(data).toMatchObject({ transaction_id, user_received_account: payer.openid })
    const { mchid } = scene.paysim.merchant.wechatpay
    const first = await call('get', `v3/pay/transactions/out-trade-no/twice-0001?mchid=${mchid}`)
    expect(first.data.trade_state).toBe('SUCCESS')
    const second = await call('get', `v3/pay/transactions/id/${transaction_id}?mchid=${mchid}`)
    expect(second.data.trade_state).toBe('REFUND')
  })

  test.each([
    ['no amount', { amount: {} }, 'amount.total'],
    ['a fraction', { amount: { total: 1.5 } }, 'amount.total'],
    ['an amount below nothing', { amount: { total: -1 } }, 'amount.total'],
    ['another currency', { amount: { total: 1, currency: 'USD' } }, 'amount.currency'],
    ['a number too short', { out_trade_no: 'a' }, 'out_trade_no'],
    ['an end in the past', { time_expire: '2020-01-01T00:00:00+08:00' }, 'time_expire'],
  ])('are refused with %s, naming the field', async (_, more, field) => {
    const body = order('wrong-0001', scene, more)
    const refused = call('post', 'v3/pay/transactions/native', { body })
    await expect(refused).rejects.toMatchObject({
      response: { status: 400, data: { code: 'PARAM_ERROR', detail: { field } } },
    })
  })

  test('are refused when a byte of the body is changed on the way', async () => {
    const { mchid, serial, privateKey, baseUrl } = scene.paysim.merchant.wechatpay
    const path = '/paysim/v3/pay/transactions/native'
    const body = JSON.stringify(order('changed-01'))
    const [time, nonce] = [Formatter.timestamp(), Formatter.nonce()]
    const signature = Rsa.sign(
      Formatter.request('POST', path, time, nonce, body),
      Rsa.from(privateKey, Rsa.KEY_TYPE_PRIVATE),
    )
    const send = (text: string, at = time) =>
      fetch(`${baseUrl}/v3/pay/transactions/native`, {
        method: 'POST',
        headers: { authorization: Formatter.authorization(mchid, nonce, signature, at, serial) },
        body: text,
      })
    expect((await send(body.replace('100%', '101%'))).status).toBe(401)
    expect((await send(body, time + 1)).status).toBe(401)
    expect((await send(body)).status).toBe(200)
    expect(scene.paysim.control.received().map(({ status }) => status)).toContain(401)
  })
})

describe('notifications', () => {
  const key = () => scene.paysim.merchant.wechatpay.publicKey ?? ''

  test('are verified and opened by the library; one changed byte is not', async () => {
    await call('post', 'v3/pay/transactions/native', { body: order('notify-001') })
    await scene.paysim.control.pay('notify-001', { payer: 'Li Wei' })
    const notified = last(scene.notified)
    expect(verified(notified, key())).toBe(true)
    const changed = { ...notified, body: notified.body.replace('SUCCESS', 'SUCCESs') }
    expect(verified(changed, key())).toBe(false)
    expect(content(notified)).toMatchObject({
      out_trade_no: 'notify-001',
      trade_state: 'SUCCESS',
      amount: { total: 100 },
      payer: { openid: expect.stringMatching(/^o/) },
    })
    const { resource } = JSON.parse(notified.body)
    const turned = { ...resource, ciphertext: `A${resource.ciphertext.slice(1)}` }
    const other = turned.ciphertext === resource.ciphertext ? { ...resource, nonce: '0' } : turned
    expect(() => opened(other)).toThrow()
  })

  test('come again on the schedule of the provider until one is acknowledged', async () => {
    const at = await startPaysim()
    await call('post', 'v3/pay/transactions/native', { scene: at, body: order('retried-01', at) })
    let refusals = 3
    at.merchantAnswers = () => new Response('', { status: refusals-- > 0 ? 500 : 204 })
    await at.paysim.control.pay('retried-01')
    const attempts = () => at.paysim.control.deliveries()
    for (const [done, waitMs] of [15_000, 15_000, 30_000].entries()) {
      at.clock.advance(waitMs - 1)
      expect(attempts()).toHaveLength(done + 1)
      at.clock.advance(1)
      await eventually(() => attempts()[done + 1])
    }
    expect(attempts().map(({ outcome }) => outcome)).toEqual([
      'refused',
      'refused',
      'refused',
      'acknowledged',
    ])
    at.clock.advance(24 * 3_600_000)
    expect(attempts()).toHaveLength(4)
    await at.stop()
  })

  test('forged, or a SIGNTEST probe, are refused by the library', async () => {
    scene.merchantAnswers = (one) => new Response('', { status: verified(one, key()) ? 204 : 401 })
    for (const [number, flaws] of [
      ['forged-001', { forged: true }],
      ['probed-001', { signTest: true }],
    ] as const) {
      await call('post', 'v3/pay/transactions/native', { body: order(number) })
      scene.paysim.control.misbehave(flaws)
      await scene.paysim.control.pay(number)
    }
    const outcomes = scene.paysim.control
      .deliveries()
      .filter(({ orderId }) => /^(forged|probed)/.test(orderId))
      .map(({ outcome }) => outcome)
    expect(outcomes).toEqual(['refused', 'refused', 'acknowledged'])
  })
})

describe('platform certificates', () => {
  async function listed(): Promise<Record<string, string>> {
    const { data } = await (await signedGet(certified, '/v3/certificates')).json()
    return Object.fromEntries(
      data.map((one: { serial_no: string; encrypt_certificate: Resource }) => [
        one.serial_no,
        opened(one.encrypt_certificate, certified),
      ]),
    )
  }

  test('are real, and the library verifies with them; after a rotation with both', async () => {
    const before = await listed()
    const [[serial = '', pem = ''] = []] = Object.entries(before)
    const certificate = new X509Certificate(pem)
    expect(certificate.serialNumber).toBe(serial)
    expect(certificate.verify(certificate.publicKey)).toBe(true)
    expect(Date.parse(certificate.validTo)).toBeGreaterThan(Date.now())
    await call('post', 'v3/pay/transactions/native', {
      scene: certified,
      body: order('certified-1', certified),
      certificates: before,
    })
    await certified.paysim.control.rotate()
    const after = await listed()
    expect(Object.keys(after)).toHaveLength(2)
    expect(after[serial]).toBe(pem)
    const body = order('certified-2', certified)
    const path = 'v3/pay/transactions/native'
    const old = call('post', path, { scene: certified, body, certificates: before })
    await expect(old).rejects.toMatchObject({ code: 'EV3_RES_HEADER_PLATFORM_SERIAL' })
    const both = await call('post', path, { scene: certified, body, certificates: after })
    expect(both.status).toBe(200)
  })

  test('that have ended sign when asked to, and say so', async () => {
    certified.paysim.control.misbehave({ expiredCertificate: true })
    await certified.paysim.control.pay('certified-1')
    const notified = last(certified.notified)
    const pem = (await listed())[notified.headers.get('wechatpay-serial') ?? ''] ?? ''
    expect(verified(notified, pem)).toBe(true)
    expect(Date.parse(new X509Certificate(pem).validTo)).toBeLessThan(Date.now())
  })

  test('are not to be had with the public key', async () => {
    const refused = call('get', 'v3/certificates')
    await expect(refused).rejects.toMatchObject({
      response: { data: { code: 'RESOURCE_NOT_EXISTS' } },
    })
  })
})

interface Bill {
  readonly rows: readonly Record<string, string>[]
  readonly summary: Record<string, string>
}

test('the bill of a day that is over lists what was paid and refunded', async () => {
  const at = await startPaysim({ base: '/paysim' })
  await call('post', 'v3/pay/transactions/native', { scene: at, body: order('billed-001', at) })
  await at.paysim.control.pay('billed-001')
  const refund = {
    out_trade_no: 'billed-001',
    out_refund_no: 'r-1',
    amount: { refund: 30, total: 100 },
  }
  await call('post', 'v3/refund/domestic/refunds', { scene: at, body: refund })
  const day = new Date(at.clock.now() + 8 * 3_600_000).toISOString().slice(0, 10)
  const path = `/v3/bill/tradebill?bill_date=${day}&tar_type=GZIP`
  expect((await signedGet(at, path)).status).toBe(400)
  at.clock.advance(24 * 3_600_000)
  const read = async () => {
    const offer = await (await signedGet(at, path)).json()
    const { pathname, search } = new URL(offer.download_url)
    const file = await signedGet(at, `${pathname.replace('/paysim', '')}${search}`)
    const text = gunzipSync(await file.arrayBuffer())
    expect(createHash('sha1').update(text).digest('hex')).toBe(offer.hash_value)
    const bill: Bill = { rows: [], summary: {}, ...Formatter.castCsvBill(text) }
    return bill
  }
  const { rows, summary } = await read()
  expect(rows).toMatchObject([
    { 商户订单号: 'billed-001', 交易状态: 'SUCCESS', 订单金额: '1.00' },
    { 商户订单号: 'billed-001', 交易状态: 'REFUND', 申请退款金额: '0.30', 商户退款单号: 'r-1' },
  ])
  expect(summary).toMatchObject({ 总交易单数: '2', 订单总金额: '1.00', 退款总金额: '0.30' })
  for (const [bill, amounts] of [
    ['missing', ['0.00']],
    ['amount', ['1.01', '0.00']],
    ['unknown', ['1.00', '1.00', '0.00']],
  ] as const) {
    at.paysim.control.misbehave({ bill })
    expect((await read()).rows.map((row) => row['订单金额'])).toEqual([...amounts])
  }
  await at.stop()
})
