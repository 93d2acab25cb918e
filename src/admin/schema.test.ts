// Tests inputs of use cases: an error names the field that is wrong, and nothing is read from the store before it.

import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { Glob } from 'bun'
import { readInput } from './input.ts'
import type { InputName } from './schema.ts'
import { AdminError } from './use-case.ts'

const key = { account: 'ann', group: 'default', name: 'laptop' }
const adjust = { account: 'ann', amount: '1', direction: 'credit', reason: 'a gift' }
const prices = { model: 'o3', prices: { input: '1' }, source: 'a contract' }
const nameExpected =
  'expected 1 to 128 characters, none of them a control character, no blank at the ends'

const wrong: [InputName, Record<string, unknown>, field: string, message: string][] = [
  ['createKey', { group: 'g', name: 'n' }, 'account', 'is missing'],
  ['createKey', { ...key, account: 7 }, 'account', 'expected string'],
  ['createKey', { ...key, name: '' }, 'name', nameExpected],
  ['createKey', { ...key, name: ' n' }, 'name', nameExpected],
  ['createKey', { ...key, name: 'a\u0007b' }, 'name', nameExpected],
  ['createKey', { ...key, name: 'n'.repeat(129) }, 'name', nameExpected],
  ['createKey', { ...key, name: 'a\u200Db' }, 'name', nameExpected],
  ['createKey', { ...key, name: '\u{1F469}\u200D' }, 'name', nameExpected],
  ['createKey', { ...key, name: '\u200D\u{1F4BB}' }, 'name', nameExpected],
  ['createKey', { ...key, name: '\u{1F469}\u200D\u200D\u{1F4BB}' }, 'name', nameExpected],
  ['createKey', { ...key, name: '\u{1F469}\u200B\u{1F4BB}' }, 'name', nameExpected],
  ['createKey', { ...key, name: 'a\u202Eb' }, 'name', nameExpected],
  ['createKey', { ...key, expires: 1 }, 'expires', 'is not known here'],
  ['createKey', { ...key, expiresAt: '2020-01-01' }, 'expiresAt', 'is in the past'],
  [
    'createKey',
    { ...key, expiresAt: '2099-02-31' },
    'expiresAt',
    'expected a time such as 2027-01-31T08:00:00Z',
  ],
  ['createKey', { ...key, models: ['a', ''] }, 'models[1]', 'must not be empty'],
  ['createKey', { ...key, models: [] }, 'models', 'must not be empty'],
  [
    'createKey',
    { ...key, requestsPerMinute: 1.5 },
    'requestsPerMinute',
    'expected a whole number from 1 to 1000000000000',
  ],
  [
    'createKey',
    { ...key, tokensPerMinute: '60' },
    'tokensPerMinute',
    'expected a whole number from 1 to 1000000000000',
  ],
  ...['0', '-1', '1e3', '1,5', '0.0000000001', 'x'].map((amount): (typeof wrong)[number] => [
    'adjustBalance',
    { ...adjust, amount },
    'amount',
    'expected a decimal above 0 with at most nine places, such as 12.50',
  ]),
  ...['9223372037', '9223372036.854775808', '99999999999999999999.5'].map(
    (amount): (typeof wrong)[number] => [
      'adjustBalance',
      { ...adjust, amount },
      'amount',
      'expected at most 9223372036.854775807',
    ],
  ),
  ['adjustBalance', { ...adjust, amount: 5 }, 'amount', 'expected string'],
  ['adjustBalance', { ...adjust, reason: ' ' }, 'reason', 'must not be empty'],
  ['adjustBalance', { ...adjust, direction: undefined }, 'direction', 'is missing'],
  ['adjustBalance', { ...adjust, direction: 'up' }, 'direction', 'expected one of credit, debit'],
  ['listUsage', { limit: 0 }, 'limit', 'expected a whole number from 1 to 5000'],
  ['listUsage', { limit: 1_000_000 }, 'limit', 'expected a whole number from 1 to 5000'],
  [
    'listUsage',
    { since: 'yesterday' },
    'since',
    'expected 1h, 2d or a time such as 2027-01-31T08:00:00Z',
  ],
  [
    'setPrices',
    { ...prices, prices: { inputs: '1' } },
    'prices',
    'inputs: unknown price; did you mean input?',
  ],
  ['setPrices', { ...prices, prices: {} }, 'prices', 'expected at least one'],
  [
    'setPrices',
    { ...prices, model: 'o*' },
    'model',
    'names that begin alike are priced in the configuration file',
  ],
  [
    'importPrices',
    { document: '{}', model: '*x' },
    'model',
    'expected a name, or a prefix followed by *',
  ],
]

test.each(wrong)('%s of %j: %s %s', async (name, given, field, message) => {
  const refused = await readInput(name, given).catch((error: unknown) => error)
  if (!(refused instanceof AdminError)) throw new Error('it was taken')
  expect([refused.refusal, refused.field, refused.message]).toEqual(['invalid', field, message])
})

test('what is right becomes what a use case works with', async () => {
  expect(await readInput('createKey', { ...key, expiresAt: '2099-01-01T00:00:00+02:00' })).toEqual({
    ...key,
    expiresAt: Date.UTC(2098, 11, 31, 22),
    showCost: false,
  })
  const name =
    '\u{1F469}\u{1F3FD}\u200D\u{1F4BB} \u{1F468}\u200D\u{1F469}\u200D\u{1F467} \u{1F3F3}\uFE0F\u200D\u{1F308}'
  expect(await readInput('createKey', { ...key, name })).toMatchObject({ name })
  expect(await readInput('adjustBalance', { ...adjust, amount: '12.5' })).toEqual({
    ...adjust,
    direction: 'credit',
    amount: 12_500_000_000n,
    createAccount: false,
  })
  const before = Date.now()
  const { since, limit } = await readInput('listUsage', { since: '1h' })
  expect(since).toBeWithin(before - 3_600_000, Date.now() - 3_600_000 + 1)
  expect(limit).toBe(100)
})

test('neither the server nor a use case loads the schema library before there is input', () => {
  const rooms = [...new Glob('*.ts').scanSync(import.meta.dir)]
    .filter((name) => !name.endsWith('.test.ts') && !name.startsWith('schema'))
    .map((name) => join(import.meta.dir, name))
  const files = [join(import.meta.dir, '../main.ts'), ...rooms]
  const script = `
    for (const file of ${JSON.stringify(files)}) await import(file)
    console.log(JSON.stringify(Object.keys(require.cache)))`
  const { stdout } = Bun.spawnSync([process.execPath, '-e', script])
  const loaded: string[] = JSON.parse(stdout.toString())
  expect(loaded).toEqual(expect.arrayContaining(files))
  expect(loaded.filter((path) => /node_modules\/(zod|yaml)\//.test(path))).toEqual([])
})
