// Tests commands about catalogue documents and vendors: updates of the catalogue, a vendor's own models, a complete
// check.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openStore } from '../src/store/open.ts'
import { makeDirectory, type TestDirectory } from './contract/databases.ts'
import { runCommand } from './support/command-line.ts'

let scratch: TestDirectory
let stub: Bun.Server<undefined>
let base: string
const secret = 'vendor-secret-0123456789'
const asked: string[] = []

const document = {
  openai: {
    models: {
      'gpt-4o-mini': { cost: { input: 0.2, output: 0.6, cache_read: 0.075 } },
      'brand-new': { cost: { input: 1, output: 2 } },
    },
  },
}

beforeAll(async () => {
  scratch = makeDirectory()
  stub = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch(request) {
      const { pathname } = new URL(request.url)
      asked.push(`${request.method} ${pathname} ${request.headers.get('authorization')}`)
      if (pathname === '/api.json') return Response.json(document)
      if (pathname === '/away')
        return new Response(null, { status: 302, headers: { location: 'http://127.0.0.2:1/' } })
      if (pathname === '/v1/models')
        return Response.json({
          data: ['gpt-4o', 'gpt-4o-mini', 'gpt-9', 'text-embedding-3-small'].map((id) => ({ id })),
        })
      if (pathname === '/broken/models') return new Response('<html>', { status: 200 })
      const error = { message: `the key ${secret} is not one of ours` }
      return Response.json({ error }, { status: 401 })
    },
  })
  base = `http://127.0.0.1:${stub.port}`
})
afterAll(async () => {
  await stub.stop(true)
  scratch.remove()
})

const run = (...args: string[]) => runCommand(args, scratch.path, { USER: 'ann' })

function write(name: string, value: unknown): string {
  const file = join(scratch.path, name)
  writeFileSync(file, JSON.stringify(value))
  return file
}

describe('catalog update', () => {
  test('shows what a document of models.dev would change, from a file or an address, and applies it when told', async () => {
    const data = join(scratch.path, 'update')
    mkdirSync(data)
    await (await openStore({ dataDir: data, databaseUrl: null })).close()
    const file = write('api.json', document)
    const update = (...words: string[]) =>
      run('catalog', 'update', ...words, '--data', data, '--json')
    for (const from of [file, `${base}/api.json`]) {
      const shown = await update('--from', from)
      expect(shown.code).toBe(3)
      expect(JSON.parse(shown.out)).toMatchObject({
        applied: false,
        changes: [
          { model: 'gpt-4o-mini', source: 'https://models.dev (openai)', prices: { input: '0.2' } },
        ],
      })
    }
    const whole = JSON.parse((await update('--from', file, '--vendor', 'openai')).out)
    expect(whole.changes.map(({ model }: { model: string }) => model)).toEqual(
      expect.arrayContaining(['gpt-4o-mini', 'brand-new']),
    )
    expect(JSON.parse((await update('--from', `${base}/api.json`, '--yes')).out).applied).toBeTrue()
    const { out } = await run('price', 'list', 'gpt-4o-mini', '--data', data, '--json')
    expect(JSON.parse(out)).toMatchObject([
      { origin: 'import', actor: 'ann', prices: { input: '0.2' } },
    ])
    expect((await update('--from', file)).code).toBe(0)
  })

  test('says in a line what is not to be had', async () => {
    const data = join(scratch.path, 'update')
    for (const from of [
      `${base}/away`,
      `${base}/v1/models`,
      `${base}/gone`,
      join(scratch.path, 'none.json'),
    ]) {
      const { code, err } = await run('catalog', 'update', '--from', from, '--data', data)
      expect([from, code, err.trim().split('\n').length]).toEqual([from, 1, 1])
    }
    expect((await run('catalog', 'update', '--data', data)).code).toBe(2)
    const folder = await run('catalog', 'update', '--from', data, '--data', data)
    expect(folder.err).toBe(`tollgate: Cannot read ${data}: it is a folder, not a file\n`)
    expect((await run('price', 'import', '--file', '/nosuch', '--data', data)).err).toBe(
      'tollgate: Cannot read /nosuch: there is no such file\n',
    )
  })
})

describe('channel models', () => {
  const config = () =>
    write('channels.yaml', {
      channels: [
        { id: 'whole', vendor: 'openai', baseUrl: `${base}/v1`, key: secret },
        {
          id: 'some',
          vendor: 'openai',
          baseUrl: `${base}/v1`,
          key: secret,
          models: { mini: 'gpt-4o-mini', 'my-*': 'text-*' },
        },
        { id: 'refused', vendor: 'openai', baseUrl: `${base}/v2`, key: secret },
        { id: 'broken', vendor: 'openai', baseUrl: `${base}/broken`, key: secret },
        { id: 'silent', vendor: 'bfl', key: secret },
        { id: 'own', vendor: 'sandbox' },
      ],
    })

  test("are the vendor's own, with the name callers have for each, and what becomes of it", async () => {
    const models = async (id: string) => {
      const { out } = await run('channel', 'models', id, '--config', config(), '--json')
      const { models: found } = JSON.parse(out)
      return found.map((each: Record<string, unknown>) => [
        each['model'],
        each['name'],
        each['kind'],
        each['problem'],
      ])
    }
    expect(await models('whole')).toEqual([
      ['gpt-4o', 'gpt-4o', 'chat', null],
      ['gpt-4o-mini', 'gpt-4o-mini', 'chat', null],
      ['gpt-9', null, 'chat', 'is not served'],
      ['text-embedding-3-small', 'text-embedding-3-small', 'embedding', null],
    ])
    expect(asked.at(-1)).toBe(`GET /v1/models Bearer ${secret}`)
    expect(await models('some')).toEqual([
      ['gpt-4o', null, 'chat', 'is not served'],
      ['gpt-4o-mini', 'mini', 'chat', null],
      ['gpt-9', null, 'chat', 'is not served'],
      ['text-embedding-3-small', 'my-embedding-3-small', 'embedding', 'has no price'],
    ])
    expect((await models('own')).length).toBeGreaterThan(5)
    const { out } = await run('channel', 'models', 'some', '--config', config())
    expect(out).toMatch(/^gpt-4o-mini +mini +chat +128000 +yes$/m)
  })

  test('that cannot be had are told in a line, without the key', async () => {
    const problems = {
      refused: '401 the key',
      broken: 'no list of models',
      silent: 'bfl has no list of models',
      whol: 'did you mean whole?',
    }
    for (const [id, words] of Object.entries(problems)) {
      const { code, out, err } = await run('channel', 'models', id, '--config', config())
      expect([id, code, out]).toEqual([id, 1, ''])
      expect(err).toContain(words)
      expect(err).not.toContain(secret)
    }
  })
})

describe('config check', () => {
  const check = async (config: unknown, ...words: string[]) => {
    const { code, out } = await run(
      'config',
      'check',
      write('check.yaml', config),
      '--json',
      ...words,
    )
    const { valid, problems } = JSON.parse(out)
    return {
      code,
      valid,
      problems: problems.map(
        (each: Record<string, string>) => `${each['path']}: ${each['message']}`,
      ),
    }
  }

  test('names every model without a price or a way, and every group and key that names none, at once', async () => {
    const found = await check({
      channels: [
        { id: 'a', vendor: 'openai', key: secret, models: ['gpt-4o', 'nobodys', 'half'] },
        {
          id: 'b',
          vendor: 'minimax',
          key: secret,
          models: { talk: 'speech-2.6-hd', 'any-*': 'MiniMax-*' },
          groups: ['small'],
        },
        { id: 'c', vendor: 'openai', key: secret, models: ['nobodys-either'], disabled: true },
      ],
      models: { half: { prices: { input: '1' } }, talk: { kind: 'speech' } },
      groups: {
        small: { models: ['any-thing', 'talk', 'gpt-5*'] },
        empty: { models: [] },
        all: {},
      },
      keys: [
        { name: 'k', group: 'small', secret: 'sk-0123456789abcdef', models: ['any-*', 'gpt-4o'] },
      ],
    })
    expect(found).toEqual({
      code: 1,
      valid: false,
      problems: [
        'channels[0].models.nobodys: has no price',
        'channels[0].models.half: has no price for output',
        'channels[1].models.talk: no vendor of its channels answers speech requests',
        'groups.small.models[2]: gpt-5* matches no model that is served',
        'groups.empty.models: names no model',
        'keys[0].models[1]: gpt-4o matches no model that is served',
      ],
    })
  })

  test('passes what is whole, by the prices of the data too', async () => {
    const config = {
      channels: [
        { id: 'a', vendor: 'openai', key: secret, models: ['gpt-4o', 'set-by-hand', 'more-*'] },
      ],
      groups: { g: { models: ['more-*', 'gpt-4o'] } },
    }
    const data = join(scratch.path, 'check')
    const before = await check(config, '--data', data)
    expect(before).toEqual({
      code: 1,
      valid: false,
      problems: ['channels[0].models.set-by-hand: has no price'],
    })
    mkdirSync(data)
    await (await openStore({ dataDir: data, databaseUrl: null })).close()
    await run('price', 'set', 'set-by-hand', 'input=1', 'output=2', '--data', data)
    expect(await check(config, '--data', data)).toEqual({ code: 0, valid: true, problems: [] })
    const shown = await run(
      'config',
      'check',
      write('bad.yaml', { groups: { g: { models: ['x'] } } }),
    )
    expect(shown).toMatchObject({ code: 1, out: '' })
    expect(shown.err).toContain('groups.g.models[0]: x matches no model that is served')
  })

  test('tells of a file that refers to itself where it does', async () => {
    const file = join(scratch.path, 'endless.yaml')
    writeFileSync(file, 'groups:\n  g: &g { limits: *g }\n')
    expect(await run('config', 'check', file)).toEqual({
      code: 1,
      out: '',
      err: `tollgate: The configuration ${file} is refused:\n  line 2, column 19: an alias inside the value of its own anchor, which would never end\n`,
    })
  })

  test('judges each of many groups and keys by its own models and channels', async () => {
    const each = Array.from({ length: 40 }, (_, at) => at)
    const model = (at: number) => (at % 2 === 0 ? 'gpt-4o' : `none-${at}`)
    const found = await check({
      channels: [
        { id: 'all', vendor: 'openai', key: secret, models: ['gpt-4o'] },
        ...each.map((at) => ({
          id: `c${at}`,
          vendor: 'openai',
          key: secret,
          models: { [`own-${at}`]: 'gpt-4o-mini' },
          groups: [`g${at}`],
        })),
      ],
      groups: Object.fromEntries(
        each.map((at) => [`g${at}`, { models: [model(at), `own-${at}`, `own-${at + 1}`] }]),
      ),
      keys: each.map((at) => ({
        name: `k${at}`,
        group: `g${at}`,
        secret: `sk-0123456789abcdef-${at}`,
        models: [`own-${at}`, `own-${at + 2}`],
      })),
    })
    const groups = each.flatMap((at) => [
      ...(at % 2 === 0
        ? []
        : [`groups.g${at}.models[0]: none-${at} matches no model that is served`]),
      `groups.g${at}.models[2]: own-${at + 1} matches no model that is served`,
    ])
    const keys = each.map(
      (at) => `keys[${at}].models[1]: own-${at + 2} matches no model that is served`,
    )
    expect(found.problems).toEqual([...groups, ...keys])
  })
})
