// Tests that changes made by the command line are operator events, with who made them and without secrets.

import { expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { useCli } from './support/cli.ts'

const cli = useCli()

/** Oldest first. */
const events = () =>
  cli.withStore(async (store) => (await store.operatorEvents.list({ limit: 500 })).toReversed())

/** For commands that also say something on stderr. */
async function run(...args: string[]): Promise<void> {
  expect(await cli.run([...args, '--data', cli.data])).toMatchObject({ code: 0 })
}

const named = async () => (await events()).map(({ action, target }) => [action, target])

test('changes of accounts and people are recorded', async () => {
  await cli.json(
    'account',
    'credit',
    'ann',
    '12.5',
    '--create',
    '--reason',
    'gift',
    '--actor',
    'op',
  )
  const again = ['account', 'debit', 'ann', '1', '--reference', 'once', '--reason', 'fee']
  await cli.json(...again)
  await cli.json(...again)
  await cli.json('user', 'role', 'ann', 'auditor')
  await cli.json('user', 'groups', 'ann', '*')
  await cli.json('history', 'set', 'ann', 'metadata')
  await cli.json('history', 'delete', '--account', 'ann')
  await cli.json('admin', 'link', '--account', 'ann')
  await cli.json('user', 'suspend', 'ann')
  await cli.json('user', 'resume', 'ann')
  await cli.json('account', 'debit', 'ann', '11.5', '--reason', 'out')
  await cli.json('user', 'delete', 'ann', '--yes')
  const ann = { id: 'ann' }
  expect(await named()).toEqual([
    ['adjustBalance', ann],
    ['adjustBalance', ann],
    ['updatePerson', ann],
    ['updatePerson', ann],
    ['setHistoryChoice', ann],
    ['deleteHistory', { account: 'ann' }],
    ['createSignInLink', ann],
    ['suspendPerson', ann],
    ['resumePerson', ann],
    ['adjustBalance', ann],
    ['deletePerson', ann],
  ])
  const recorded = await events()
  for (const event of recorded)
    expect(event).toMatchObject({ actor: 'command line', role: 'admin', address: null })
  expect(recorded[0]?.detail).toEqual({
    ...{ actor: 'op', amount: '12500000000', createAccount: true },
    ...{ direction: 'credit', reason: 'gift' },
  })
  expect(recorded[2]?.detail).toEqual({ actor: 'command line', role: 'auditor' })
})

test('changes of keys, invitations, codes and settings are recorded, without secrets', async () => {
  const key = await cli.json('key', 'create', '--account', 'ann', '--name', 'laptop')
  await cli.json('key', 'update', key.id, '--name', 'desk')
  const rotated = await cli.json('key', 'rotate', key.id)
  await cli.json('key', 'disable', key.id)
  await cli.json('key', 'enable', key.id)
  await cli.json('key', 'remove', key.id)
  const create = ['management-key', 'create', '--name', 'ops', '--scopes', 'read']
  const management = await cli.json(...create)
  await cli.json('management-key', 'disable', management.id)
  await cli.json('management-key', 'remove', management.id)
  const invitation = await cli.json('invite', 'create', '--note', 'Bo')
  await cli.json('invite', 'revoke', invitation.id)
  const batch = await cli.json('codes', 'create', '2', '5')
  await cli.json('codes', 'revoke', batch.id)
  await cli.json('settings', 'set', 'identity.signUp', 'closed')
  await cli.json('settings', 'unset', 'identity.signUp')
  const of = (id: string, ...actions: readonly string[]) => actions.map((each) => [each, { id }])
  expect(await named()).toEqual([
    ...of(key.id, 'createKey', 'updateKey', 'rotateKey', 'disableKey', 'enableKey', 'deleteKey'),
    ...of(management.id, 'createManagementKey', 'disableManagementKey', 'deleteManagementKey'),
    ...of(invitation.id, 'createInvitation', 'revokeInvitation'),
    ...of(batch.id, 'createRedemptionBatch', 'revokeRedemptionBatch'),
    ['setSetting', { name: 'identity.signUp' }],
    ['unsetSetting', { name: 'identity.signUp' }],
  ])
  const text = JSON.stringify(await events())
  const secrets = [key.secret, rotated.secret, management.secret, invitation.code]
  for (const secret of [...secrets, ...batch.secrets]) expect(text).not.toContain(secret)
})

test('changes of prices and channels are recorded; what was refused or only shown is not', async () => {
  await cli.json('account', 'credit', 'ann', '1', '--create', '--reason', 'gift')
  await run('price', 'set', 'own', 'input=1', 'output=2')
  await cli.run(['price', 'set', 'own', 'input=100', '--data', cli.data])
  await run('price', 'set', 'own', 'input=2', 'output=2')
  await cli.json('price', 'rollback', 'own')
  await cli.json('price', 'withdraw', 'own')
  const file = join(cli.scratch, 'priced.yaml')
  writeFileSync(file, 'models: { filed: { kind: chat, prices: { input: "1", output: "2" } } }\n')
  await run('price', 'apply', '--config', file)
  await run('price', 'apply', '--config', file)
  const env = { VENDOR_KEY: 'sk-vendor-4711', USER: 'nina' }
  const made = ['channel', 'create', 'extra', '--vendor', 'openai', '--models', 'gpt-4o']
  const create = [...made, '--key-from', 'VENDOR_KEY', '--data', cli.data]
  expect((await cli.run(create, env)).err).toContain('Channel extra made')
  await cli.json('channel', 'update', 'extra', '--note', 'spare')
  await cli.json('channel', 'delete', 'extra')
  expect((await cli.run(['user', 'role', 'nobody', 'admin', '--data', cli.data])).code).toBe(1)
  const [, ...recorded] = await events()
  expect((await named()).slice(1)).toEqual([
    ['setPrices', { model: 'own' }],
    ['setPrices', { model: 'own' }],
    ['rollbackPrices', { model: 'own' }],
    ['withdrawPrices', { model: 'own' }],
    ['applyFilePrices', {}],
    ['createChannel', { id: 'extra' }],
    ['updateChannel', { id: 'extra' }],
    ['deleteChannel', { id: 'extra' }],
  ])
  expect(recorded[5]?.detail).toMatchObject({ actor: 'nina', id: 'extra', before: null })
  expect(JSON.stringify(recorded)).not.toContain('sk-vendor-4711')
})
