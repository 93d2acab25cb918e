// Tests files that are not a configuration, or are endless: each is refused at once with the place, and nothing is
// thrown.

import { afterEach, beforeEach, expect, test } from 'bun:test'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadConfig } from './load.ts'
import { ConfigError } from './problems.ts'
import type { Config } from './types.ts'

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tollgate-parse-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

function loadFile(file: string): Promise<Config> {
  return loadConfig({
    flags: { config: file },
    env: {},
    knownVendors: ['openai'],
    knownDialects: [],
  })
}

function load(content: string | Uint8Array): Promise<Config> {
  const file = join(folder, 'tollgate.yaml')
  writeFileSync(file, content)
  return loadFile(file)
}

/** Path and message of each problem. */
async function problems(loading: Promise<Config>): Promise<readonly string[]> {
  try {
    await loading
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return error.problems.map(({ path, message }) => `${path}: ${message}`)
  }
  return []
}

const levels = (opening: string, closing: string) => opening.repeat(100_000) + closing

const refused: readonly (readonly [what: string, text: string, problem: string])[] = [
  [
    'a list in itself',
    'models: &a [*a]',
    'line 1, column 13: an alias inside the value of its own anchor',
  ],
  ['a section in itself', 'a: 1\nmodels: &a\n  x: { y: *a }', 'line 3, column 11: an alias inside'],
  ['a section merged into itself', 'models: &a\n  <<: *a', 'line 2, column 7: an alias inside'],
  [
    'lists of lists of aliases',
    bomb((name) => `[${name}]`),
    'line 7, column 18: aliases up to here',
  ],
  ['merges of merges', bomb((name) => `{ <<: [${name}] }`), 'aliases up to here stand for more'],
  ['lists in lists', levels('[', ']'.repeat(100_000)), 'line 1, column 101: more than 100 levels'],
  ['sections in JSON', levels('{"a":', `1${'}'.repeat(100_000)}`), 'column 501: more than 100'],
  ['dashes', levels('- ', ''), 'more than 100 levels deep'],
  ['keys of keys', levels('? ', ''), 'more than 100 levels deep'],
  [
    'a key twice, once as a number',
    'models: { 1: {}, "1": {} }',
    'column 18: a key that occurs twice',
  ],
  ['a key of a list', '[models]: {}', 'line 1, column 1: a section or a list cannot be a key'],
  ['a key with a prototype', 'models: { __proto__: {} }', 'column 11: a key cannot be called'],
  ['a merge of a text', '<<: USD', 'line 1, column 5: expected a section, or a list of sections'],
  ['a value of a tag', 'currency: !!binary VVNE', 'line 1, column 20: an unknown tag'],
  ['two documents', 'currency: USD\n---\ncurrency: EUR', 'line 2, column 1: a second document'],
  ['a byte of zero', 'currency: "U\0SD"', 'line 1, column 13: control characters'],
]

/** Nine references to the entry before, thirty times. */
function bomb(write: (aliases: string) => string): string {
  const lines = ['a0: &a0 { x: 1 }']
  for (let at = 1; at < 30; at++)
    lines.push(
      `a${at}: &a${at} ${write(
        Array(9)
          .fill(`*a${at - 1}`)
          .join(','),
      )}`,
    )
  return lines.join('\n')
}

test.each(refused)('%s is refused by its place', async (_what, text, problem) => {
  const [first] = await problems(load(text))
  expect(first).toContain(problem)
})

test('what is not UTF-8 text, is too long or no plain file is said to be so', async () => {
  const utf16 = Buffer.from('\uFEFFcurrency: USD\n', 'utf16le')
  expect(await problems(load(utf16))).toEqual([': the file is in UTF-16; expected UTF-8'])
  expect(await problems(load(utf16.subarray(2)))).toEqual([
    ': line 1, column 2: control characters are not allowed',
  ])
  const bytes = Uint8Array.from({ length: 999 }, (_, at) => at % 256)
  expect(await problems(load(bytes))).toEqual([': the file is not UTF-8 text'])
  const long = '#\n'.repeat(25_000_000)
  expect(await problems(load(long))).toEqual([': the file is longer than 16777216 bytes'])
  const pipe = join(folder, 'pipe')
  expect(spawnSync('mkfifo', [pipe]).status).toBe(0)
  const isPipe = 'is a pipe, a device or a socket, not a plain file'
  expect(await problems(loadFile(pipe))).toEqual([': the file is a pipe that sent nothing'])
  const text = `environmentFile: pipe\nserver: { metricsToken: { file: /dev/zero } }`
  expect(await problems(load(text))).toEqual([
    `environmentFile: the file ${pipe} ${isPipe}`,
    `server.metricsToken: the file /dev/zero ${isPipe}`,
  ])
})

test('what comes through a pipe is read to its end', async () => {
  const text = `models: { m: { context: 7 } }\n${'# and so on\n'.repeat(100_000)}`
  writeFileSync(join(folder, 'text'), text)
  const pipe = join(folder, 'pipe')
  expect(spawnSync('mkfifo', [pipe]).status).toBe(0)
  const writer = Bun.spawn(['sh', '-c', 'exec 3<>pipe; echo open; cat text >&3; cat >&3'], {
    cwd: folder,
    stdin: new Blob(['currency: EUR\n']),
    stdout: 'pipe',
  })
  await writer.stdout.getReader().read()
  const config = await loadFile(pipe)
  expect(await writer.exited).toBe(0)
  expect([config.currency, config.models.m?.context]).toEqual(['EUR', 7])
})

test('names that every object knows are names like others, and no variables', async () => {
  const text =
    'models: { constructor: { context: 5 }, toString: {} }\ngroups: { valueOf: {} }\naccounts: { constructor: }'
  const config = await load(text)
  expect(Object.keys(config.models)).toEqual(['constructor', 'toString'])
  expect(config.models).toHaveProperty('constructor.context', 5)
  expect(Object.keys(config.groups)).toEqual(['default', 'valueOf'])
  expect(await problems(load('currency: ${constructor}'))).toEqual([
    'currency: environment variable constructor is not set',
  ])
})

test('aliases stand for what they name, often, and merges for what is not said otherwise', async () => {
  const names = Array.from({ length: 500 }, (_, at) => `m${at}`)
  const config = await load(
    [
      'models:',
      '  base: &base { context: 7, maxOutput: 3 }',
      ...names.map((name) => `  ${name}: *base`),
      '  later: &base { context: 9 }',
      '  own: { maxOutput: 4, <<: [*base, { context: 1, vision: true }] }',
      '  twice: { <<: *base, context: 8, <<: { maxOutput: 5 } }',
    ].join('\n'),
  )
  for (const name of names) expect(config.models[name]).toMatchObject({ context: 7, maxOutput: 3 })
  expect(config.models.own).toMatchObject({ context: 9, maxOutput: 4, vision: true })
  expect(config.models.twice).toMatchObject({ context: 8, maxOutput: 5 })
})
