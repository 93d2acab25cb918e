// Tests that each configuration in the operators' guides to providers is accepted and can receive a payment.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { loadConfiguration } from '../../src/admin/configuration.ts'
import { createPayments } from '../../src/payments/payments.ts'
import { makeDirectory } from '../contract/databases.ts'
import { type ControlStage, controlStage } from '../support/control.ts'
import { apiV3Key, merchantKeys, providerKeys } from './providers.ts'

const root = join(import.meta.dir, '..', '..')
const guides = ['alipay', 'wechatpay', 'stripe'] as const
const env = {
  ALIPAY_PUBLIC_KEY: providerKeys.publicKey.replace(/-----[^-]+-----|\s/g, ''),
  WECHATPAY_V3_KEY: apiV3Key,
  WECHATPAY_MP_SECRET: 'example',
  STRIPE_KEY: 'sk_live_example',
  STRIPE_WEBHOOK: 'whsec_example',
}
const directory = makeDirectory()
let stage: ControlStage

beforeAll(async () => {
  stage = await controlStage()
  await Bun.write(join(directory.path, 'alipay.pem'), merchantKeys.privateKey)
  await Bun.write(join(directory.path, 'apiclient_key.pem'), merchantKeys.privateKey)
  await Bun.write(join(directory.path, 'pub_key.pem'), providerKeys.publicKey)
})
afterAll(async () => {
  await stage.close()
  directory.remove()
})

test.each(guides)('every configuration of the guide to %s is taken, and opens', async (name) => {
  const guide = await Bun.file(join(root, 'docs', `payments-${name}.md`)).text()
  const snippets = [...guide.matchAll(/^```yaml\n([\s\S]*?)^```/gm)].map(([, yaml = '']) => yaml)
  expect(snippets).toHaveLength(2)
  for (const yaml of snippets) {
    const config = join(directory.path, 'tollgate.yaml')
    await Bun.write(config, yaml)
    const flags = { config, data: directory.path }
    const { payments: settings, currency, server } = await loadConfiguration({ flags, env })
    expect(server.publicUrl).toStartWith('https://')
    const payments = createPayments({
      store: stage.store,
      settings,
      currency,
      mode: 'live',
      send: () => Promise.reject(new Error('nobody is asked')),
      onProblem: () => undefined,
    })
    const offered = await payments.offered()
    expect(offered.map((each) => each.name)).toEqual([name])
    for (const method of offered[0]?.provider.methods ?? [])
      if (name !== 'stripe') expect(guide).toContain(`| \`${method}\` |`)
  }
})

test.each(guides)('what the guide to %s says is refused is what the gateway says', async (name) => {
  const guide = await Bun.file(join(root, 'docs', `payments-${name}.md`)).text()
  const files = ['payments', name, 'provider', 'keys'].map((file) => `src/payments/${file}.ts`)
  const source = (await Promise.all(files.map((file) => Bun.file(join(root, file)).text()))).join()
  const rows = guide.split('\n').filter((line) => line.startsWith('| last one refused:'))
  const said = rows.flatMap((row) => [...(row.split('|')[1] ?? '').matchAll(/`([^`]+)`/g)])
  expect(said.length).toBeGreaterThanOrEqual(3)
  for (const [, text = ''] of said) expect(source).toContain(text)
})
