// A deployment whose customers pay at the simulator in a browser, with the simulator at a separate address like real
// providers.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { makeDirectory } from '../contract/databases.ts'
import { type ConsoleStage, startConsole } from './console.ts'
import { type PaysimScene, startPaysim } from './paysim.ts'

export interface TopUpStage {
  readonly simulator: PaysimScene
  readonly stage: ConsoleStage
  /** The balance of the account `default`, in nano-units. */
  available(): Promise<bigint>
  close(): Promise<void>
}

/** `payments`: added to that section. */
export async function startTopUp(payments: object = {}): Promise<TopUpStage> {
  const directory = makeDirectory()
  const simulator = await startPaysim({
    stripeWebhookUrl: 'http://gateway.test/api/payments/stripe/notify',
    send: (request) => fetch(new URL(new URL(request.url).pathname, stage.server.url), request),
  })
  const config = join(directory.path, 'config.json')
  const bonus = { firstTopUp: { percent: '10' } }
  const section = { ...simulator.paysim.merchant, bonus, ...payments }
  writeFileSync(config, JSON.stringify({ currency: 'CNY', payments: section }))
  const stage = await startConsole({ words: ['--config', config] })
  return {
    simulator,
    stage,
    async available() {
      const run = Bun.spawn(
        ['bin/tollgate', 'balance', 'default', '--json', '--data', stage.server.dataDir],
        { stdout: 'pipe' },
      )
      return BigInt(JSON.parse(await new Response(run.stdout).text()).availableNano)
    },
    async close() {
      await stage.close()
      await simulator.stop()
      directory.remove()
    },
  }
}

const chinese: Readonly<Record<string, string>> = {
  Alipay: '支付宝',
  'WeChat Pay': '微信支付',
  'Card (Stripe)': '银行卡 (Stripe)',
}

/** Chooses the provider and presses the button: returns the order's number, on its own page. */
export async function order(page: Page, provider: string, isChinese = false): Promise<string> {
  const name = isChinese ? chinese[provider] : provider
  await page
    .getByText(name ?? '', { exact: true })
    .first()
    .click()
  const pay = isChinese ? new RegExp(`^用${name?.replace(/[()]/g, '.')}支付`) : /^Pay /
  await page.getByRole('button', { name: pay }).click()
  await page.getByRole('timer').waitFor()
  return new URL(page.url()).searchParams.get('order') ?? ''
}
