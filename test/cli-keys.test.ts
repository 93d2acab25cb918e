// Tests keys of both kinds on the command line: edited, rotated, shown, and made for the control API.

import { expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { hashSecret } from '../src/identity/secret.ts'
import { useCli } from './support/cli.ts'

const cli = useCli()

const create = ['key', 'create', '--account', 'ann', '--group', 'default', '--name', 'laptop']

test('a key is made narrow, changed by part, and a limit is taken away by none', async () => {
  const made = await cli.json(
    ...create,
    ...[
      '--deny',
      'gpt-5*',
      '--from',
      '10.0.0.0/8,::1',
      '--spend',
      '2.5/week',
      '--zone',
      'Asia/Tokyo',
    ],
    ...['--history', 'off', '--rpm', '6'],
  )
  expect(made).toMatchObject({
    deniedModels: ['gpt-5*'],
    addresses: ['10.0.0.0/8', '::1'],
    spendLimit: { amountNano: '2500000000', period: 'week', timeZone: 'Asia/Tokyo' },
    historyMode: 'off',
    revision: 1,
  })
  const args = ['--name', 'desk', '--deny', 'none', '--spend', '9', '--rpm', 'none']
  const changed = await cli.json('key', 'update', made.id, ...args, '--show-cost', 'yes')
  expect(changed).toMatchObject({
    name: 'desk',
    deniedModels: null,
    addresses: ['10.0.0.0/8', '::1'],
    spendLimit: { amountNano: '9000000000', period: 'never' },
    limits: { requestsPerMinute: null },
    showCost: true,
    revision: 2,
  })
  expect(await cli.json('key', 'show', made.id)).toEqual({ ...changed, requestsLastDay: 0 })
  expect(
    (await cli.json('key', 'list', '--search', 'DESK', '--sort', 'spend', '--desc')).length,
  ).toBe(1)
  expect(await cli.json('key', 'list', '--status', 'disabled')).toEqual([])
  await cli.json('key', 'disable', made.id)
  expect(await cli.json('key', 'enable', made.id)).toEqual({ id: made.id, enabled: true })
  expect((await cli.json('key', 'show', made.id)).status).toBe('active')
})

test('a rotated key has a new secret, and the one before as long as is said', async () => {
  const { id, secret } = await cli.json(...create)
  const rotated = await cli.json('key', 'rotate', id, '--overlap', '12h')
  expect(rotated.secret).not.toBe(secret)
  const leftMs = Date.parse(rotated.previousUntil) - Date.now()
  expect(leftMs).toBeGreaterThan(11 * 3_600_000)
  expect(leftMs).toBeLessThanOrEqual(12 * 3_600_000)
  const plain = await cli.run(['key', 'rotate', id, '--overlap', '0s', '--data', cli.data])
  expect(plain.err).toContain('shown only once; the previous one no longer works')
  await cli.withStore(async (store) => {
    const row = await store.keys.find(id)
    expect(row).toMatchObject({ hash: hashSecret(plain.out.trim()), previous: null })
  })
})

test.each([
  [['key', 'update', 'key_x'], 'name at least one change', 2],
  [['key', 'rotate', 'key_x', '--overlap', 'long'], 'expected a time such as 12h or 7d', 2],
  [['key', 'rotate', 'key_x', '--overlap', '8d'], '--overlap 8d: expected a whole number', 2],
  [['key', 'rotate', 'key_x'], 'there is no key "key_x"; `tollgate key list` lists them', 1],
  [[...create, '--spend', '1/day/x'], '--spend: expected AMOUNT or AMOUNT/PERIOD', 2],
  [[...create, '--spend', '1/year'], '--spend: expected one of day, week, month, never', 2],
  [[...create, '--zone', 'UTC'], '--zone needs a spend limit', 2],
  [[...create, '--from', 'home'], '--from: expected an IP address', 2],
  [['key', 'update', 'key_x', '--show-cost', 'maybe'], '--show-cost: expected yes or no', 2],
  [['management-key', 'create', '--name', 'x'], '--scopes is missing', 2],
  [['management-key', 'disable', 'mkey_x'], 'there is no management key "mkey_x"', 1],
])('%j says %p', async (args, message, code) => {
  await cli.json(...create)
  const ended = await cli.run([...args, '--data', cli.data])
  expect(ended.err).toContain(message)
  expect(ended.code).toBe(code)
})

test('keys that a file declares are listed beside the others where it is named', async () => {
  await cli.json(...create)
  const file = join(cli.data, 'tollgate.yaml')
  const keys = [{ name: 'file', account: 'ann', secret: 'sk-from-the-file-1234' }]
  // JSON is valid YAML.
  writeFileSync(file, JSON.stringify({ keys }))
  const listed = await cli.json('key', 'list', '--config', file)
  expect(listed.map(({ id, declared }: Record<string, unknown>) => [id, declared])).toEqual([
    ['config:file', true],
    [expect.stringMatching(/^key_/), false],
  ])
  expect(JSON.stringify(listed)).not.toContain('sk-from-the-file-1234')
  expect((await cli.json('key', 'show', 'config:file', '--config', file)).name).toBe('file')
})

test('management keys are made for an account or the whole deployment, listed, disabled and removed', async () => {
  await cli.json(...create)
  const args = ['management-key', 'create', '--name', 'ci', '--scopes', 'read,write']
  const { secret, ...whole } = await cli.json(...args)
  expect(secret).toStartWith('sk-tgm-')
  expect(whole).toMatchObject({ account: null, scopes: ['read', 'write'], status: 'active' })
  const bound = await cli.json(...args, '--account', 'ann', '--expires', '2099-01-01')
  expect(bound.account).toBe('ann')
  expect(await cli.json('management-key', 'list')).toMatchObject([whole, { id: bound.id }])
  expect(await cli.json('management-key', 'list', '--account', 'ann')).toHaveLength(1)
  const table = await cli.run(['management-key', 'list', '--data', cli.data])
  expect(table.out).toMatch(/^ID +NAME .*\nmkey_\w{16} +ci +\* +sk-tgm-….{4} +read,write +active/)
  const disabled = await cli.json('management-key', 'disable', whole.id)
  expect(disabled).toEqual({ id: whole.id, disabled: true })
  const removed = await cli.json('management-key', 'remove', bound.id)
  expect(removed).toEqual({ id: bound.id, removed: true })
  expect(await cli.json('management-key', 'list')).toMatchObject([
    { id: whole.id, status: 'disabled' },
  ])
})
