// Tests `tollgate codes` and `tollgate mail` as an operator uses them, with real processes.

import { expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { redeemCode } from '../src/admin/redemption.ts'
import { adminOf } from './support/admin.ts'
import { useCli } from './support/cli.ts'
import { startSmtpServer } from './support/smtp-server.ts'

const cli = useCli()
const run = (...args: string[]) => cli.run([...args, '--data', cli.data])

test('codes are made, listed, redeemed and revoked', async () => {
  await cli.withStore((store) => store.accounts.ensure('ann', 1))
  const made = await run('codes', 'create', '3', '2.50', '--note', 'fair', '--actor', 'olga')
  // Each line ends, so that `while read` gets the last code too.
  const codes = made.out.split('\n')
  expect(codes.pop()).toBe('')
  expect([made.code, codes.length]).toEqual([0, 3])
  for (const each of codes) expect(each).toMatch(/^([0-9A-Z]{5}-){3}[0-9A-Z]{5}$/)
  const [code = ''] = codes
  await cli.withStore((store) => redeemCode(adminOf(store), { code, account: 'ann' }))
  const [batch] = await cli.json('codes', 'list')
  expect(batch).toMatchObject({
    ...{ note: 'fair', actor: 'olga', amountNano: '2500000000', codes: 3, redeemed: 1 },
  })
  expect((await run('codes', 'list')).out).toContain('2.5 USD')
  expect(await cli.json('codes', 'revoke', batch.id)).toMatchObject({ id: batch.id })
  const again = await run('codes', 'revoke', batch.id)
  expect([again.code, again.err]).toEqual([1, expect.stringContaining('codes list')])
  for (const [words, field] of [
    [['0', '1'], 'COUNT'],
    [['x', '1'], 'COUNT'],
    [['1', '0'], 'AMOUNT'],
    [['1', '1', '--expires', '2020-01-01'], '--expires'],
  ] as const) {
    const { code, err } = await run('codes', 'create', ...words)
    expect([code === 0, err]).toEqual([false, expect.stringContaining(field)])
  }
})

test('a mail is sent by the configured server, and what it answers is said without a secret', async () => {
  await using server = await startSmtpServer({ recipients: ['250 ok', '550 nobody here'] })
  const file = join(cli.scratch, 'mail.json')
  const from = 'no-reply@gateway.example'
  const write = (smtp: object | null) => writeFileSync(file, JSON.stringify({ smtp }))
  const send = (...more: string[]) =>
    run('mail', 'test', '--config', file, '--to', 'ann@example.com', ...more)
  write({ host: '127.0.0.1', port: server.port, tls: 'none', from })
  expect(await send()).toMatchObject({ code: 0 })
  expect(server.taken.map(({ to }) => to)).toEqual([['ann@example.com']])
  const refused = await send('--json')
  expect(refused.code).toBe(1)
  expect(JSON.parse(refused.out)).toMatchObject({ to: 'ann@example.com', ok: false })
  expect(refused.out).toContain('nobody here')
  write(null)
  expect((await send()).err).toContain('smtp')
  for (const half of [
    { host: 'mail.example' },
    { from },
    { host: 'mail.example', from, user: 'me' },
    { host: 'mail.example', from, password: 'hidden-words' },
    { host: 'mail.example', from, user: 'me', password: 'hidden-words', tls: 'none' },
    { host: 'mail.example', from: 'nobody' },
  ]) {
    write(half)
    const { code, out, err } = await run('config', 'check', '--config', file)
    expect([code, out + err]).toEqual([1, expect.stringContaining('smtp')])
    expect(out + err).not.toContain('hidden-words')
  }
})
