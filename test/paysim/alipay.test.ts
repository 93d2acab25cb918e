// Tests that the simulator's Alipay and the library alipay-sdk accept each other's signatures.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { inflateRawSync } from 'node:zlib'
import { AlipaySdk } from 'alipay-sdk'
import { eventually } from '../support/clients.ts'
import { last, type Notified, type PaysimScene, startPaysim } from '../support/paysim.ts'

const notifyUrl = 'https://merchant.example/notify'
const returnUrl = 'https://merchant.example/back?order=1'
let scene: PaysimScene
let sdk: AlipaySdk

beforeAll(async () => {
  scene = await startPaysim({ base: '/paysim' })
  sdk = libraryOf(scene)
})
afterAll(() => scene.stop())

function libraryOf({ paysim }: PaysimScene): AlipaySdk {
  const { sellerId: _, ...config } = paysim.merchant.alipay
  return new AlipaySdk({ ...config, keyType: 'PKCS8' })
}

/** The library signs the request and verifies the reply. */
function call(method: string, bizContent: object, by = sdk) {
  return by.exec(method, { notify_url: notifyUrl, bizContent }, { validateSign: true })
}

function order(number: string, more: object = {}) {
  return { out_trade_no: number, total_amount: '1.00', subject: 'Top up 100% & more', ...more }
}

function fieldsOf({ body }: Notified): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(body))
}

describe('requests of the library', () => {
  test('are accepted, and its replies verified: a QR order paid, queried and refunded', async () => {
    const made = await call('alipay.trade.precreate', order('qr_1'))
    expect(made).toMatchObject({ code: '10000', outTradeNo: 'qr_1' })
    expect(made['qrCode']).toStartWith(`${scene.baseUrl}/pay/alipay/`)
    const before = await call('alipay.trade.query', { out_trade_no: 'qr_1' })
    expect(before).toMatchObject({ code: '40004', subCode: 'ACQ.TRADE_NOT_EXIST' })
    await fetch(made['qrCode'])
    const opened = await call('alipay.trade.query', { out_trade_no: 'qr_1' })
    expect(opened).toMatchObject({ code: '10000', tradeStatus: 'WAIT_BUYER_PAY' })
    await scene.paysim.control.pay('qr_1', { payer: 'Li Wei' })
    const paid = await call('alipay.trade.query', { trade_no: opened['tradeNo'] })
    expect(paid).toMatchObject({ tradeStatus: 'TRADE_SUCCESS', totalAmount: '1.00' })

    const refund = { out_trade_no: 'qr_1', refund_amount: '0.40', out_request_no: 'r1' }
    const first = await call('alipay.trade.refund', refund)
    expect(first).toMatchObject({ fundChange: 'Y', refundFee: '0.40' })
    expect(await call('alipay.trade.refund', refund)).toMatchObject({ fundChange: 'N' })
    const other = await call('alipay.trade.refund', { ...refund, refund_amount: '0.41' })
    expect(other).toMatchObject({ subCode: 'ACQ.DISCORDANT_REPEAT_REQUEST' })
    const tooMuch = { ...refund, out_request_no: 'r2', refund_amount: '0.61' }
    expect(await call('alipay.trade.refund', tooMuch)).toMatchObject({
      subCode: 'ACQ.REFUND_AMT_NOT_EQUAL_TOTAL',
    })
    const asked = { out_trade_no: 'qr_1', out_request_no: 'r1' }
    const found = await call('alipay.trade.fastpay.refund.query', asked)
    expect(found).toMatchObject({ refundStatus: 'REFUND_SUCCESS', refundAmount: '0.40' })
    const none = await call('alipay.trade.fastpay.refund.query', { ...asked, out_request_no: 'r9' })
    expect(none['code']).toBe('10000')
    expect(none['refundStatus']).toBeUndefined()
    const rest = { ...refund, out_request_no: 'r3', refund_amount: '0.60' }
    expect(await call('alipay.trade.refund', rest)).toMatchObject({ refundFee: '1.00' })
    const closed = await call('alipay.trade.query', { out_trade_no: 'qr_1' })
    expect(closed['tradeStatus']).toBe('TRADE_CLOSED')
  })

  test.each([
    ['no amount', { total_amount: undefined }, 'total_amount'],
    ['three places', { total_amount: '1.001' }, 'total_amount'],
    ['an exponent', { total_amount: '1e2' }, 'total_amount'],
    ['an amount of nothing', { total_amount: '0.00' }, 'total_amount'],
    ['a span that is none', { timeout_express: '0m' }, 'timeout_express'],
    ['an end in the past', { time_expire: '2020-01-01 00:00:00' }, 'time_expire'],
  ])('are refused with %s, naming the field', async (_, more, field) => {
    const refused = await call('alipay.trade.precreate', order('wrong_1', more))
    expect(refused).toMatchObject({ subCode: 'ACQ.INVALID_PARAMETER' })
    expect(refused['subMsg']).toContain(field)
  })

  test('send a browser to the pay page; with one byte changed they are refused', async () => {
    const address = sdk.pageExecute('alipay.trade.page.pay', 'GET', {
      notify_url: notifyUrl,
      return_url: returnUrl,
      bizContent: order('page_1', { product_code: 'FAST_INSTANT_TRADE_PAY' }),
    })
    const changed = address.replace('1.00', '9.00')
    expect(changed).not.toBe(address)
    const refused = await fetch(changed, { redirect: 'manual' })
    expect(refused.status).toBe(400)
    expect(await refused.text()).toStartWith('isv.invalid-signature')
    const sent = await fetch(address, { redirect: 'manual' })
    expect(sent.status).toBe(302)
    const pay = new URLSearchParams({ action: 'pay', payer: 'Zhang Min' })
    const page = sent.headers.get('location') ?? ''
    const paid = await fetch(page, { method: 'POST', body: pay, redirect: 'manual' })
    expect(paid.status).toBe(303)
    const back = new URL(paid.headers.get('location') ?? '')
    expect(back.href).toStartWith(returnUrl)
    const { order: _, ...signed } = Object.fromEntries(back.searchParams)
    expect(sdk.checkNotifySignV2(signed)).toBe(true)
    expect(sdk.checkNotifySignV2({ ...signed, total_amount: '9.00' })).toBe(false)
    expect(signed).toMatchObject({ out_trade_no: 'page_1', total_amount: '1.00' })
  })

  test('are refused in the words of the provider where app, method or order are wrong', async () => {
    const stranger = new AlipaySdk({
      ...scene.paysim.merchant.alipay,
      appId: '2021999999999999',
      keyType: 'PKCS8',
    })
    const query = { out_trade_no: 'qr_1' }
    expect(await call('alipay.trade.query', query, stranger)).toMatchObject({
      subCode: 'isv.invalid-app-id',
    })
    for (const name of ['alipay.trade.guess', 'constructor']) {
      const unknown = await sdk.exec(name, { bizContent: query })
      expect(unknown).toMatchObject({ subCode: 'isv.invalid-method' })
    }
    await call('alipay.trade.precreate', order('same_1'))
    expect(await call('alipay.trade.precreate', order('same_1'))).toMatchObject({ code: '10000' })
    const other = order('same_1', { total_amount: '2.00' })
    expect(await call('alipay.trade.precreate', other)).toMatchObject({
      subCode: 'ACQ.CONTEXT_INCONSISTENT',
    })
    const [made] = scene.paysim.control.payments().filter(({ orderId }) => orderId === 'same_1')
    await fetch(`${scene.baseUrl}/pay/alipay/${made?.id}`)
    expect(await call('alipay.trade.close', { out_trade_no: 'same_1' })).toMatchObject({
      code: '10000',
    })
    expect(await call('alipay.trade.precreate', order('same_1'))).toMatchObject({
      subCode: 'ACQ.TRADE_HAS_CLOSE',
    })
  })
})

describe('notifications', () => {
  test('are verified by the library, field for field', async () => {
    await call('alipay.trade.precreate', order('told_1', { passback_params: 'a%20b' }))
    await scene.paysim.control.pay('told_1')
    const fields = fieldsOf(last(scene.notified))
    const { appId, sellerId } = scene.paysim.merchant.alipay
    expect(fields).toMatchObject({
      app_id: appId,
      seller_id: sellerId,
      out_trade_no: 'told_1',
      total_amount: '1.00',
      trade_status: 'TRADE_SUCCESS',
      sign_type: 'RSA2',
      subject: 'Top up 100% & more',
      passback_params: 'a%20b',
    })
    expect(sdk.checkNotifySignV2(fields)).toBe(true)
    for (const name of ['total_amount', 'out_trade_no', 'seller_id', 'trade_status', 'buyer_id']) {
      expect(sdk.checkNotifySignV2({ ...fields, [name]: `${fields[name]}0` })).toBe(false)
    }
  })

  test('of a second transaction are told, and it is queried and refunded by its number', async () => {
    await call('alipay.trade.precreate', order('double_1'))
    await scene.paysim.control.pay('double_1')
    await scene.paysim.control.pay('double_1', { payer: 'Alex Smith', amountMinor: 50 })
    const { trade_no = '' } = fieldsOf(last(scene.notified))
    const found = await call('alipay.trade.query', { trade_no })
    expect(found).toMatchObject({ tradeNo: trade_no, totalAmount: '0.50' })
    const refund = { trade_no, out_request_no: 'd1', refund_amount: '0.51' }
    expect(await call('alipay.trade.refund', refund)).toMatchObject({
      subCode: 'ACQ.REFUND_AMT_NOT_EQUAL_TOTAL',
    })
    const whole = await call('alipay.trade.refund', { ...refund, refund_amount: '0.50' })
    expect(whole).toMatchObject({ tradeNo: trade_no, refundFee: '0.50', fundChange: 'Y' })
    const first = await call('alipay.trade.query', { out_trade_no: 'double_1' })
    expect(first).toMatchObject({ tradeStatus: 'TRADE_SUCCESS', totalAmount: '1.00' })
  })

  test('that are signed with SHA-1 or another key are what they say', async () => {
    await call('alipay.trade.precreate', order('sha1_1'))
    scene.paysim.control.misbehave({ signType: 'RSA' })
    await scene.paysim.control.pay('sha1_1')
    const weak = fieldsOf(last(scene.notified))
    expect(weak['sign_type']).toBe('RSA')
    expect(sdk.checkNotifySignV2(weak)).toBe(true)
    expect(sdk.checkNotifySignV2({ ...weak, sign_type: 'RSA2' })).toBe(false)
    await call('alipay.trade.precreate', order('forged_1'))
    scene.paysim.control.misbehave({ forged: true })
    await scene.paysim.control.pay('forged_1')
    expect(sdk.checkNotifySignV2(fieldsOf(last(scene.notified)))).toBe(false)
  })

  test('come again until the answer is success and nothing else', async () => {
    const at = await startPaysim()
    await call('alipay.trade.precreate', order('again_1'), libraryOf(at))
    const answers = ['success\n', 'SUCCESS', '{"code":"success"}', 'success']
    at.merchantAnswers = () => new Response(answers.shift())
    await at.paysim.control.pay('again_1')
    const minutes = [4, 10, 10]
    for (const [done, count] of minutes.entries()) {
      at.clock.advance(count * 60_000 - 1)
      expect(at.paysim.control.deliveries()).toHaveLength(done + 1)
      at.clock.advance(1)
      await eventually(() => at.paysim.control.deliveries()[done + 1])
    }
    at.clock.advance(30 * 3_600_000)
    const outcomes = at.paysim.control.deliveries().map(({ outcome }) => outcome)
    expect(outcomes).toEqual(['refused', 'refused', 'refused', 'acknowledged'])
    await at.stop()
  })
})

test('the bill of a day that is over is an archive of two files in GBK', async () => {
  const at = await startPaysim()
  const library = libraryOf(at)
  await call('alipay.trade.precreate', order('billed_1'), library)
  await at.paysim.control.pay('billed_1')
  const day = new Date(at.clock.now() + 8 * 3_600_000).toISOString().slice(0, 10)
  const asked = { bill_type: 'trade', bill_date: day }
  const method = 'alipay.data.dataservice.bill.downloadurl.query'
  expect(await call(method, asked, library)).toMatchObject({ subCode: 'isp.bill_not_exist' })
  at.clock.advance(24 * 3_600_000)
  const time = new Date(at.clock.now() + 8 * 3_600_000).toISOString()
  const timestamp = time.slice(0, 19).replace('T', ' ')
  const { billDownloadUrl } = await library.exec(method, { timestamp, bizContent: asked })
  const files = unzipped(Buffer.from(await (await fetch(billDownloadUrl)).arrayBuffer()))
  expect([...files.keys()].map((name) => name.replace(/^.*_/, ''))).toEqual([
    '业务明细.csv',
    '业务明细(汇总).csv',
  ])
  const [details = ''] = files.values()
  expect(details).toContain('billed_1\t')
  expect(details).toContain('#交易合计：1笔，商家实收共1.00元')
  await at.stop()
})

/** By the archive's directory, as programs read it. */
function unzipped(archive: Buffer): Map<string, string> {
  const gbk = new TextDecoder('gbk')
  const end = archive.lastIndexOf(Buffer.from('PK\x05\x06'))
  let at = archive.readUInt32LE(end + 16)
  const files = new Map<string, string>()
  for (let count = archive.readUInt16LE(end + 10); count > 0; count -= 1) {
    const [size, length] = [archive.readUInt32LE(at + 20), archive.readUInt16LE(at + 28)]
    const name = gbk.decode(archive.subarray(at + 46, at + 46 + length))
    const local = archive.readUInt32LE(at + 42)
    const start = local + 30 + archive.readUInt16LE(local + 26)
    const bytes = archive.subarray(start, start + size)
    const packed = archive.readUInt16LE(at + 10) === 8
    files.set(name, gbk.decode(packed ? inflateRawSync(bytes) : bytes))
    at += 46 + length
  }
  return files
}
