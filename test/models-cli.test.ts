// Tests `tollgate model`, `what-if` and `settings` as an operator uses them.

import { expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { shippedPrices } from '../src/catalog/shipped-prices.ts'
import { ensurePrices } from '../src/meter/ensure-prices.ts'
import { append, usageRow } from './contract/store.ts'
import { useCli } from './support/cli.ts'

const cli = useCli()

async function begun(): Promise<void> {
  await cli.withStore(async (store) => {
    await ensurePrices(store.prices, {}, shippedPrices('USD'), 1)
    await store.accounts.ensure('ann', 1)
    await append(store, [usageRow({ at: Date.now() - 1_000, modelAsked: 'sandbox/chat' })])
  })
}

test('models are listed and shown, and past requests priced anew', async () => {
  await begun()
  const listed = await cli.json('model', 'list', '--kind', 'chat', '--sort', 'price')
  expect(listed.map(({ id }: { id: string }) => id)).toEqual(['sandbox/chat', 'sandbox/reasoning'])
  expect(await cli.json('model', 'show', 'sandbox/chat')).toMatchObject({
    tools: true,
    group: 'default',
  })
  const shown = await cli.run(['model', 'show', 'sandbox/chat', '--data', cli.data])
  expect(shown.out).toContain('  last day  fewer than 30 requests\n')
  const found = await cli.json('what-if', '--account', 'ann', '--days', '1')
  expect(found).toMatchObject({ exact: true, total: { requests: 1, thenNano: '0' }, unpriced: [] })
  for (const [args, exit, message] of [
    [
      ['model', 'list', '--sort', 'fast'],
      2,
      'tollgate: --sort fast: expected one of name, price, outputPrice, newest, latency, throughput',
    ],
    [
      ['model', 'list', '--context', 'x'],
      2,
      'tollgate: --context x: expected a whole number from 1 to 1000000000',
    ],
    [['model', 'show', 'nope'], 1, 'tollgate: there is no model "nope" in default'],
    [['what-if', '--days', '0'], 2, 'tollgate: --days 0: expected a whole number from 1 to 90'],
  ] as const) {
    const { code, out, err } = await cli.run([...args, '--data', cli.data])
    expect([code, out, err.trim()]).toEqual([exit, '', message])
  }
})

test('settings are set and taken back, and those of the file are left to it', async () => {
  await begun()
  const file = join(cli.scratch, 'settings.yaml')
  writeFileSync(file, `data: ${cli.data}\nidentity: { signUp: closed }\n`)
  expect(await cli.json('settings', 'set', 'history.keepDays', '7')).toMatchObject({ value: 7 })
  const notice = { severity: 'info', text: { en: 'Hello.' }, from: null, until: null }
  expect(await cli.json('settings', 'set', 'notices', '[{"text":{"en":"Hello."}}]')).toMatchObject({
    value: [notice],
  })
  const wrong = ['settings', 'set', 'notices', '[{"severity":"bad"}]', '--data', cli.data]
  expect((await cli.run(wrong)).err).toContain('VALUE[0].severity: expected one of')
  const refused = await cli.run(['settings', 'set', 'identity.signUp', 'open', '--config', file])
  expect([refused.code, refused.err.trim()]).toEqual([
    1,
    'tollgate: identity.signUp is set in the configuration file: change it there',
  ])
  const { out } = await cli.run(['settings', 'list', '--config', file])
  expect(out).toMatch(/identity\.signUp +closed +configuration file +-\n/)
  expect(out).toMatch(/history\.keepDays +7 +set +\d{4}-/)
  expect(await cli.json('settings', 'unset', 'history.keepDays')).toMatchObject({
    value: 30,
    revision: 0,
  })
})
