// Tests the commands about money beside a running server: balance, credit, debit, usage, audit.

import { describe, expect, test } from 'bun:test'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { encodeRecord } from '../src/ledger/record.ts'
import { openSqlite } from '../src/store/sqlite.ts'
import type { Store } from '../src/store/store.ts'
import type { UsageRow } from '../src/store/usage-row.ts'
import { makeSchema, testDatabaseUrl } from './contract/databases.ts'
import { usageRow } from './contract/store.ts'
import { settlementOf, useCli } from './support/cli.ts'
import { pace } from './support/clients.ts'
import { grantOne } from './support/ledger-scene.ts'

const cli = useCli()
const nano = '000000000'

const gift = ['--reason', 'a gift', '--actor', 'op']
const create = (amount: string) => cli.json('account', 'credit', 'ann', amount, ...gift, '--create')

/** As a server does that starts and takes a lease for its requests. */
async function lease(store: Store, amountNano: bigint, heldNano: bigint) {
  const node = await store.nodes.open('server', 60_000)
  const need = { needNano: amountNano, wantNano: amountNano }
  await grantOne(store, { ...node, account: 'ann', ...need })
  await store.leases.noteHeld(node, new Map([['ann', heldNano]]))
  return node
}

describe('credit and balance', () => {
  test('an account is made, credited and shown, in units and in nano-units', async () => {
    const credited = await create('12.5')
    expect(credited).toEqual({
      id: expect.stringMatching(/^adjust:[0-9a-f-]{36}$/),
      posted: true,
      amountNano: '12500000000',
      account: 'ann',
      currency: 'USD',
      availableNano: '12500000000',
      heldNano: '0',
      postedNano: '12500000000',
    })
    const balance = {
      account: 'ann',
      currency: 'USD',
      availableNano: '12500000000',
      heldNano: '0',
      postedNano: '12500000000',
    }
    expect(await cli.json('balance', 'ann')).toEqual(balance)
    expect(await cli.json('account', 'list')).toEqual([
      { ...balance, createdAt: expect.stringMatching(/^20\d\d-.*Z$/) },
    ])
    const shown = await cli.run(['balance', 'ann', '--data', cli.data])
    expect(shown).toEqual({
      code: 0,
      out: 'ACCOUNT  CURRENCY  AVAILABLE  HELD  POSTED\nann      USD       12.5       0     12.5\n',
      err: '',
    })
    const [entry] = await cli.withStore((store) =>
      store.journal.transfers({ account: 'ann', limit: 10 }),
    )
    expect(entry).toMatchObject({ code: 'adjust', actor: 'op', reason: 'a gift' })
  })

  test('held is what running requests hold, not what a server leases', async () => {
    await create('10')
    await cli.withStore((store) => lease(store, 8_000_000_000n, 3_000_000_001n))
    expect(await cli.json('balance', 'ann')).toMatchObject({
      availableNano: '6999999999',
      heldNano: '3000000001',
      postedNano: `10${nano}`,
    })
  })

  test('the currency is what the data counts in, before that what the configuration says', async () => {
    await create('1')
    const file = join(cli.data, 'tollgate.yaml')
    writeFileSync(file, 'currency: CNY\n')
    const configured = ['balance', 'ann', '--json', '--data', cli.data, '--config', file]
    expect(JSON.parse((await cli.run(configured)).out).currency).toBe('CNY')
    await cli.withStore((store) => store.deployment.rememberCurrency('EUR'))
    expect((await cli.json('balance', 'ann')).currency).toBe('EUR')
    expect(JSON.parse((await cli.run(configured)).out).currency).toBe('EUR')
  })

  test('an account that is not there is told, and made only when asked to', async () => {
    await create('1')
    const message = 'tollgate: there is no account "bob"; `tollgate account list` lists them\n'
    for (const [words, err] of [
      [['balance', 'bob'], message],
      [
        ['account', 'credit', 'bob', '1', ...gift],
        message.replace('\n', ', --create creates it\n'),
      ],
      [['account', 'debit', 'bob', '1', ...gift], message],
    ] as const) {
      const ended = await cli.run([...words, '--data', cli.data])
      expect(ended).toEqual({ code: 1, out: '', err })
    }
    const below = await cli.run(['account', 'credit', 'ann', '-5', ...gift, '--data', cli.data])
    expect([below.code, below.err]).toEqual([2, expect.stringContaining('an amount is above 0')])
    expect(await cli.json('account', 'list')).toHaveLength(1)
  })
})

describe('posting once', () => {
  test('five at once with one reference post once', async () => {
    await create('1')
    const again = ['account', 'credit', 'ann', '2', ...gift, '--reference', 'invoice 7']
    const ended = await Promise.all(Array.from({ length: 5 }, () => cli.json(...again)))
    expect(ended.filter(({ posted }) => posted)).toHaveLength(1)
    expect(ended.every(({ id }) => id === 'adjust:invoice 7')).toBe(true)
    expect((await cli.json('balance', 'ann')).postedNano).toBe(`3${nano}`)
    const repeated = await cli.run([...again, '--data', cli.data])
    expect([repeated.code, repeated.out]).toEqual([0, ''])
    expect(repeated.err).toContain('Posted before, nothing changed for ann: 3 USD available')
  })

  test('a reference used for something else is refused', async () => {
    await create('10')
    await cli.json('account', 'credit', 'bob', '10', ...gift, '--create')
    const once = [...gift, '--reference', 'r1', '--data', cli.data]
    await cli.run(['account', 'credit', 'ann', '2', ...once])
    for (const [direction = '', account = '', amount = '', what = ''] of [
      ['credit', 'ann', '3', '2 for ann'],
      ['debit', 'ann', '2', '2 for ann'],
      ['credit', 'bob', '2', 'another account'],
    ]) {
      expect(await cli.run(['account', direction, account, amount, ...once])).toEqual({
        code: 1,
        out: '',
        err: `tollgate: adjust:r1 was posted before, for ${what}: choose another --reference\n`,
      })
    }
    expect((await cli.json('balance', 'ann')).postedNano).toBe(`12${nano}`)
    expect((await cli.json('balance', 'bob')).postedNano).toBe(`10${nano}`)
  })
})

describe('debit', () => {
  test('takes what is free, and nothing where that is too little', async () => {
    await create('10')
    expect(await cli.json('account', 'debit', 'ann', '4', ...gift)).toMatchObject({
      posted: true,
      amountNano: `-4${nano}`,
      postedNano: `6${nano}`,
    })
    const refused = await cli.run([
      'account',
      'debit',
      'ann',
      '6.000000001',
      ...gift,
      '--data',
      cli.data,
    ])
    expect(refused).toEqual({
      code: 1,
      out: '',
      err: 'tollgate: ann has 6 USD that no running request holds: 6.000000001 cannot be taken\n',
    })
    expect((await cli.json('account', 'debit', 'ann', '6', ...gift)).postedNano).toBe('0')
  })

  test('asks a running server for what its requests do not hold, and leaves what they do', async () => {
    await create('10')
    await cli.withStore(async (store) => {
      const node = await lease(store, 10_000_000_000n, 3_000_000_000n)
      const debit = (amount: string) =>
        cli.run(['account', 'debit', 'ann', amount, ...gift, '--json', '--data', cli.data])
      // A server that gives back the lease that it is asked for.
      let serving = true
      const server = (async () => {
        while (serving) {
          for (const account of await store.leases.recalled(node)) {
            await store.leases.giveBack(node, account, 7_000_000_000n)
          }
          await pace(5)
        }
      })()
      try {
        const taken = await debit('7')
        expect([taken.code, taken.err]).toEqual([0, ''])
        expect(JSON.parse(taken.out)).toMatchObject({
          availableNano: '0',
          heldNano: `3${nano}`,
          postedNano: `3${nano}`,
        })
        const refused = await debit('1')
        expect([refused.code, refused.err]).toEqual([
          1,
          'tollgate: ann has 0 USD that no running request holds: 1 cannot be taken\n',
        ])
      } finally {
        serving = false
        await server
      }
    })
  })
})

describe('usage', () => {
  test('shows what a request cost, by which card and how', async () => {
    await create('1')
    await cli.withStore(async (store) => {
      await store.prices.append([
        {
          model: 'gpt-4o-mini',
          effectiveFrom: 0,
          prices: { input: '0.15', cachedInput: '0.075', output: '0.60', second: '1000' },
          origin: 'file',
          source: 'test',
          sourceDate: null,
          actor: null,
          createdAt: 1,
        },
      ])
      // 10 * 150 + 3 * 75 + 25 * 600 nano-units for tokens and 1,500,000 for seconds, at 0.85.
      const row = usageRow({
        priceVersion: 1,
        multiplierPpm: 850_000,
        units: { second: 1.5 },
        chargeNano: 1_289_217n,
        vendorCostNano: 1_516_725n,
        failedAttempts: [{ channel: 'spare', kind: 'busy', costNano: '0' }],
      })
      await store.settlements.settle([{ ...settlementOf(row), capNano: 1_000_000n }])
    })
    const [shown] = await cli.json('usage')
    expect(shown).toMatchObject({
      units: { second: 1.5 },
      chargeNano: '1000000',
      writeoffNano: '289217',
      vendorCostNano: '1516725',
      priceVersion: 1,
      multiplier: '0.85',
      failedAttempts: [{ channel: 'spare', kind: 'busy', costNano: '0' }],
    })
    expect(shown.formula).toMatch(/^ceil\(\(10 \* 150000000 \+ .*850000 \/ 10\^12\) = 1289217$/)
    const { out } = await cli.run(['usage', '--data', cli.data])
    expect(out).toMatch(/ IN +OUT +COST +MS /)
    expect(out).toMatch(/ 13 +25 +0\.001 +900 /)
    expect((await cli.json('audit')).ok).toBe(true)
  })
})

describe('audit', () => {
  test('of a ledger in order: one object, exit 0; what is set aside is shown', async () => {
    await create('10')
    await cli.withStore(async (store) => {
      const node = await lease(store, 5_000_000_000n, 0n)
      const poison = { requestId: 'req_poison', account: 'ann', heldNano: 2_000_000_000n }
      await store.settlements.setAside(
        { ...poison, raw: '["?"]', reason: 'no number', at: 0 },
        node,
      )
    })
    expect(await cli.json('audit')).toEqual({
      ok: true,
      transfers: 1,
      usageRows: 0,
      wallets: 1,
      findings: [],
      setAside: 1,
      setAsides: [
        {
          requestId: 'req_poison',
          account: 'ann',
          heldNano: `2${nano}`,
          raw: '["?"]',
          reason: 'no number',
          at: '1970-01-01T00:00:00.000Z',
        },
      ],
    })
    const { code, out, err } = await cli.run(['audit', '--data', cli.data])
    expect([code, err]).toEqual([0, ''])
    expect(out).toStartWith('1 transfers, 0 usage rows, 1 wallets: no difference.\n')
    expect(out).toMatch(/req_poison +ann +2 +1970-01-01T00:00:00.000Z +no number\n$/)
  })

  test('what is set aside is listed, settled or discarded, once each, and recorded', async () => {
    await create('10')
    await cli.withStore(async (store) => {
      const node = await lease(store, 5_000_000_000n, 0n)
      const aside = (row: UsageRow, raw?: string) => {
        const finished = { row, capNano: null, idempotency: null }
        const record = encodeRecord('final', node.epoch, row.chargeNano, finished)
        return store.settlements.setAside(
          {
            requestId: row.requestId,
            account: 'ann',
            heldNano: 2_000_000_000n,
            raw: raw ?? JSON.stringify(record),
            reason: 'full',
            at: row.at,
          },
          node,
        )
      }
      const chargeNano = 1_500_000_000n
      await aside(usageRow({ requestId: 'req_good', at: 1, chargeNano }))
      await aside(usageRow({ requestId: 'req_torn', at: 2 }), '["torn')
    })
    const held = { account: 'ann', currency: 'USD', heldNano: `2${nano}`, reason: 'full' }
    expect(await cli.json('set-aside', 'list')).toEqual([
      { ...held, requestId: 'req_torn', costNano: null, at: '1970-01-01T00:00:00.002Z' },
      { ...held, requestId: 'req_good', costNano: '1500000000', at: '1970-01-01T00:00:00.001Z' },
    ])
    const done = {
      currency: 'USD',
      changed: true,
      releasedNano: `2${nano}`,
      chargeNano: '0',
      writeoffNano: '0',
    }
    const charged = { requestId: 'req_good', outcome: 'settled', chargeNano: '1500000000' }
    expect(await cli.json('set-aside', 'settle', 'req_good')).toEqual({ ...done, ...charged })
    const discard = ['set-aside', 'discard', 'req_torn', '--reason', 'torn by a disk']
    const discarded = { requestId: 'req_torn', outcome: 'discarded' }
    expect(await cli.json(...discard)).toEqual({ ...done, ...discarded })
    const again = { ...discarded, changed: false, releasedNano: '0' }
    expect(await cli.json(...discard)).toMatchObject(again)
    expect(await cli.json('balance', 'ann')).toMatchObject({
      availableNano: '8500000000',
      heldNano: '0',
    })
    const events = await cli.withStore(({ operatorEvents }) => operatorEvents.list({ limit: 9 }))
    expect(events.map(({ action, target }) => [action, target])).toEqual([
      ['discardSetAside', { id: 'req_torn' }],
      ['settleSetAside', { id: 'req_good' }],
      ['adjustBalance', { id: 'ann' }],
    ])
  })

  test('a record is not discarded without a reason, and one that is unknown is not found', async () => {
    await create('1')
    const run = (...words: string[]) => cli.run(['set-aside', ...words, '--data', cli.data])
    expect(await run('discard', 'req_1')).toMatchObject({
      code: 2,
      err: expect.stringContaining('--reason'),
    })
    expect(await run('settle', 'req_1')).toMatchObject({
      code: 1,
      err: 'tollgate: no record "req_1" was set aside; `tollgate set-aside list` lists them\n',
    })
  })

  test('of one that is not: exit 1, each difference named', async () => {
    await create('10')
    const engine = await openSqlite(cli.data)
    await engine.run(`UPDATE ledger_account SET credits_posted = 9 WHERE id = 'wallet:ann'`, [])
    await engine.close()
    const audit = await cli.run(['audit', '--data', cli.data])
    expect([audit.code, audit.err]).toEqual([1, ''])
    expect(audit.out).toContain('2 findings')
    expect(audit.out).toMatch(
      /wallet +wallet:ann +has debits 0 and credits 9, .* 0 and 10000000000\n/,
    )
    const json = await cli.run(['audit', '--data', cli.data, '--json'])
    expect([json.code, json.err]).toEqual([1, ''])
    const { ok, findings } = JSON.parse(json.out)
    expect([ok, findings.map((each: { subject: string }) => each.subject)]).toEqual([
      false,
      ['wallet:ann', 'all accounts'],
    ])
  })
})

describe('a command line that is wrong', () => {
  const wrong: [string[], string][] = [
    [['balance'], 'balance needs ACCOUNT'],
    [['account', 'credit', 'ann'], 'account credit needs AMOUNT'],
    [['account', 'credit', 'ann', '1'], '--reason is missing'],
    [['account', 'credit', 'ann', '0', ...gift], 'AMOUNT 0: expected a decimal above 0'],
    [['account', 'debit', 'ann', '1,5', ...gift], 'AMOUNT 1,5: expected a decimal above 0'],
    [['account', 'debit', 'ann', '1e3', ...gift], 'AMOUNT 1e3: expected a decimal above 0'],
    [['account', 'credit', 'ann', '0.0000000001', ...gift], 'with at most nine places'],
    [['account', 'credit', 'ann', '9223372037', ...gift], 'AMOUNT 9223372037'],
    [['account', 'credit', 'ann', '-5', ...gift], 'account credit has no -5'],
    [['account', 'debit', 'ann', '1', ...gift, '--create'], 'account debit has no --create'],
    [['account', 'credit', ' ann', '1', ...gift], 'ACCOUNT: expected 1 to 128 characters'],
    [['audit', 'ann'], 'audit does not take "ann"'],
  ]

  test.each(wrong)('%j', async (args, message) => {
    mkdirSync(cli.data)
    const { code, out, err } = await cli.run(args, { TOLLGATE_DATA: cli.data })
    expect([code, out]).toEqual([2, ''])
    expect(err).toContain(message)
    expect(err.trimEnd()).not.toContain('\n')
  })
})

const url = testDatabaseUrl
if (url !== null) {
  test('DATABASE_URL puts them on PostgreSQL', async () => {
    const schema = await makeSchema(url)
    try {
      const env = { DATABASE_URL: schema.url }
      const credit = ['account', 'credit', 'ann', '2', ...gift, '--create']
      expect((await cli.run(credit, env)).code).toBe(0)
      expect((await cli.run(['account', 'debit', 'ann', '0.5', ...gift], env)).code).toBe(0)
      const balance = await cli.run(['balance', 'ann', '--json'], env)
      expect(JSON.parse(balance.out).availableNano).toBe('1500000000')
      expect(await cli.run(['audit'], env)).toEqual({
        code: 0,
        out: '2 transfers, 0 usage rows, 1 wallets: no difference.\n',
        err: '',
      })
    } finally {
      await schema.drop()
    }
  })
}
