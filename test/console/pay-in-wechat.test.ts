// Tests buying credit inside WeChat's own browser: only its own payment method is offered, and the browser's script
// pays.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeDirectory } from '../contract/databases.ts'
import { eventually } from '../support/clients.ts'
import { type ConsoleStage, hasBrowser, seriousFindings, startConsole } from '../support/console.ts'
import { type PaysimScene, startPaysim } from '../support/paysim.ts'

const directory = makeDirectory()
let simulator: PaysimScene
let stage: ConsoleStage

afterAll(async () => {
  await stage?.close()
  await simulator?.stop()
  directory.remove()
})

if (hasBrowser) {
  beforeAll(async () => {
    simulator = await startPaysim({
      send: (request) => fetch(new URL(new URL(request.url).pathname, stage.server.url), request),
    })
    const config = join(directory.path, 'config.json')
    const { merchant, mp } = simulator.paysim
    const wechatpay = { ...merchant.wechatpay, mp }
    writeFileSync(config, JSON.stringify({ currency: 'CNY', payments: { wechatpay } }))
    stage = await startConsole({ words: ['--config', config] })
  })
  test.each(['en', 'zh-CN'] as const)('inside WeChat, in %s', insideWeChat)
  test('elsewhere it is not offered', async () => {
    const page = await stage.open('/billing/top-up', { width: 1440 })
    await page.getByRole('button', { name: /^Pay / }).click()
    await page.getByText('Scan it with WeChat Pay on your phone.').waitFor()
    expect(await page.getByText('Here in WeChat').count()).toBe(0)
    await page.close()
  })
}

/** The script that WeChat adds to each page it opens, a moment after it was loaded. */
const weChat = `
  Object.defineProperty(navigator, 'userAgent', { value: 'Mozilla/5.0 MicroMessenger/8.0.50' })
  addEventListener('load', () => {
    const invoke = (name, given, then) =>
      window.payInWeChat(name === 'getBrandWCPayRequest' ? given : {}).then(then)
    window.WeixinJSBridge = { invoke }
    document.dispatchEvent(new Event('WeixinJSBridgeReady'))
  })`

async function insideWeChat(language: 'en' | 'zh-CN') {
  const page = await stage.open('/billing', { width: 390, language })
  const results: string[] = []
  let cancels = true
  await page.exposeFunction('payInWeChat', async (given: object) => {
    const url = `${simulator.paysim.mp.baseUrl}/wechat-browser`
    if (cancels) return { err_msg: 'get_brand_wcpay_request:cancel' }
    const reply = await fetch(url, { method: 'POST', body: JSON.stringify(given) })
    const said = (await reply.json()) as { err_msg: string }
    results.push(said.err_msg)
    return said
  })
  await page.addInitScript(weChat)
  await page.goto(`${stage.server.url}/console/billing/top-up`)
  const words =
    language === 'en'
      ? { buy: /^Pay /, go: /^Go to /, pay: 'Pay in WeChat', nothing: 'Nothing was paid.' }
      : { buy: /^用.*支付/, go: /^前往/, pay: '微信支付', nothing: '尚未支付。' }
  await page.getByRole('button', { name: words.buy }).click()
  await page.getByRole('link', { name: words.go }).click()
  const pay = page.getByRole('button', { name: words.pay, exact: true })
  await pay.click()
  await page.getByText(words.nothing).waitFor()
  expect(await seriousFindings(page)).toEqual([])
  cancels = false
  const id = new URL(page.url()).searchParams.get('order') ?? ''
  await pay.click()
  await pay.waitFor({ state: 'detached' })
  // The notification may arrive at the page before the answer arrives here.
  await eventually(async () => results.length > 0 || undefined)
  expect(results).toEqual(['get_brand_wcpay_request:ok'])
  const [paid] = simulator.paysim.control.payments().filter(({ orderId }) => orderId === id)
  expect(paid).toMatchObject({ product: 'jsapi', transactions: [{ payer: 'Wang Fang' }] })
  expect(stage.faults()).toEqual([])
  await page.close()
}
