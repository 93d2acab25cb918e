// Tests the price commands as an operator uses them: real processes on a data directory with shipped and declared
// cards.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { shippedPrices } from '../src/catalog/shipped-prices.ts'
import type { ModelConfig } from '../src/config/types.ts'
import { ensurePrices } from '../src/meter/ensure-prices.ts'
import type { PriceRow } from '../src/store/ledger.ts'
import { openStore } from '../src/store/open.ts'
import {
  makeDirectory,
  makeSchema,
  type TestDirectory,
  testDatabaseUrl,
} from './contract/databases.ts'
import { runCommand } from './support/command-line.ts'

let scratch: TestDirectory
let data: string
let made = 0

const declared: ModelConfig = {
  kind: null,
  context: null,
  maxOutput: null,
  vision: null,
  ownedBy: null,
  prices: { input: '7', output: '8' },
  timeouts: {},
}

async function withPrices<Result>(
  work: (store: Awaited<ReturnType<typeof openStore>>) => Promise<Result>,
): Promise<Result> {
  const store = await openStore({ dataDir: data, databaseUrl: null })
  try {
    return await work(store)
  } finally {
    await store.close()
  }
}

beforeAll(() => {
  scratch = makeDirectory()
})
afterAll(() => scratch.remove())
/** The state that a server leaves after one start. */
beforeEach(async () => {
  made += 1
  data = join(scratch.path, `data-${made}`)
  await withPrices((store) =>
    ensurePrices(store.prices, { 'gpt-4o': declared, 'acme/*': declared }, shippedPrices('USD'), 1),
  )
})

const run = (...args: string[]) =>
  runCommand(['price', ...args, '--data', data], scratch.path, { USER: 'ann' })

async function runJson(...args: string[]) {
  const { code, out, err } = await run(...args, '--json')
  return { code, err, value: out === '' ? null : JSON.parse(out) }
}

const versions = (): Promise<readonly PriceRow[]> => withPrices((store) => store.prices.all())

async function inForce(model: string) {
  const { value } = await runJson('list', model)
  return value[0]
}

function write(name: string, value: unknown): string {
  const file = join(scratch.path, `${made}-${name}`)
  writeFileSync(file, typeof value === 'string' ? value : JSON.stringify(value))
  return file
}

describe('price list', () => {
  test('shows the card in force of every model, or of one, or what speaks for it', async () => {
    const { code, err, value } = await runJson('list')
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(value.length).toBe(shippedPrices('USD').length + 1)
    expect(value.every(({ state }: { state: string }) => state === 'in force')).toBe(true)
    expect(await inForce('sandbox/chat')).toMatchObject({
      origin: 'shipped',
      source: 'sandbox',
      prices: { input: '0.50', cachedInput: '0.05', output: '1.50' },
      state: 'in force',
    })
    expect(await inForce('gpt-4o')).toMatchObject({ origin: 'file', prices: { input: '7' } })
    expect(await inForce('acme/new')).toMatchObject({ model: 'acme/*', origin: 'file' })
    expect((await runJson('list', 'nobody')).code).toBe(1)
  })

  test('--all shows what is replaced and what is scheduled', async () => {
    await run('set', 'o3', 'input=2', 'output=9')
    await run('schedule', 'o3', '--from', '2099-01-31T00:00:00Z', 'input=3', 'output=9')
    const { value } = await runJson('list', 'o3', '--all')
    expect(
      value.map((each: { state: string; origin: string }) => [each.origin, each.state]),
    ).toEqual([
      ['shipped', 'replaced'],
      ['set', 'in force'],
      ['set', 'scheduled'],
    ])
    expect(value[2].from).toBe('2099-01-31T00:00:00.000Z')
    const { out } = await run('list', 'o3', '--all')
    expect(out).toMatch(/^MODEL +VERSION +FROM +ORIGIN +STATE +PRICES/)
    expect(out).toMatch(/^o3 +\d+ +- +shipped +replaced +input 2, .* 2026-09-23\n/m)
  })
})

describe('price set and schedule', () => {
  test('append a version that holds from now, with who and from where, and change no other', async () => {
    const before = await versions()
    const from = Date.now()
    const args = ['o3', 'input=2.50', 'output=10', 'input>200000=3', '--source', 'contract']
    const { code, value } = await runJson('set', ...args)
    expect(code).toBe(0)
    const after = await versions()
    expect(after.slice(0, before.length)).toEqual([...before])
    const row = after.at(-1)
    expect(row).toMatchObject({
      model: 'o3',
      origin: 'set',
      source: 'contract',
      actor: 'ann',
      prices: { input: '2.5', output: '10', 'input>200000': '3' },
    })
    expect(row?.effectiveFrom).toBeWithin(from, Date.now() + 1)
    expect(value).toMatchObject({ version: row?.version, model: 'o3' })
    expect(await inForce('o3')).toMatchObject({ version: row?.version })
  })

  test('what would charge more than tenfold, or nothing, needs a word', async () => {
    const count = (await versions()).length
    for (const prices of [
      ['input=20.1', 'output=8'],
      ['input=0.19', 'output=8'],
      ['input=2', 'output=0'],
      ['input=2'],
    ]) {
      const { code, err } = await run('set', 'o3', ...prices)
      expect({ prices, code }).toEqual({ prices, code: 1 })
      expect(err).toContain('--allow-large applies it')
    }
    expect(await versions()).toHaveLength(count)
    // Without a separate price, a cached token costs as much as an uncached one: 0.5 -> 20.
    expect((await run('set', 'o3', 'input=20', 'output=8')).err).toContain(
      'o3: cachedInput 0.5 -> 20',
    )
    expect((await run('set', 'o3', 'input=20', 'cachedInput=0.5', 'output=0.8')).code).toBe(0)
    expect((await run('set', 'o3', 'input=2', '--allow-large')).err).toContain(
      'without output, requests to o3 are refused',
    )
  })

  test('a model nobody knows is taken with a note, one of the file is told to stay', async () => {
    const fresh = await run('set', 'brand-new', 'input=1', 'output=2')
    expect(fresh).toMatchObject({ code: 0 })
    expect(fresh.err).toContain('note: brand-new is not a model known so far')
    const filed = await run('set', 'gpt-4o', 'input=2', 'output=8')
    expect(filed.err).toContain('note: the configuration file prices gpt-4o')
    expect(await inForce('gpt-4o')).toMatchObject({ origin: 'file' })
  })

  test('a command line that is wrong changes nothing', async () => {
    const count = (await versions()).length
    const wrong: [string[], string][] = [
      [['set', 'o3'], 'price set needs NAME=PRICE...'],
      [['set', 'o3', 'inputs=1'], 'inputs: unknown price; did you mean input?'],
      [['set', 'o3', 'input>0=1'], 'input>0: a tier is written input>200000'],
      [['set', 'o3', 'input=1e3'], 'input: expected a decimal of at least 0'],
      [['set', 'o3', 'input=-1'], 'input: expected a decimal of at least 0'],
      [['set', 'o3', 'input'], 'input: expected NAME=PRICE'],
      [['set', 'o3', 'input=1', 'input=2'], 'input: was given twice'],
      [['set', 'o*', 'input=1'], 'names that begin alike are priced in the configuration file'],
      [['schedule', 'o3', 'input=1'], '--from is missing'],
      [['schedule', 'o3', 'input=2', '--from', '2020-01-01'], 'is in the past'],
    ]
    const ended = await Promise.all(wrong.map(([args]) => run(...args)))
    for (const [index, { code, err }] of ended.entries()) {
      expect({ code, err }).toEqual({
        code: 2,
        err: expect.stringContaining(wrong[index]?.[1] ?? '?'),
      })
    }
    expect(await versions()).toHaveLength(count)
  })
})

describe('price rollback and withdraw', () => {
  test('bring an earlier card back as a new version', async () => {
    const shipped = await inForce('o3')
    const first = (await runJson('set', 'o3', 'input=3', 'output=9')).value
    await run('set', 'o3', 'input=4', 'output=9')
    const back = (await runJson('rollback', 'o3')).value
    expect(back).toMatchObject({ prices: first.prices, origin: 'set', actor: 'ann' })
    expect(back.source).toBe(`version ${first.version}: command line`)
    expect(await inForce('o3')).toMatchObject({ version: back.version })
    const oldest = (await runJson('rollback', 'o3', '--to', String(shipped.version))).value
    expect(oldest).toMatchObject({ prices: shipped.prices, sourceDate: '2026-09-23' })
    for (const version of ['999999', String((await inForce('o1')).version)]) {
      const { code, err } = await run('rollback', 'o3', '--to', version)
      expect({ code, err }).toEqual({
        code: 1,
        err: expect.stringContaining('has no card of version'),
      })
    }
    expect((await run('rollback', 'o1')).err).toContain('o1 has no earlier card')
  })

  test('what is withdrawn gives way to the shipped card, and can be brought back', async () => {
    const shipped = await inForce('o3')
    const set = (await runJson('set', 'o3', 'input=3', 'output=9')).value
    expect((await runJson('withdraw', 'o3')).value).toMatchObject({ prices: {} })
    expect(await inForce('o3')).toEqual(shipped)
    expect((await run('withdraw', 'o3')).code).toBe(1)
    await run('rollback', 'o3')
    expect((await inForce('o3')).prices).toEqual(set.prices)
  })

  test('a withdrawal names what is still scheduled, which can be cancelled', async () => {
    await run('set', 'own', 'input=1', 'output=2')
    const from = '2100-01-31T00:00:00.000Z'
    const { version } = (await runJson('schedule', 'own', 'input=2', 'output=2', '--from', from))
      .value
    const filed = 'gpt-4o'
    await run('set', filed, 'input=6', 'output=8')
    expect((await run('withdraw', filed)).err).toContain(`the configuration file prices ${filed}`)
    const withdrawn = await run('withdraw', 'own')
    expect(withdrawn.err).toContain(`version ${version} still begins at ${from}`)
    const cancelled = (await runJson('cancel', 'own', String(version))).value
    expect(cancelled).toMatchObject({ from, prices: {} })
    expect((await runJson('list', 'own', '--scheduled')).value).toEqual([])
    expect((await run('cancel', 'own', String(version))).code).toBe(1)
    expect((await run('cancel', 'own', 'next')).code).toBe(2)
  })
})

describe('price import', () => {
  const ours = {
    o3: {
      prices: { input: '2.20', cachedInput: '0.5', output: '8' },
      source: 'a page',
      date: '2026-11-20',
    },
    o1: { prices: { input: '15', cachedInput: '7.50', output: '60.0' } },
    'brand-new': { prices: { input: '1', output: '2' } },
  }

  test('shows what would change, and changes it only with --yes', async () => {
    const file = write('ours.json', ours)
    const count = (await versions()).length
    const shown = await runJson('import', '--file', file)
    expect(shown.code).toBe(3)
    expect(shown.err).toContain('2 of 3 models would change')
    expect(shown.value).toMatchObject({ applied: false, versions: [] })
    expect(shown.value.changes.map(({ model }: { model: string }) => model)).toEqual([
      'o3',
      'brand-new',
    ])
    expect(shown.value.changes[0].differences).toEqual([
      { name: 'input', before: '2', after: '2.2', percent: '+10.0', large: false },
    ])
    expect(await versions()).toHaveLength(count)

    const table = await run('import', '--file', file)
    expect(table.out).toMatch(/^MODEL +PRICE +OLD +NEW +PERCENT\no3 +input +2 +2\.2 +\+10\.0\n/)

    const applied = await runJson('import', '--file', file, '--yes')
    expect(applied).toMatchObject({
      code: 0,
      value: { applied: true, versions: [count + 1, count + 2] },
    })
    expect(await inForce('o3')).toMatchObject({
      origin: 'import',
      source: 'a page',
      sourceDate: '2026-11-20',
    })
    expect(await runJson('import', '--file', file)).toMatchObject({
      code: 0,
      value: { changes: [] },
    })
  })

  test('refuses the insane whole, and takes a part of the file when asked', async () => {
    const insane = { ...ours, o3: { prices: { input: '0.002', output: '8' } } }
    const file = write('insane.json', insane)
    const count = (await versions()).length
    const refused = await run('import', '--file', file, '--yes')
    expect(refused.code).toBe(1)
    expect(refused.err).toContain('becomes 0 (o3); --allow-large applies it')
    expect(await versions()).toHaveLength(count)
    const part = await runJson('import', '--file', file, '--yes', '--model', 'brand*')
    expect(part).toMatchObject({ code: 0, value: { versions: [count + 1] } })
    expect((await run('import', '--file', file, '--yes', '--allow-large')).code).toBe(0)
    expect((await run('import', '--file', file, '--model', '*x')).code).toBe(2)
    expect((await run('import', '--file', file, '--model', 'nobody')).code).toBe(1)
  })

  test('says all that is wrong with a file of ours', async () => {
    const file = write('bad.json', {
      a: { prices: { inputs: '1', input: 1, output: '-2' }, note: '' },
      b: {},
      'c*': { prices: { input: '1' }, date: '31.1.2027', source: 3 },
    })
    const { code, err } = await run('import', '--file', file)
    expect(code).toBe(1)
    for (const words of [
      'a: inputs: unknown price',
      'a: input: expected a decimal',
      'a: output: expected a decimal',
      'a: note: unknown key',
      'b: prices: expected at least one',
      'c*: date: expected a day',
      'c*: source: expected text',
      'c*: expected the whole name of a model',
    ]) {
      expect(err).toContain(words)
    }
    expect((await run('import', '--file', write('text.json', 'prices'))).err).toContain(
      'is not JSON',
    )
    expect((await run('import')).code).toBe(2)
  })

  const openai = {
    id: 'openai',
    pricing_urls: ['https://openai.example/prices'],
    models: [
      { id: 'o3', match: { starts_with: 'o3' }, prices: { input_mtok: 2.5, output_mtok: 8 } },
      {
        id: 'not-shipped',
        match: { equals: 'not-shipped' },
        prices: { input_mtok: 1, output_mtok: 1 },
      },
    ],
  }
  const named = ({ value }: { value: { changes: { model: string }[] } }) =>
    value.changes.map(({ model }) => model)

  test('takes the shipped models from the data of others, or all of one vendor', async () => {
    const file = write('data.json', [openai])
    const shipped = await runJson('import', '--file', file)
    expect(named(shipped)).toEqual(['o3', 'o3-mini'])
    expect(shipped.value.changes[0]).toMatchObject({
      source: 'https://openai.example/prices',
      prices: { input: '2.5', output: '8' },
    })
    const whole = await runJson('import', '--file', file, '--vendor', 'openai')
    expect(named(whole)).toEqual(['o3', 'not-shipped', 'o3-mini'])
    expect((await run('import', '--file', file, '--vendor', 'nobody')).err).toContain(
      'no prices of nobody',
    )
  })

  test('does not take dollars for another currency', async () => {
    await withPrices((store) => store.deployment.rememberCurrency('CNY'))
    const { code, err } = await run('import', '--file', write('data.json', [openai]), '--yes')
    expect({ code, err }).toEqual({
      code: 1,
      err: expect.stringContaining('are in USD, but the currency of the deployment is CNY'),
    })
    expect((await run('import', '--file', write('ours.json', ours))).code).toBe(3)
  })
})

if (testDatabaseUrl !== null) {
  const url = testDatabaseUrl
  test('all of it works on PostgreSQL', async () => {
    const schema = await makeSchema(url)
    try {
      const env = { DATABASE_URL: schema.url }
      const on = (...args: string[]) => runCommand(['price', ...args, '--json'], scratch.path, env)
      expect((await runCommand(['migrate'], scratch.path, env)).code).toBe(0)
      expect((await on('set', 'a', 'input=1', 'output=2')).code).toBe(0)
      expect((await on('set', 'a', 'input=2', 'output=2')).code).toBe(0)
      expect(JSON.parse((await on('rollback', 'a')).out)).toMatchObject({ prices: { input: '1' } })
      expect(JSON.parse((await on('list', 'a', '--all')).out)).toHaveLength(3)
    } finally {
      await schema.drop()
    }
  })
}
