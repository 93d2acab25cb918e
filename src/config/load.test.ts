// Tests loading the configuration as an operator does: from files, variables and flags to a frozen result or a list of
// problems.

import { afterEach, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import fc from 'fast-check'
import { loadConfig } from './load.ts'
import { ConfigError, type Problem } from './problems.ts'
import type { Environment, Flags } from './settings.ts'
import type { Config } from './types.ts'

const folders: string[] = []

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

function fileOf(text: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-config-'))
  folders.push(folder)
  const file = join(folder, 'tollgate.yaml')
  writeFileSync(file, text)
  return file
}

function load(text: string | null, env: Environment = {}, flags: Flags = {}): Promise<Config> {
  return loadConfig({
    flags: text === null ? flags : { ...flags, config: fileOf(text) },
    env,
    knownVendors: ['openai', 'deepseek', 'openai-compatible'],
    knownDialects: ['openai-chat', 'anthropic-messages'],
  })
}

async function refused(promise: Promise<Config>): Promise<ConfigError> {
  const error = await promise.then(
    () => null,
    (reason: unknown) => reason,
  )
  if (!(error instanceof ConfigError)) throw new Error(`expected a ConfigError, got ${error}`)
  return error
}

async function problems(text: string, env: Environment = {}): Promise<readonly Problem[]> {
  return (await refused(load(text, env))).problems
}

const designExample = `
server: { host: 127.0.0.1, port: 8787 }
currency: USD
groups:
  default: { multiplier: "1", models: ["*"] }
channels:
  - id: main
    vendor: openai
    baseUrl: http://127.0.0.1:9000/v1/
    key: \${MAIN_KEY}
    models: [gpt-4o-mini]
    groups: [default]
    priority: 0
    weight: 1
models:
  gpt-4o-mini: { kind: chat, context: 128000, vision: true, prices: { input: "0.15", cachedInput: "0.075", output: "0.60" } }
accounts:
  bench: { credit: "1000" }
keys:
  - { name: bench, account: bench, group: default, secret: "\${BENCH_KEY}" }
`
const designEnv = { MAIN_KEY: 'vendor-key', BENCH_KEY: 'bench-secret-0123456789' }

describe('without a file', () => {
  test('defaults alone make a configuration', async () => {
    const config = await load(null)
    expect(config.server).toMatchObject({ host: '127.0.0.1', port: 8787, publicUrl: null })
    expect(config.timeouts).toEqual({
      connectMs: 5_000,
      sendIdleMs: 30_000,
      firstEventMs: 60_000,
      replyMs: 600_000,
      idleMs: 90_000,
      semanticIdleMs: 300_000,
      totalMs: 1_800_000,
    })
    expect(config.groups).toEqual({
      default: { id: 'default', multiplier: '1', models: ['*'], limits: {}, origin: 'built-in' },
    })
    expect(config.billing).toEqual({
      clientLeaves: 'stop',
      vendorFails: 'delivered',
      emptyAnswers: 'charged',
      durability: 'normal',
      maxHeldPerKey: null,
      maxHeldPerAccount: null,
      idempotencyHours: 24,
      idempotencyReplyBytes: 1_048_576,
    })
    expect(config.ledger).toEqual({
      leaseMs: 60_000,
      renewMs: 15_000,
      fenceMs: 40_000,
      settleMs: 100,
      maxLagMs: 5_000,
      maxUnsettled: 50_000,
    })
    expect(config.dataDir).toBe(resolve('data'))
    expect(config).toMatchObject({ channels: [], keys: [], models: {}, accounts: {}, file: null })
    expect(config).toMatchObject({ currency: 'USD', logLevel: 'info', nodes: 1 })
  })

  test('neither YAML nor the schema is loaded', async () => {
    const script = `
      const { loadConfig } = await import(${JSON.stringify(join(import.meta.dir, 'load.ts'))})
      await loadConfig({ flags: {}, env: {}, knownVendors: [], knownDialects: [] })
      console.log(JSON.stringify(Object.keys(require.cache)))`
    const run = Bun.spawnSync([process.execPath, '-e', script])
    const loaded: string[] = JSON.parse(run.stdout.toString())
    expect(loaded.some((path) => path.endsWith('/src/config/build.ts'))).toBe(true)
    expect(loaded.filter((path) => /node_modules\/(zod|yaml)\//.test(path))).toEqual([])
  })
})

describe('precedence', () => {
  const file = 'server: { host: 10.0.0.1, port: 1000 }\ndata: from-file\nlogLevel: warn'

  test('flag, then environment, then file, then default', async () => {
    const env = { PORT: '2000', HOST: '10.0.0.2', TOLLGATE_DATA: '/from-env', LOG_LEVEL: 'debug' }
    const flags = { port: '3000', host: '10.0.0.3', data: '/from-flag' }
    expect((await load(null)).server.port).toBe(8787)
    expect((await load(file)).server).toMatchObject({ host: '10.0.0.1', port: 1000 })
    const fromEnv = await load(file, env)
    expect(fromEnv.server).toMatchObject({ host: '10.0.0.2', port: 2000 })
    expect(fromEnv).toMatchObject({ dataDir: '/from-env', logLevel: 'debug' })
    const fromFlags = await load(file, env, flags)
    expect(fromFlags.server).toMatchObject({ host: '10.0.0.3', port: 3000 })
    expect(fromFlags.dataDir).toBe('/from-flag')
  })

  test('so for the number of serving processes, which has its bounds everywhere', async () => {
    const text = 'server: { workers: 2 }'
    const counts = [
      await load(null),
      await load(text),
      await load(text, { TOLLGATE_WORKERS: '3' }),
      await load(text, { TOLLGATE_WORKERS: '3' }, { workers: '4' }),
    ].map(({ server }) => server.workers)
    expect(counts).toEqual([1, 2, 3, 4])
    const { problems } = await refused(load(null, { TOLLGATE_WORKERS: '0' }))
    expect(problems).toEqual([
      { path: 'TOLLGATE_WORKERS', message: 'expected a whole number from 1 to 64' },
    ])
    await refused(load('server: { workers: 65 }'))
  })

  test('--config stands above TOLLGATE_CONFIG, and an empty variable counts as unset', async () => {
    const TOLLGATE_CONFIG = fileOf('currency: CNY')
    expect((await load(null, { TOLLGATE_CONFIG })).currency).toBe('CNY')
    expect((await load('currency: EUR', { TOLLGATE_CONFIG })).currency).toBe('EUR')
    expect((await load(null, { TOLLGATE_CONFIG: '', PORT: '' })).server.port).toBe(8787)
  })

  test('a relative data folder in the file starts at the file', async () => {
    const config = await load(file)
    expect(config.dataDir).toBe(join(resolve(config.file ?? '', '..'), 'from-file'))
  })

  test('addresses come from the environment', async () => {
    const env = {
      DATABASE_URL: 'postgres://u:p@127.0.0.1/t',
      VALKEY_URL: 'redis://127.0.0.1:6379',
      PUBLIC_URL: 'https://gate.example/',
    }
    const config = await load('databaseUrl: postgres://other/x', env)
    expect(config.databaseUrl).toBe(env.DATABASE_URL)
    expect(config.valkeyUrl).toBe(env.VALKEY_URL)
    expect(config.server.publicUrl).toBe('https://gate.example')
  })

  test('bad flags and variables are named, all at once and beside those of the file', async () => {
    const env = { PORT: '70000', PUBLIC_URL: 'nowhere', DATABASE_URL: 'mysql://h/x' }
    const error = await refused(
      load('curency: USD', { ...env, LOG_LEVEL: 'loud', VALKEY_URL: 'tcp:x' }),
    )
    const paths = error.problems.map(({ path }) => path).sort()
    const expected = ['DATABASE_URL', 'LOG_LEVEL', 'PORT', 'PUBLIC_URL', 'VALKEY_URL', 'curency']
    expect(paths).toEqual(expected)
    const flagged = await refused(load(null, env, { port: 'eighty' }))
    expect(flagged.problems[0]).toEqual({
      path: '--port',
      message: 'expected a whole number from 0 to 65535',
    })
  })
})

describe('the file', () => {
  test('the documented example is read whole', async () => {
    const config = await load(designExample, designEnv)
    expect(config.channels).toEqual([
      {
        id: 'main',
        vendor: 'openai',
        baseUrl: 'http://127.0.0.1:9000/v1',
        key: 'vendor-key',
        models: { 'gpt-4o-mini': 'gpt-4o-mini' },
        groups: ['default'],
        priority: 0,
        weight: 1,
        disabled: false,
        dialect: null,
        timeouts: {},
        options: {},
        origin: 'file',
      },
    ])
    expect(config.models['gpt-4o-mini']?.prices).toEqual({
      input: '0.15',
      cachedInput: '0.075',
      output: '0.60',
    })
    expect(config.accounts).toEqual({ bench: { credit: '1000' } })
    expect(config.keys[0]).toMatchObject({ group: 'default', secret: 'bench-secret-0123456789' })
  })

  test('JSON is read too', async () => {
    const text = JSON.stringify({ channels: [{ id: 'a', vendor: 'openai', models: { x: 'y' } }] })
    expect((await load(text)).channels[0]?.models).toEqual({ x: 'y' })
  })

  test('the shipped example is valid', async () => {
    const text = await Bun.file(join(import.meta.dir, '../../examples/tollgate.yaml')).text()
    const env = { OPENAI_API_KEY: 'a', DEEPSEEK_API_KEY: 'b', TEAM_KEY: 'team-secret-0123456789' }
    const config = await load(text, env)
    expect(config.channels.map(({ id }) => id)).toEqual(['openai', 'deepseek'])
    expect(config.keys[0]?.expiresAt).toBe(Date.UTC(2030, 0, 1))
    expect(config.groups.trial?.limits.concurrentRequests).toBe(4)
  })

  test('an empty file, a byte order mark and sections left empty are accepted', async () => {
    expect((await load('')).server.port).toBe(8787)
    expect((await load('# nothing yet\n')).server.port).toBe(8787)
    expect((await load('\uFEFFcurrency: EUR')).currency).toBe('EUR')
    const config = await load('server:\nchannels:\naccounts:\n  bench:\ngroups:\n  vip:\n')
    expect(config.accounts).toEqual({ bench: { credit: null } })
    expect(config.groups.vip).toEqual({ id: 'vip', multiplier: '1', models: ['*'], limits: {} })
  })

  test('a missing file and a folder are said to be so', async () => {
    const missing = await refused(load(null, {}, { config: '/nowhere/tollgate.yaml' }))
    expect(missing.message).toBe(
      'The configuration /nowhere/tollgate.yaml is refused:\n  the file does not exist',
    )
    const folder = await refused(load(null, {}, { config: tmpdir() }))
    expect(folder.message).toContain('the file is a folder, not a file')
  })

  test('YAML that cannot be read gives line and column and quotes nothing', async () => {
    const error = await refused(load('currency: USD\nkeys:\n  - "sk-secret\n'))
    expect(error.message).toMatch(/line \d+, column \d+: \w+/)
    expect(error.message).not.toContain('sk-secret')
    const twice = await refused(load('currency: USD\ncurrency: EUR'))
    expect(twice.message).toContain('line 2, column 1: a key that occurs twice in its section')
    const alias = await refused(load('currency: *secretanchor'))
    expect(alias.message).toContain('line 1, column 11: alias without an anchor before it')
    expect(alias.message).not.toContain('secretanchor')
    const flow = await refused(load('currency: USD\nserver: { port: ${P} }', { P: '80' }))
    expect(flow.message).toContain('a reference needs quotes: "${NAME}"')
  })

  test('the result cannot be changed and answers for no name it does not hold', async () => {
    const config = await load(designExample, designEnv)
    const parts = [config, config.server, config.channels, config.channels[0], config.groups]
    for (const part of [...parts, config.channels[0]?.models, config.keys[0]?.limits]) {
      expect(Object.isFrozen(part)).toBe(true)
    }
    expect(config.channels[0]?.models?.constructor).toBeUndefined()
    expect(config.groups.toString).toBeUndefined()
  })
})

test('what is said of money is taken as said, the rest as usual', async () => {
  const config = await load(`
billing: { clientLeaves: drain, durability: strict, maxHeldPerKey: "2.5", emptyAnswers: }
ledger: { settleMs: 50 }
models: { "acme/*": { context: 9 }, "__proto__*": {} }
keys: [{ name: k, secret: "0123456789abcdef", showCost: true }, { name: l, secret: "0123456789abcdeg" }]`)
  expect(config.billing).toMatchObject({ clientLeaves: 'drain', durability: 'strict' })
  expect(config.billing).toMatchObject({ maxHeldPerKey: '2.5', emptyAnswers: 'charged' })
  expect(config.ledger).toMatchObject({ settleMs: 50, leaseMs: 60_000 })
  expect(Object.keys(config.models)).toEqual(['acme/*', '__proto__*'])
  expect(config.keys.map(({ showCost }) => showCost)).toEqual([true, false])
})

describe('references to the environment', () => {
  test('stand for text, numbers, yes or no and choices', async () => {
    const text = `
server: { port: "\${P}", host: "\${A}.\${B}" }
retry: { retryUncertain: "\${NO}" }
logLevel: \${LEVEL}
accounts: { a: { credit: "\${CREDIT}" } }
keys: [{ name: k, secret: "\${DIGITS}" }]`
    const env = { P: '99', A: 'x', B: 'y', NO: 'false', LEVEL: 'error', CREDIT: '1.50' }
    const config = await load(text, { ...env, DIGITS: '1234567890123456' })
    expect(config.server).toMatchObject({ port: 99, host: 'x.y' })
    expect(config.retry.retryUncertain).toBe(false)
    expect(config.logLevel).toBe('error')
    expect(config.accounts.a?.credit).toBe('1.50')
    expect(config.keys[0]?.secret).toBe('1234567890123456')
  })

  test.each(['NOT_SET', 'constructor'])('%s, which is not set, is reported once', async (name) => {
    const found = await problems(`keys: [{ name: k, secret: "\${${name}}" }]`)
    expect(found).toEqual([
      { path: 'keys[0].secret', message: `environment variable ${name} is not set` },
    ])
  })

  test('$${ is a literal ${, and any other form is refused', async () => {
    const config = await load('channels: [{ id: a, vendor: openai, key: "$${X} $5 $$" }]')
    expect(config.channels[0]?.key).toBe('${X} $5 $$')
    for (const text of ['${', '${X', '${}', '${A B}', '${X:-y}']) {
      const found = await problems(`channels: [{ id: a, vendor: openai, key: '${text}' }]`, {
        X: '',
      })
      expect(found[0]?.path).toBe('channels[0].key')
      expect(found[0]?.message).toContain('expected ${NAME}')
    }
  })

  test('whatever the value holds, it stays one text', async () => {
    const value = fc.string({ minLength: 16, unit: 'grapheme-ascii' })
    await fc.assert(
      fc.asyncProperty(value, async (secret) => {
        fc.pre(secret === secret.trim())
        const config = await load('keys: [{ name: k, secret: "${S}" }]', { S: secret })
        expect(config.keys).toHaveLength(1)
        expect(config.keys[0]?.secret).toBe(secret)
      }),
      { numRuns: 50 },
    )
  })
})

test('a file checked apart gives the same configuration, and the same problems', async () => {
  const names = {
    knownVendors: ['openai'],
    knownDialects: ['openai-chat'],
    env: { SECRET: 's'.repeat(20) },
  }
  const good = fileOf(
    'channels: [{ id: a, vendor: openai, key: "${SECRET}", models: { x: y } }]\nkeys: [{ name: k, secret: "${SECRET}", expiresAt: 2030-01-01 }]\n',
  )
  const load = (file: string, apart: boolean) =>
    loadConfig({ ...names, flags: { config: file }, apart })
  expect(await load(good, true)).toEqual(await load(good, false))
  const bad = fileOf('channels: [{ id: a, vendor: opnai, key: "${NONE}" }]\nservr: {}\n')
  const problems = async (apart: boolean) =>
    load(bad, apart).then(
      () => null,
      (error) => error.problems,
    )
  const found = await problems(true)
  expect(found).toEqual(await problems(false))
  expect(found?.length).toBeGreaterThan(1)
})

describe('where hosted results are kept', () => {
  const bucket = `
media:
  urlHours: 2
  store:
    s3:
      endpoint: https://s3.example/
      bucket: results
      accessKeyId: \${ID}
      secretAccessKey: \${SECRET}
`

  test('is this machine unless a store is named', async () => {
    expect((await load('server: {}')).media).toMatchObject({ urlHours: 24, s3: null })
    expect((await load('media: { store: { s3: } }')).media.s3).toBeNull()
    const { media } = await load(bucket, { ID: 'AKID', SECRET: 'S3CRET' })
    expect(media).toMatchObject({ urlHours: 2, maxResultBytes: 1024 ** 3 })
    expect(media.s3).toEqual({
      endpoint: 'https://s3.example',
      bucket: 'results',
      region: null,
      accessKeyId: 'AKID',
      secretAccessKey: 'S3CRET',
      prefix: 'tollgate/',
    })
  })

  test('is not started without the secrets of the store', async () => {
    const path = 'media.store.s3.secretAccessKey'
    const unset = await problems(bucket, { ID: 'AKID' })
    expect(unset).toEqual([expect.objectContaining({ path })])
    const empty = await problems(bucket, { ID: 'AKID', SECRET: '' })
    expect(empty).toEqual([expect.objectContaining({ path })])
    const left = await problems('media: { store: { s3: { bucket: b } } }')
    expect(left.map((each) => each.path)).toEqual(['media.store.s3.accessKeyId', path])
  })

  test('holds no longer than a store signs for', async () => {
    expect(await problems('media: { urlHours: 169 }')).toEqual([
      { path: 'media.urlHours', message: 'expected a whole number from 1 to 168' },
    ])
  })
})

test('the key that addresses are signed with comes from the environment, and is long', async () => {
  expect((await load(null)).encryptionKey).toBeNull()
  expect((await load(null, { ENCRYPTION_KEY: '' })).encryptionKey).toBeNull()
  const given = await load(null, { ENCRYPTION_KEY: '0123456789abcdef' })
  expect(given.encryptionKey).toBe('0123456789abcdef')
  const short = await refused(load(null, { ENCRYPTION_KEY: '0123456789abcde' }))
  expect(short.problems).toEqual([
    { path: 'ENCRYPTION_KEY', message: 'expected at least 16 characters' },
  ])
})

describe('values in files of their own', () => {
  const channel = 'channels: [{ id: a, vendor: openai, key: { file: vendor.key } }]'

  function folderOf(texts: Readonly<Record<string, string>>): string {
    const folder = mkdtempSync(join(tmpdir(), 'tollgate-config-'))
    folders.push(folder)
    for (const [name, text] of Object.entries(texts)) writeFileSync(join(folder, name), text)
    return join(folder, 'tollgate.yaml')
  }

  test('a secret is read from beside the configuration, without its last line end', async () => {
    const file = folderOf({
      'tollgate.yaml': `${channel}\nkeys: [{ name: k, secret: { file: team.key } }]`,
      'vendor.key': 'sk-vendor\n',
      'team.key': 'team-secret-0123456789\r\n',
    })
    const config = await load(null, {}, { config: file })
    expect(config.channels[0]?.key).toBe('sk-vendor')
    expect(config.keys[0]?.secret).toBe('team-secret-0123456789')
    expect(config.sources).toEqual([file, join(file, '../vendor.key'), join(file, '../team.key')])
  })

  test('a file that is missing or empty is a problem of its place, and all are reported', async () => {
    const file = folderOf({
      'tollgate.yaml': `${channel}\nkeys: [{ name: k, secret: { file: gone } }]\nnodes: 0`,
      'vendor.key': '\n',
    })
    const { problems: found } = await refused(load(null, {}, { config: file }))
    expect(found.map(({ path }) => path)).toEqual(['channels[0].key', 'keys[0].secret', 'nodes'])
    expect(found[0]?.message).toEndWith('vendor.key is empty')
    expect(found[1]?.message).toEndWith('gone does not exist')
  })

  test('where no secret is expected, `file` is a name like any other', async () => {
    const models = await load('channels: [{ id: a, vendor: openai, models: { file: gpt-5 } }]')
    expect(models.channels[0]?.models).toEqual({ file: 'gpt-5' })
    const found = await problems('currency: { file: x }')
    expect(found).toEqual([{ path: 'currency', message: 'expected a currency code' }])
  })

  test('the environment file stands above the environment', async () => {
    const file = folderOf({
      'tollgate.yaml':
        'environmentFile: vendor.env\nchannels: [{ id: a, vendor: openai, key: "${ONE}${TWO}${THREE}" }]',
      'vendor.env': '# keys\nONE=new\n export TWO="a b" \r\n\n',
    })
    const config = await load(null, { ONE: 'old', THREE: '!' }, { config: file })
    expect(config.channels[0]?.key).toBe('newa b!')
  })

  test('a line of it that is none is named by its number, never shown', async () => {
    const file = folderOf({
      'tollgate.yaml': 'environmentFile: vendor.env',
      'vendor.env': 'ONE=1\nhunter2\n',
    })
    const { problems: found } = await refused(load(null, {}, { config: file }))
    expect(found).toEqual([{ path: 'environmentFile', message: 'line 2: expected NAME=value' }])
  })
})

test('a base address with credentials or a query is refused, its secret not shown', async () => {
  for (const baseUrl of ['https://user:hunter2@h/v1', 'https://h/v1?key=hunter2']) {
    const found = await problems(`channels: [{ id: a, vendor: openai, baseUrl: "${baseUrl}" }]`)
    expect(found).toEqual([
      {
        path: 'channels[0].baseUrl',
        message: 'expected an http or https address without credentials, query or fragment',
      },
    ])
  }
})
