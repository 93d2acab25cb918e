// Tests the command line as people and scripts use it: real processes, each with a separate data directory.

import { describe, expect, test } from 'bun:test'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { hashSecret, looksWellFormed } from '../src/identity/secret.ts'
import { makeSchema, testDatabaseUrl } from './contract/databases.ts'
import { usageRow } from './contract/store.ts'
import { settlementOf, useCli } from './support/cli.ts'

const cli = useCli()

const createArgs = ['key', 'create', '--account', 'ann', '--group', 'default', '--name', 'laptop']

async function fill(rows: number): Promise<void> {
  const all = Array.from({ length: rows }, (_, index) =>
    settlementOf(
      usageRow({
        requestId: `req_${String(index).padStart(6, '0')}`,
        at: 1_763_700_000_000 + index,
      }),
    ),
  )
  await cli.withStore(async (store) => {
    for (let from = 0; from < rows; from += 1000) {
      await store.settlements.settle(all.slice(from, from + 1000))
    }
  })
}

describe('keys', () => {
  test('are made, listed, disabled and removed; the secret is shown once and kept nowhere', async () => {
    const created = await cli.json(
      ...createArgs,
      ...['--expires', '2099-01-01T00:00:00+02:00', '--models', 'gpt-4o, o4*'],
      ...['--rpm', '60', '--tpm', '100000', '--concurrency', '4'],
    )
    const { secret, ...shown } = created
    expect(looksWellFormed(secret)).toBe(true)
    expect(shown).toMatchObject({
      name: 'laptop',
      account: 'ann',
      group: 'default',
      hint: `sk-tg-…${secret.slice(-4)}`,
      status: 'active',
      expiresAt: '2098-12-31T22:00:00.000Z',
      models: ['gpt-4o', 'o4*'],
      limits: { requestsPerMinute: 60, tokensPerMinute: 100000, concurrentRequests: 4 },
    })
    expect(await cli.json('key', 'list')).toEqual([shown])
    expect(
      (await cli.json('account', 'list')).map((each: { account: string }) => each.account),
    ).toEqual(['ann'])
    for (const file of readdirSync(cli.data)) {
      expect(readFileSync(join(cli.data, file)).includes(secret)).toBe(false)
    }

    expect(await cli.json('key', 'disable', created.id)).toEqual({ id: created.id, disabled: true })
    expect((await cli.json('key', 'list'))[0].status).toBe('disabled')
    expect(await cli.json('key', 'remove', created.id)).toEqual({ id: created.id, removed: true })
    expect(await cli.json('key', 'list')).toEqual([])
  })

  test('for people: stdout of create is the secret alone, the list is a table', async () => {
    const { code, out, err } = await cli.run([...createArgs, '--data', cli.data])
    expect([code, looksWellFormed(out.trim())]).toEqual([0, true])
    expect(err).toContain('shown only once')
    const list = await cli.run(['key', 'list', '--data', cli.data])
    expect(list.out).toMatch(
      /^ID +NAME +ACCOUNT .*\nkey_\w{16} +laptop +ann +default .* active +- +\*\n$/,
    )
    expect(list.out).not.toContain(out.trim())
    expect(list.out).not.toContain(hashSecret(out.trim()))
  })

  test('that are not there, or live in the configuration, are told', async () => {
    await cli.run([...createArgs, '--data', cli.data])
    const unknown = await cli.run(['key', 'disable', 'key_x', '--data', cli.data])
    expect(unknown).toEqual({
      code: 1,
      out: '',
      err: 'tollgate: there is no key "key_x"; `tollgate key list` lists them\n',
    })
    const configured = await cli.run(['key', 'remove', 'config:bench', '--data', cli.data])
    expect([configured.code, configured.err]).toEqual([
      1,
      'tollgate: key config:bench is declared in the configuration: change it there\n',
    ])
  })

  test('two commands at once, while a store is open, both count', async () => {
    await cli.withStore(async (store) => {
      await Promise.all(Array.from({ length: 4 }, () => cli.json(...createArgs)))
      expect(await store.keys.all()).toHaveLength(4)
    })
  })
})

describe('usage', () => {
  test('prints every field by its public name, newest first', async () => {
    await fill(3)
    const rows = await cli.json('usage', '--limit', '2')
    expect(rows.map((row: { requestId: string }) => row.requestId)).toEqual([
      'req_000002',
      'req_000001',
    ])
    expect(rows[0]).toEqual({
      requestId: 'req_000002',
      at: '2025-11-21T04:40:00.002Z',
      account: 'ann',
      key: 'key_1',
      keyName: 'laptop',
      group: 'default',
      operation: 'chat',
      model: 'gpt-4o-mini',
      modelServed: 'gpt-4o-mini-2024-07-18',
      channel: 'main',
      vendor: 'openai',
      attempts: 1,
      stream: true,
      status: 200,
      tokens: {
        input: 10,
        cachedInput: 3,
        cacheWrite: 0,
        cacheWrite1h: 0,
        audioInput: 0,
        imageInput: 0,
        output: 20,
        reasoning: 5,
        audioOutput: 0,
        imageOutput: 0,
      },
      units: null,
      usageSource: 'reported',
      cost: '0',
      chargeNano: '0',
      writeoffNano: '0',
      vendorCostNano: '0',
      priceVersion: null,
      multiplier: '1',
      formula: null,
      failedAttempts: [],
      ttftMs: 120,
      durationMs: 900,
      errorCode: null,
      errorCause: null,
      heldNano: '0',
      client: null,
      clientVersion: null,
      vendorRequestId: null,
    })
  })

  test('filters, and an empty list is an empty list', async () => {
    await fill(3)
    const count = async (...args: string[]) => (await cli.json('usage', ...args)).length
    expect(await count('--account', 'ann', '--key', 'key_1', '--model', 'gpt-4o-mini')).toBe(3)
    expect(await count('--account', 'bob')).toBe(0)
    expect(await count('--since', '2025-11-21T04:40:00.001Z')).toBe(2)
    expect(await count('--since', '1h')).toBe(0)
    expect(await count('--since=2025-11-21')).toBe(3)
  })

  test('a list longer than a page is whole, in order, and valid JSON', async () => {
    await fill(12_345)
    const rows: { requestId: string }[] = await cli.json('usage', '--limit', '1000000')
    const expected = Array.from(
      { length: 12_345 },
      (_, index) => `req_${String(index).padStart(6, '0')}`,
    )
    expect(rows.map((row) => row.requestId)).toEqual(expected.toReversed())
    expect(await cli.json('usage')).toHaveLength(100)
    const table = await cli.run(['usage', '--limit', '6000', '--data', cli.data])
    expect(table.out.split('\n')).toHaveLength(6002)
    expect(table.out.match(/REQUEST/g)).toHaveLength(1)
  })

  test('a reader that leaves early is no failure', async () => {
    await fill(12_000)
    const command = `"$0" usage --limit 12000 --data "$1" | head -n 1; exit "\${PIPESTATUS[0]}"`
    const child = Bun.spawn(['bash', '-c', command, cli.program, cli.data], {
      stdout: 'pipe',
      stderr: 'pipe',
    })
    const err = await new Response(child.stderr).text()
    expect([await child.exited, err]).toEqual([0, ''])
  })

  test('a verdict holds whoever reads it', async () => {
    mkdirSync(cli.data, { recursive: true })
    const file = join(cli.data, 'partly.yaml')
    const channel = { id: 'a', vendor: 'openai', key: { env: 'NOT_SET' }, models: ['m'] }
    writeFileSync(file, JSON.stringify({ channels: [channel] }))
    const command = '"$0" config check "$1" --json | true; exit "${PIPESTATUS[0]}"'
    const child = Bun.spawn(['bash', '-c', command, cli.program, file], { stderr: 'pipe' })
    expect(await child.exited).toBe(1)
  })

  test('a reader of an exported file that leaves early is one', async () => {
    await fill(12_000)
    const command =
      'mkfifo "$1/pipe"; head -c 1 "$1/pipe" > /dev/null & "$0" usage --export "$1/pipe" --data "$1"'
    const child = Bun.spawn(['bash', '-c', command, cli.program, cli.data], {
      stdout: 'ignore',
      stderr: 'pipe',
    })
    const err = await new Response(child.stderr).text()
    expect(err).toContain('EPIPE')
    expect(await child.exited).toBe(1)
  })

  test("a client's control characters do not reach the terminal", async () => {
    const row = usageRow({ modelAsked: 'evil\u001b[31m\nmodel' })
    await cli.withStore((store) => store.settlements.settle([settlementOf(row)]))
    const { out } = await cli.run(['usage', '--data', cli.data])
    expect(out).toContain('evil\uFFFD[31m\uFFFDmodel')
    expect(out).not.toContain('\u001b')
  })
})

describe('a command line that is wrong', () => {
  const wrong: [string[], string][] = [
    [['usag'], 'unknown command "usag"; did you mean usage?'],
    [['key', 'creat'], 'unknown command "key creat"; did you mean key create?'],
    [
      ['key'],
      'key what? key create, key list, key show, key update, key rotate, key disable, key enable, key remove',
    ],
    [['frobnicate'], 'unknown command "frobnicate"; `tollgate help` lists them'],
    [['--json', 'usage'], 'the command comes before --json'],
    [['usage', '--acount', 'a'], 'usage has no --acount; did you mean --account?'],
    [['usage', '--constructor', 'a'], 'usage has no --constructor'],
    [['usage', '-x'], 'usage has no -x'],
    [['usage', 'extra'], 'usage does not take "extra"'],
    [['usage', '--limit'], '--limit needs a value: --limit N'],
    [['usage', '--limit', '-1'], '--limit -1: expected a whole number from 1 to 1000000'],
    [['usage', '--account', '--json'], '--account needs a value: --account A'],
    [['usage', '--json=1'], '--json takes no value'],
    [['usage', '--limit', '0'], '--limit 0: expected a whole number from 1 to 1000000'],
    [['usage', '--limit', '1000001'], '--limit 1000001: expected a whole number from 1 to 1000000'],
    [['usage', '--since', 'yesterday'], '--since yesterday: expected 1h, 2d or a time'],
    [['usage', '--account='], '--account must not be empty'],
    [['key', 'create', '--group', 'g', '--name', 'n'], '--account is missing'],
    [['key', 'disable'], 'key disable needs ID'],
    [[...createArgs, '--expires', '2020-01-01'], '--expires 2020-01-01: is in the past'],
    [[...createArgs, '--expires', '2099-02-31'], '--expires 2099-02-31: expected a time'],
    [[...createArgs, '--expires', '2099-01-01T08:00'], 'expected a time such as'],
    [[...createArgs, '--rpm', '-5'], '--rpm -5: expected a whole number'],
    [[...createArgs, '--rpm', '1.5'], '--rpm 1.5: expected a whole number'],
    [[...createArgs, '--models', 'a,,b'], '--models: a name between commas is empty'],
  ]

  test.each(wrong)('%j', async (args, message) => {
    const { code, out, err } = await cli.run(args, { TOLLGATE_DATA: cli.data })
    expect([code, out]).toEqual([2, ''])
    expect(err).toStartWith('tollgate: ')
    expect(err).toContain(message)
    expect(err.trimEnd()).not.toContain('\n')
  })
})

describe('failures', () => {
  test('data that is not there is told, and not made', async () => {
    const { code, out, err } = await cli.run(['usage', '--json', '--data', cli.data])
    expect([code, out]).toEqual([1, ''])
    expect(err).toMatch(
      /^tollgate: there is no Tollgate data in .*: name the server's data directory/,
    )
    expect(readdirSync(cli.scratch)).not.toContain(cli.data.split('/').at(-1))
  })

  test('a database out of reach, or a file that is none, is one line without the password', async () => {
    const away = await cli.run(['usage'], {
      DATABASE_URL: 'postgres://ann:hunter2@127.0.0.1:1/tollgate',
    })
    expect([away.code, away.out]).toEqual([1, ''])
    expect(away.err).toMatch(
      /^tollgate: Cannot connect to PostgreSQL at 127.0.0.1:1\/tollgate: .+\n$/,
    )
    expect(away.err).not.toContain('hunter2')
    const wrong = [
      "'postgres://ann:hunter2@127.0.0.1:1/tollgate'",
      'postgres:/ann:hunter2@127.0.0.1:1/tollgate',
      'postgres://ann:hunter2#@127.0.0.1:1/tollgate',
      'mysql://ann:hunter2@127.0.0.1:1/tollgate',
    ]
    for (const DATABASE_URL of wrong) {
      const refused = await cli.run(['usage'], { DATABASE_URL })
      expect([refused.code, refused.out]).toEqual([1, ''])
      expect(refused.err).toMatch(
        /^tollgate: DATABASE_URL: expected postgres:\/\/USER:PASSWORD@.+\n$/,
      )
    }

    mkdirSync(cli.data)
    writeFileSync(
      join(cli.data, 'tollgate.db'),
      'this is not a database, whatever its name says'.repeat(50),
    )
    const broken = await cli.run(['usage', '--data', cli.data])
    expect([broken.code, broken.out]).toEqual([1, ''])
    expect(broken.err).toMatch(/^tollgate: .*not a database.*\n$/)
  })
})

describe('help and version', () => {
  test('help lists every command; help of one tells its options', async () => {
    for (const args of [['help'], [], ['--help']]) {
      const { code, out } = await cli.run(args)
      expect(code).toBe(0)
      for (const name of [
        'serve',
        'key create',
        'usage',
        'channel test ID',
        'config check [FILE]',
      ]) {
        expect(out).toContain(name)
      }
    }
    const help = await cli.run(['usage', '--help'])
    expect((await cli.run(['help', 'usage'])).out).toBe(help.out)
    expect(help.out).toContain('--since T')
    expect((await cli.run(['help', 'nothing'])).code).toBe(1)
  })

  test.each(['key', 'account', 'price', 'catalog', 'channel', 'config'])(
    '%s --help lists what begins so',
    async (group) => {
      const listed = await cli.run(['help', group])
      expect(listed.out).toContain(`  ${group} `)
      expect(await cli.run([group, '--help'])).toEqual({ code: 0, out: listed.out, err: '' })
      expect(await cli.run([group, '-h'])).toEqual(listed)
    },
  )

  test('serve, which prints no value, has no --json', async () => {
    expect((await cli.run(['serve', '--help'])).out).not.toContain('--json')
    const { code, out, err } = await cli.run(['serve', '--json'])
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toStartWith("Unknown option '--json'\nUsage: tollgate serve ")
  })

  test('version is that of the package', async () => {
    const manifest = JSON.parse(readFileSync(join(import.meta.dirname, '../package.json'), 'utf8'))
    expect((await cli.run(['version'])).out).toBe(`${manifest.version}\n`)
    expect(JSON.parse((await cli.run(['--version', '--json'])).out)).toEqual({
      version: manifest.version,
    })
  })
})

const url = testDatabaseUrl
if (url !== null) {
  test('DATABASE_URL puts the commands on PostgreSQL', async () => {
    const schema = await makeSchema(url)
    try {
      const env = { DATABASE_URL: schema.url }
      expect((await cli.run(createArgs, env)).code).toBe(0)
      const { out } = await cli.run(['key', 'list', '--json'], env)
      expect(JSON.parse(out)).toHaveLength(1)
      expect(readdirSync(cli.scratch)).not.toContain('data')

      const make = [
        'channel',
        'create',
        'c',
        '--vendor',
        'openai',
        '--key-from',
        'OK',
        '--models',
        'm',
      ]
      const keyless = { ...env, OK: 'sk-1' }
      const refused = await cli.run([...make, '--data', cli.data], keyless)
      expect([refused.code, refused.err]).toEqual([1, expect.stringContaining('ENCRYPTION_KEY')])
      expect(existsSync(cli.data)).toBe(false)
      expect((await cli.run(make, { ...keyless, ENCRYPTION_KEY: 'a'.repeat(32) })).code).toBe(0)
      const other = await cli.run(['channel', 'list'], { ...env, ENCRYPTION_KEY: 'b'.repeat(32) })
      expect(other.err).toContain(
        'the channel c is left out: its secrets were encrypted with another',
      )
    } finally {
      await schema.drop()
    }
  })
}
