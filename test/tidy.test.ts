// Checks the tree against the project's rules, and proves for each rule that it can fail.
import { beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  linksResolve,
  namedPathsExist,
  namesAreDocumented,
  rowsAreTested,
  schemaKeys,
  vendorsHaveFixtures,
} from './tidy/coverage.ts'
import { exportsAreUsed } from './tidy/exports.ts'
import { namesNoKind } from './tidy/kinds.ts'
import {
  bunStaysInItsFiles,
  environmentIsConfig,
  importCycles,
  importsPointDown,
  onlyDialConnects,
  onlyStoreHasSql,
  unknownRooms,
  wireIsPure,
} from './tidy/layers.ts'
import { parseSources, readTree, type Source, type TreeFile } from './tidy/source.ts'
import {
  everyTestRuns,
  filesAreShort,
  filesSayWhatTheyAre,
  functionsAreShort,
  noBarrels,
  nothingIsLeftToDo,
  nothingPointsElsewhere,
  nothingSleeps,
  shapesAreSmall,
} from './tidy/style.ts'
import { tableRule } from './tidy/tables.ts'
import { wordsAreOfTheField } from './tidy/words.ts'

type Rule = (sources: readonly Source[]) => string[]
type Sample = readonly [path: string, text: string]

/** This many members, one per line. */
function methods(count: number, member: (number: number) => string): string {
  return Array.from({ length: count }, (_, number) => member(number)).join('\n')
}

/** Per rule: files that it must reject, each separately, and files that it must accept, all together. */
const rules: readonly { rule: Rule; bad: readonly Sample[]; good: readonly Sample[] }[] = [
  tableRule,
  {
    rule: unknownRooms,
    bad: [
      ['src/helpers/text.ts', ''],
      ['src/utilities.ts', ''],
    ],
    good: [
      ['src/wire/ir.ts', ''],
      ['src/money.test.ts', ''],
      ['test/anything.ts', ''],
    ],
  },
  {
    rule: importsPointDown,
    bad: [
      ['src/wire/ir.ts', `import { a } from '../vendors/openai.ts'`],
      ['src/wire/ir.ts', `import type { A } from '../catalog/model.ts'`],
      ['src/router/plan.ts', `export { a } from '../limits/limiter.ts'`],
      ['src/router/plan.ts', `type A = import('../http/server.ts').A`],
      ['src/relay/relay.ts', `await import('../http/server.ts')`],
      ['src/errors.ts', `import { a } from './money.ts'`],
      ['src/main.ts', `import { a } from './cli/main.ts'`],
      ['src/relay/relay.ts', `import { a } from '../../test/support/a.ts'`],
      ['src/http/server.ts', `import { a } from '../paysim/paysim.ts'`],
      ['src/paysim/alipay.ts', `import { AlipaySdk } from 'alipay-sdk'`],
    ],
    good: [
      ['src/main.ts', `import { a } from './http/server.ts'\nimport { b } from './paysim.ts'`],
      ['src/telemetry/log.ts', `import { a } from '../errors.ts'`],
      ['src/wire/ir.ts', `import { a } from './sse.ts'\nimport { z } from 'zod'`],
      ['src/wire/ir.test.ts', `import { a } from '../../test/support/a.ts'`],
      ['test/a.ts', `import { a } from '../src/main.ts'\nimport { b } from '../src/wire/ir.ts'`],
    ],
  },
  {
    rule: wireIsPure,
    bad: [
      ['src/wire/ir.ts', `import { x } from 'node:buffer'`],
      ['src/wire/ir.ts', `import { x } from 'fs'`],
      ['src/wire/ir.ts', `import type { x } from 'bun'`],
      ['src/wire/ir.ts', 'const a = Bun.hash(1)'],
      ['src/wire/ir.ts', 'const a = process.pid'],
      ['src/wire/ir.ts', 'const a = globalThis.process'],
      ['src/wire/ir.ts', 'const a = Buffer.from("")'],
    ],
    good: [
      ['src/wire/ir.test.ts', `import { x } from 'node:fs'\nBun.file('')`],
      ['src/wire/ir.ts', '// process the Buffer\nconst a = { process: 1 }.process'],
      ['src/relay/path.ts', `import { Buffer } from 'node:buffer'`],
    ],
  },
  {
    rule: bunStaysInItsFiles,
    bad: [
      ['src/http/respond.ts', 'Bun.serve({})'],
      ['src/http/respond.ts', 'const { serve } = globalThis.Bun'],
      ['src/store/postgres.ts', `import { SQL } from 'bun'`],
      ['src/store/store.ts', `import { Database } from 'bun:sqlite'`],
      ['src/relay/relay.ts', 'let a: Bun.Socket'],
    ],
    good: [
      ['src/http/server.ts', 'Bun.serve({})'],
      ['src/upstream/connection.ts', `import type { Socket } from 'bun'`],
      ['src/store/sqlite.ts', `import { Database } from 'bun:sqlite'`],
      ['src/http/respond.test.ts', `import { test } from 'bun:test'`],
      ['src/http/respond.ts', '// Bun.serve calls this\nconst a = "Bun.serve"'],
    ],
  },
  {
    rule: onlyDialConnects,
    bad: [
      ['src/vendors/openai.ts', `await fetch('x')`],
      ['src/vendors/openai.ts', 'const send = { fetch }'],
      ['src/relay/relay.ts', 'globalThis.fetch("x")'],
      ['src/relay/relay.ts', `import { connect } from 'node:net'`],
      ['src/relay/relay.ts', `import tls from 'tls'`],
      ['src/http/server.ts', 'Bun.connect({})'],
      ['src/operations/realtime/request.ts', 'new WebSocket("x")'],
    ],
    good: [
      ['src/upstream/dial.ts', 'Bun.connect({})'],
      ['src/upstream/connection.ts', `import { connect } from 'node:tls'`],
      ['src/limits/valkey-link.ts', 'new Bun.RedisClient("x")'],
      ['src/http/address.ts', `import { isIP } from 'node:net'`],
      ['src/http/server.ts', 'Bun.serve({ fetch(request: Request) {} })'],
      ['src/relay/relay.ts', 'const f = (fetch: () => void) => fetch()'],
    ],
  },
  {
    rule: onlyStoreHasSql,
    bad: [
      ['src/history/recorder.ts', 'const a = `SELECT id FROM requests`'],
      ['src/history/recorder.ts', 'const a = `insert into requests (id) values (${1})`'],
      ['src/cli/main.ts', 'const a = "delete from requests"'],
      ['src/ledger/hold.ts', 'const a = "UPDATE wallets SET held = 1"'],
      ['src/main.ts', 'const a = "CREATE TABLE a (b int)"'],
      ['src/main.ts', `import type { Kysely } from 'kysely'`],
    ],
    good: [
      ['src/store/sqlite.ts', 'const a = "SELECT id FROM requests"'],
      ['src/http/page.ts', 'const a = "Select a model, then send."'],
      ['src/ledger/hold.test.ts', 'const a = "SELECT id FROM requests"'],
    ],
  },
  {
    rule: environmentIsConfig,
    bad: [
      ['src/vendors/openai.ts', 'const a = process.env.KEY'],
      ['src/vendors/openai.ts', `const a = process['env']`],
      ['src/http/server.ts', 'const { env } = process'],
      ['src/http/server.ts', 'const a = globalThis.process.env'],
      ['src/http/server.ts', 'const a = Bun.env.KEY'],
      ['src/http/server.ts', 'const a = import.meta.env.KEY'],
      ['src/relay/relay.ts', `import { env } from 'node:process'`],
    ],
    good: [
      ['src/config.ts', 'const a = process.env.KEY'],
      ['src/config/load.ts', 'const a = process.env.KEY'],
      ['src/cli/serve.ts', 'const a = process.env.KEY'],
      ['src/telemetry/log.ts', 'const a = process.pid'],
    ],
  },
  {
    rule: namesNoKind,
    bad: [
      ['src/http/reply.ts', `import { a } from '../operations/images/request.ts'`],
      ['src/http/body/read.ts', `import { a } from '../../wire/openai-chat/peek.ts'`],
      ['src/http/reply.ts', `import { a } from '../vendors/anthropic.ts'`],
      ['src/http/reply.ts', `const a = operation === 'speech'`],
      ['src/http/admission.ts', 'const a = dialects.gemini'],
      ['src/http/front.ts', `const a = dialects['openai-chat']`],
      ['src/http/front.ts', 'function sandbox() {}'],
      ['src/relay/call.ts', `const a = operation === 'chat'`],
      ['src/relay/send.ts', `import { a } from '../vendors/sandbox/settings.ts'`],
    ],
    good: [
      ['src/http/endpoints.ts', `import { a } from '../operations/images/request.ts'`],
      ['src/http/admission.ts', `import { a } from '../operations/operation.ts'`],
      ['src/http/reply.test.ts', `const a = dialects['openai-chat']`],
      ['src/relay/translate.ts', `const translation = part.type === 'image'`],
      ['src/router/plan.ts', `const a = 'openai-chat'`],
    ],
  },
  {
    rule: functionsAreShort,
    bad: [
      ['src/relay/relay.ts', `export function a() {\n${'  b()\n'.repeat(69)}}`],
      ['src/relay/relay.ts', `const a = async () => {\n${'  b()\n'.repeat(69)}}`],
      ['scripts/a.mjs', `class A {\n  b() {\n${'  c()\n'.repeat(69)}}\n}`],
      ['test/b.test.ts', `describe('a', () => {\n  const b = () => {\n${'c()\n'.repeat(69)}}\n})`],
      ['test/a.test.ts', `test('a', () => {\n${'  b()\n'.repeat(69)}})`],
    ],
    good: [
      ['src/relay/relay.ts', `/**\n * Long.\n */\nfunction a() {\n${'  b()\n'.repeat(68)}}`],
      ['test/a.test.ts', `describe('a', () => {\n${'  test("b", () => {})\n'.repeat(90)}})`],
      ['test/b.test.ts', `describe.each([1])('a', () => {\n${'  f()\n'.repeat(90)}})`],
      ['test/c.ts', `function suite() {\n  test('a', () => {})\n${'  f()\n'.repeat(90)}}`],
      ['test/d.ts', `const e = () => {\n for (const a of b) test(a, g)\n${'  f()\n'.repeat(90)}}`],
      ['src/errors.ts', `class A {\n${'  b() {}\n'.repeat(90)}}`],
    ],
  },
  {
    rule: shapesAreSmall,
    bad: [
      ['src/relay/relay.ts', `interface A {\n${methods(8, (n) => `a${n}(): void`)}\n}`],
      ['src/relay/relay.ts', `interface A {\n${methods(8, (n) => `a${n}?: () => void`)}\n}`],
      ['src/relay/relay.ts', `type A = {\n${methods(8, (n) => `a${n}: (() => void) | null`)}\n}`],
      ['test/a.ts', `class A {\n${methods(21, (n) => `#a${n}() {}`)}\n}`],
      ['src/relay/relay.ts', `const a = class {\n${methods(21, (n) => `a${n} = () => 1`)}\n}`],
      ['src/relay/relay.ts', `class A {\n${methods(21, (n) => `get a${n}() { return 1 }`)}\n}`],
    ],
    good: [
      ['src/relay/relay.ts', `interface A {\n${methods(7, (n) => `a${n}(): void\nb${n}: A`)}\n}`],
      [
        'src/relay/relay.ts',
        `class A {\nconstructor() {}\n${methods(20, (n) => `a${n}() {}\nb${n} = 1`)}\n}`,
      ],
      ['src/relay/relay.ts', `const a = {\n${methods(30, (n) => `a${n}() {},`)}\n}`],
    ],
  },
  {
    rule: wordsAreOfTheField,
    bad: [
      ['src/meter/till.ts', ''],
      ['src/safe-fetch/door/open.ts', ''],
      ['src/wire/ir.ts', 'const toldAgain = 1'],
      ['src/wire/ir.ts', 'class A {\n  #heard = 1\n}'],
      ['src/wire/ir.ts', 'function a({ b: unsaid }: B) {}'],
      ['src/wire/ir.ts', 'interface ImageAsk {}'],
      ['src/wire/ir.ts', 'type Asked = 1'],
      ['src/wire/ir.ts', '// Through the door.'],
      ['src/wire/ir.ts', 'throw new Error(`no purse for ${a}`)'],
    ],
    good: [
      ['src/wire/ir.test.ts', 'const modelAsked = ask(tablet)'],
      [
        'src/wire/ir.ts',
        'const a = b.verdict\n// What the vendor is told still, by an indoor sensor.',
      ],
      ['src/wire/ir.ts', 'interface AskedFor { ask(): void; askedMs: number; sealed: A }'],
      ['test/door.ts', 'const told = 1'],
    ],
  },
  {
    rule: filesAreShort,
    bad: [['bench/a.ts', 'a()\n'.repeat(501)]],
    good: [['bench/a.ts', 'a()\n'.repeat(500)]],
  },
  {
    rule: filesSayWhatTheyAre,
    bad: [
      ['src/errors.ts', `import { a } from 'b'\n// Late.`],
      ['src/errors.ts', '//\nconst a = 1'],
      ['scripts/a.mjs', '#!/usr/bin/env node\nconst a = 1'],
    ],
    good: [
      ['src/errors.ts', '// What may fail.\n'],
      ['src/money.ts', '/** Amounts. */\n'],
      ['src/config.ts', '/**\n * Settings.\n */\n'],
      ['scripts/a.mjs', '#!/usr/bin/env node\n// Runs.\n'],
    ],
  },
  {
    rule: nothingIsLeftToDo,
    bad: [
      ['src/errors.ts', 'a() // TODO later'],
      ['src/errors.ts', '/* FIXME */'],
      ['src/errors.ts', '// @ts-expect-error for now\na()'],
      ['src/errors.ts', '// biome-ignore lint: why\na()'],
      ['src/errors.ts', 'a(`${1 /* TODO */}`)'],
    ],
    good: [
      ['src/errors.ts', `const a = '// TODO'; const b = \`// FIXME \${a} // TODO\``],
      ['src/money.ts', 'const a = /\\/\\/ TODO/'],
    ],
  },
  {
    rule: everyTestRuns,
    bad: [
      ['src/a.test.ts', `import { test } from 'bun:test'\ntest.skip('a', () => {})`],
      ['src/a.test.ts', `describe.only('a', () => {})`],
      ['src/a.test.ts', `it.todo('a')`],
      ['src/a.test.ts', `test.only.each([1])('a', () => {})`],
      ['src/a.test.ts', `xit('a', () => {})`],
      ['test/a.test.ts', `const isLong = Bun.env['TEST_LONG'] === '1'`],
    ],
    good: [['src/a.test.ts', `test.skipIf(false)('a', () => {})\nstream.skip(1)`]],
  },
  {
    rule: nothingSleeps,
    bad: [
      ['test/a.test.ts', 'await Bun.sleep(50)'],
      ['src/a.test.ts', 'await new Promise((resolve) => setTimeout(resolve, 50))'],
      ['test/a.test.ts', `import { setTimeout as delay } from 'node:timers/promises'`],
    ],
    good: [['test/support/clients.ts', 'await Bun.sleep(10)']],
  },
  {
    rule: noBarrels,
    bad: [
      ['src/wire/index.ts', `export * from './ir.ts'`],
      ['src/wire/index.ts', `import { a } from './ir.ts'\nexport { a }`],
    ],
    good: [['src/wire/sse.ts', `import { a } from './ir.ts'\nexport const b = a\nexport { a }`]],
  },
  {
    rule: exportsAreUsed,
    bad: [
      ['src/wire/a.ts', 'export function a() {}'],
      ['src/wire/a.ts', 'export const a = 1\nconst b = a'],
      ['src/wire/a.ts', 'export type A = 1'],
      ['src/wire/a.ts', `export interface A {}\nimport { A } from './b.ts'`],
    ],
    good: [
      ['src/wire/a.ts', 'export const a = 1, b = 2\nexport type C = 1\nconst d = b'],
      ['src/wire/b.ts', `import { a, type C } from './a.ts'`],
      ['src/wire/a.test.ts', `import { b } from './a.ts'\nimport { e } from './e.ts'`],
      ['src/wire/e.ts', '// For tests: all.\nexport const e = 1'],
      ['src/wire/f.ts', 'export const f = 1'],
      ['src/cli/main.ts', `await import(new URL('../wire/f.ts', import.meta.url).href)`],
    ],
  },
]

/** Samples may share a path, so each is parsed in a separate folder. */
async function parseSamples(samples: readonly Sample[]): Promise<Source[]> {
  const inFolders = samples.map(([path, text], index) => ({ path: `${index}/${path}`, text }))
  const parsed = await parseSources(inFolders)
  return parsed.map((source) => ({ ...source, path: source.path.replace(/^\d+\//, '') }))
}

const root = join(import.meta.dir, '..')
const files = readTree(root)
const own = /^(src|test|bench|scripts|examples)\//
let sources: Source[]

beforeAll(async () => {
  sources = (await parseSources(files)).filter(({ path }) => own.test(path))
})

describe('the tree', () => {
  test('is read', () => {
    expect(sources.map(({ path }) => path)).toContain('test/tidy.test.ts')
    expect(files.map(({ path }) => path)).toContain('README.md')
  })

  for (const { rule } of rules) {
    test(rule.name, () => expect(rule(sources)).toEqual([]))
  }

  test('importCycles', () => expect(importCycles(sources)).toEqual([]))

  test('nothingPointsElsewhere', () => expect(nothingPointsElsewhere(files)).toEqual([]))

  test('linksResolve', () => expect(linksResolve(files)).toEqual([]))

  test('error codes are documented', async () => {
    const { errorTable } = await import(join(root, 'src/errors.ts'))
    expect(namesAreDocumented('error code', Object.keys(errorTable), files)).toEqual([])
  })

  test('configuration keys are documented', () => {
    const path = join(root, 'config.schema.json')
    const keys = schemaKeys(JSON.parse(readFileSync(path, 'utf8')))
    expect(keys).not.toBeEmpty()
    expect(namesAreDocumented('configuration key', keys, files)).toEqual([])
  })

  test.each([
    ['docs/reliability.md', '| I1 |'],
    ['docs/translation.md', '| W1 |'],
  ])('what %s says is tested by number', (path, row) => {
    const page = files.find((file) => file.path === path)
    expect(page?.text).toContain(row)
    if (page !== undefined) expect(rowsAreTested(page, files)).toEqual([])
  })

  test('vendors have fixtures', async () => {
    const { vendors } = await import(join(root, 'src/vendors/registry.ts'))
    expect(vendorsHaveFixtures(Object.keys(vendors), files)).toEqual([])
  })

  test('ARCHITECTURE.md names files that exist', () => {
    const page = {
      path: 'ARCHITECTURE.md',
      text: readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8'),
    }
    expect(namedPathsExist(page, files)).toEqual([])
  })
})

describe('a rule on sources', () => {
  for (const { rule, bad, good } of rules) {
    test(`${rule.name} faults what is bad and only that`, async () => {
      for (const source of await parseSamples(bad)) {
        expect(rule([source]), source.text).toHaveLength(1)
      }
      expect(rule(await parseSamples(good))).toEqual([])
    })
  }

  test('importCycles', async () => {
    const cycle: Sample[] = [
      ['src/wire/a.ts', `import { b } from './b.ts'`],
      ['src/wire/b.ts', `import type { c } from './c.ts'`],
      ['src/wire/c.ts', `import { a } from './a.ts'`],
    ]
    const found = importCycles(await parseSamples(cycle))
    expect(found).toEqual([
      'import cycle: src/wire/a.ts > src/wire/b.ts > src/wire/c.ts > src/wire/a.ts',
    ])
    expect(importCycles(await parseSamples(cycle.slice(0, 2)))).toEqual([])
  })
})

describe('a rule on the tree', () => {
  test('nothingPointsElsewhere', () => {
    const folder = ['', 'root', 'project'].join('/')
    const tracker = ['issue', '#12'].join(' ')
    for (const text of [`see ${folder}`, `"${folder}"`, `as ${tracker} says`]) {
      expect(nothingPointsElsewhere([{ path: 'docs/a.md', text }])).toHaveLength(1)
    }
    const fine = `network/x ./root/x https://a.example${folder} <div>/root </div> issue 12`
    expect(nothingPointsElsewhere([{ path: 'docs/a.md', text: fine }])).toEqual([])
  })

  test('exportsAreUsed faults what only tests use', async () => {
    const samples: Sample[] = [
      ['src/wire/a.ts', 'export const a = 1'],
      ['src/wire/a.test.ts', `import { a } from './a.ts'`],
    ]
    expect(exportsAreUsed(await parseSamples(samples))).toEqual([
      'src/wire/a.ts:1: only tests use a',
    ])
  })

  test('namesAreDocumented', () => {
    const docs = [{ path: 'docs/errors.md', text: 'server_error `not_found`\n```\nport: 1\n```' }]
    expect(namesAreDocumented('code', ['not_found', 'port'], docs)).toEqual([])
    expect(namesAreDocumented('code', ['server_error', 'found'], docs)).toHaveLength(2)
    expect(namesAreDocumented('code', ['port'], [{ path: 'a.md', text: '`port`' }])).toHaveLength(1)
  })

  test('schemaKeys', () => {
    const inner = { anyOf: [{ properties: { deep: {} } }], default: { properties: { not: 1 } } }
    const schema = {
      properties: { properties: { additionalProperties: inner }, list: { items: { $ref: '#' } } },
      $defs: { Name: { properties: { key: { enum: ['x'] } } } },
    }
    expect(schemaKeys(schema).sort()).toEqual(['deep', 'key', 'list', 'properties'])
  })

  test('vendorsHaveFixtures', () => {
    const path = 'test/fixtures/vendors/a/chat.json'
    expect(vendorsHaveFixtures(['a'], [{ path, text: '{"source":"recorded"}' }])).toEqual([])
    expect(vendorsHaveFixtures(['a'], [{ path, text: '{"source":"guessed"}' }])).toHaveLength(1)
    expect(vendorsHaveFixtures(['a'], [{ path, text: '[]' }])).toHaveLength(1)
    expect(vendorsHaveFixtures(['b'], [{ path, text: '{"source":"recorded"}' }])).toHaveLength(1)
  })

  test('rowsAreTested', () => {
    const page = { path: 'docs/a.md', text: '| I1 | kept |\n| I2 | kept |\n| B30 | not |' }
    const text = `test('I1, I2: holds', () => {})\nconst b = 'B30'`
    const found = rowsAreTested(page, [{ path: 'src/a.test.ts', text }])
    expect(found).toEqual(['docs/a.md: no test names B30'])
    expect(rowsAreTested(page, [{ path: 'src/a.ts', text }])).toHaveLength(3)
  })

  test('linksResolve', () => {
    const page = (text: string): TreeFile[] => [
      { path: 'docs/a.md', text },
      { path: 'README.md', text: '' },
    ]
    const good =
      '[a](../README.md#x) [b](https://a.example) [c](#d) [d](.) `[e](f)`\n\n[r]: ../README.md'
    expect(linksResolve(page(good))).toEqual([])
    for (const bad of ['[a](README.md)', '![a](b.png)', '[a](<c d.md>)', '[r]: gone.md']) {
      expect(linksResolve(page(bad)), bad).toHaveLength(1)
    }
  })

  test('namedPathsExist', () => {
    const tree = [{ path: 'src/wire/ir.ts', text: '' }]
    const text = '`src/wire/ir.ts`, `src/wire/`, `src/wire/gone.ts`.'
    const page = { path: 'ARCHITECTURE.md', text }
    expect(namedPathsExist(page, tree)).toEqual([
      'ARCHITECTURE.md: src/wire/gone.ts does not exist',
    ])
  })
})
