// Tests the watch with real files, changed as editors and deployments change them; every test waits for the event
// itself.

import { afterEach, beforeEach, expect, test } from 'bun:test'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadConfig } from './load.ts'
import type { ConfigError } from './problems.ts'
import type { Config } from './types.ts'
import { type ConfigWatch, type WatchOptions, watchConfig } from './watch.ts'

type Event = { config: Config } | { refused: ConfigError }

let folder = ''
let file = ''
let watching: ConfigWatch | null = null
let events: Event[] = []
let waiting: ((event: Event) => void) | null = null

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tollgate-watch-'))
  file = join(folder, 'tollgate.yaml')
  writeFileSync(file, 'currency: USD\n')
  events = []
  waiting = null
})

afterEach(async () => {
  await watching?.close()
  rmSync(folder, { recursive: true, force: true })
})

function emit(event: Event): void {
  const taken = waiting
  waiting = null
  if (taken === null) events.push(event)
  else taken(event)
}

function next(): Promise<Event> {
  const event = events.shift()
  if (event !== undefined) return Promise.resolve(event)
  return new Promise((taken) => {
    waiting = taken
  })
}

async function begin(options: Partial<WatchOptions> = {}): Promise<ConfigWatch> {
  watching = await watchConfig({
    file,
    load: () =>
      loadConfig({ flags: { config: file }, env: {}, knownVendors: [], knownDialects: [] }),
    async onConfig(config) {
      emit({ config })
      return 'taken'
    },
    onRefused: (refused) => emit({ refused }),
    debounceMs: 10,
    pollMs: 60_000,
    ...options,
  })
  return watching
}

async function nextCurrency(): Promise<string> {
  const event = await next()
  if ('refused' in event) throw event.refused
  return event.config.currency
}

test('a change in place is taken over', async () => {
  await begin()
  writeFileSync(file, 'currency: EUR\n')
  expect(await nextCurrency()).toBe('EUR')
  writeFileSync(file, 'currency: CNY\n')
  expect(await nextCurrency()).toBe('CNY')
})

test('a change between the first load and the watch is taken over', async () => {
  writeFileSync(file, 'currency: EUR\n')
  await begin({ text: 'currency: USD\n' })
  expect(await nextCurrency()).toBe('EUR')
})

test('what could not be taken over is tried again without a further change', async () => {
  let tries = 0
  await begin({
    pollMs: 20,
    async onConfig(config) {
      tries += 1
      if (tries < 3) return 'again'
      emit({ config })
      return 'taken'
    },
  })
  writeFileSync(file, 'currency: EUR\n')
  expect(await nextCurrency()).toBe('EUR')
  expect(tries).toBe(3)
})

test('a rename over the file is taken over, again and again', async () => {
  await begin()
  for (const currency of ['EUR', 'CNY', 'JPY']) {
    writeFileSync(join(folder, '.tollgate.yaml.swp'), `currency: ${currency}\n`)
    renameSync(join(folder, '.tollgate.yaml.swp'), file)
    expect(await nextCurrency()).toBe(currency)
  }
})

test('a file moved away and written anew, as some editors do, is taken over', async () => {
  await begin()
  renameSync(file, `${file}~`)
  writeFileSync(file, 'currency: EUR\n')
  expect(await nextCurrency()).toBe('EUR')
})

test('a file that was gone for a while is taken over as it comes back, and followed again', async () => {
  await begin()
  rmSync(file)
  const event = await next()
  if (!('refused' in event)) throw new Error('expected a refusal')
  expect(event.refused.message).toContain('the file does not exist')
  for (const currency of ['EUR', 'CNY']) {
    writeFileSync(file, `currency: ${currency}\n`)
    expect(await nextCurrency()).toBe(currency)
  }
  renameSync(file, `${file}~`)
  symlinkSync(`${file}~`, file)
  writeFileSync(join(folder, 'next'), 'currency: JPY\n')
  renameSync(join(folder, 'next'), file)
  expect(await nextCurrency()).toBe('JPY')
})

test('a mounted folder swapped by its link is taken over', async () => {
  for (const version of ['..1', '..2']) mkdirSync(join(folder, version))
  writeFileSync(join(folder, '..1/tollgate.yaml'), 'currency: USD\n')
  writeFileSync(join(folder, '..2/tollgate.yaml'), 'currency: EUR\n')
  rmSync(file)
  symlinkSync('..1', join(folder, '..data'))
  symlinkSync('..data/tollgate.yaml', file)
  await begin()
  symlinkSync('..2', join(folder, '..data_next'))
  renameSync(join(folder, '..data_next'), join(folder, '..data'))
  expect(await nextCurrency()).toBe('EUR')
})

test('an invalid file is refused with its problems, and the next good one is taken over', async () => {
  await begin()
  writeFileSync(file, 'curency: EUR\n')
  const event = await next()
  if (!('refused' in event)) throw new Error('expected a refusal')
  expect(event.refused.problems).toEqual([
    { path: 'curency', message: 'unknown key; did you mean currency?' },
  ])
  writeFileSync(file, 'currency: EUR\n')
  expect(await nextCurrency()).toBe('EUR')
})

async function refusal(): Promise<string> {
  const event = await next()
  if (!('refused' in event)) throw new Error('it was taken over')
  return event.refused.problems.map(({ message }) => message).join('\n')
}

test.each(['', '\n', '# nothing but a remark\n\n'])(
  'an emptied file (%p) is refused, by a reload too; the next good one is taken over',
  async (text) => {
    const watch = await begin()
    writeFileSync(file, text)
    expect(await refusal()).toContain('the file is empty')
    expect(await watch.reload()).toBe(false)
    expect(await refusal()).toContain('the file is empty')
    writeFileSync(file, 'currency: EUR\n')
    expect(await nextCurrency()).toBe('EUR')
  },
)

test('a file cut anywhere is refused; less at the end of its last section is an edit', async () => {
  const whole = [
    'currency: EUR',
    'groups: {}',
    'keys:',
    '  - { name: one, secret: one-0123456789abcdef }',
    '  - { name: two, secret: two-0123456789abcdef }',
    '',
  ].join('\n')
  const edit = whole.slice(0, whole.indexOf('  - { name: two'))
  await begin()
  writeFileSync(file, whole)
  expect(await nextCurrency()).toBe('EUR')
  // Texts that a YAML reader may or may not accept as complete; an edit is the same with and without its last newline.
  const edits = new Set([edit, edit.slice(0, -1), whole.slice(0, -1)])
  for (let end = 0; end < whole.length; end++) {
    const text = whole.slice(0, end)
    if (edits.has(text)) continue
    writeFileSync(file, text)
    expect(await refusal()).not.toBe('')
  }
  writeFileSync(file, edit)
  const event = await next()
  expect('config' in event && event.config.keys.map(({ name }) => name)).toEqual(['one'])
})

test('a reload takes over what the watch would take for a file cut short', async () => {
  writeFileSync(file, 'currency: EUR\nnodes: 2\n')
  const watch = await begin()
  writeFileSync(file, 'currency: EUR\n')
  expect(await refusal()).toContain('may be cut off')
  expect(await watch.reload()).toBe(true)
  expect(await nextCurrency()).toBe('EUR')
})

test('a burst of writes and a write of the same content load once', async () => {
  let loads = 0
  const load = async () => {
    loads += 1
    return loadConfig({ flags: { config: file }, env: {}, knownVendors: [], knownDialects: [] })
  }
  await begin({ load })
  writeFileSync(file, 'currency: USD\n')
  for (const currency of ['AAA', 'BBB', 'EUR']) writeFileSync(file, `currency: ${currency}\n`)
  expect(await nextCurrency()).toBe('EUR')
  expect(loads).toBe(1)
})

test('the poll alone is enough', async () => {
  const target = mkdtempSync(join(tmpdir(), 'tollgate-elsewhere-'))
  try {
    // Changes behind a link into another folder are not changes of the watched folder.
    writeFileSync(join(target, 'real.yaml'), 'currency: USD\n')
    rmSync(file)
    symlinkSync(join(target, 'real.yaml'), file)
    await begin({ pollMs: 20 })
    writeFileSync(join(target, 'real.yaml'), 'currency: EURO-TOO-LONG\n')
    expect('refused' in (await next())).toBe(true)
    writeFileSync(join(target, 'real.yaml'), 'currency: EUR\n')
    expect(await nextCurrency()).toBe('EUR')
  } finally {
    rmSync(target, { recursive: true, force: true })
  }
})

test('reload loads at once, changed or not, and says whether it took over', async () => {
  const { reload } = bound(await begin())
  expect(await reload()).toBe(true)
  expect(await nextCurrency()).toBe('USD')
  rmSync(file)
  expect(await reload()).toBe(false)
  const event = await next()
  if (!('refused' in event)) throw new Error('expected a refusal')
  expect(event.refused.message).toContain('the file does not exist')
})

test('a watch keeps no process alive, closed or not', () => {
  for (const last of ['await watching.close()', '']) {
    const script = `
      const { watchConfig } = await import(${JSON.stringify(join(import.meta.dir, 'watch.ts'))})
      const options = { load: async () => ({}), onConfig() {}, onRefused() {} }
      const watching = await watchConfig({ file: ${JSON.stringify(file)}, ...options })
      ${last}
      console.log('done')`
    const run = Bun.spawnSync([process.execPath, '-e', script], { timeout: 5_000 })
    expect(run.stdout.toString().trim()).toBe('done')
    expect(run.exitCode).toBe(0)
  }
})

function bound(watch: ConfigWatch): { reload: () => Promise<boolean> } {
  return { reload: () => watch.reload() }
}

test('whatever takes its place, the configuration in force stays, and what comes after is seen', async () => {
  await begin()
  const places: readonly (readonly [said: string, put: () => void])[] = [
    ['an alias inside', () => writeFileSync(file, 'models: &a [*a]\n')],
    ['levels deep', () => writeFileSync(file, '['.repeat(100_000))],
    ['UTF-16', () => writeFileSync(file, Buffer.from('\uFEFFcurrency: EUR\n', 'utf16le'))],
    ['is longer than', () => writeFileSync(file, '#\n'.repeat(10_000_000))],
    ['is a folder', () => mkdirSync(file)],
    ['is a pipe', () => expect(spawnSync('mkfifo', [file]).status).toBe(0)],
  ]
  for (const [said, put] of places) {
    rmSync(file, { recursive: true })
    put()
    const event = await nextOfAFile()
    expect('refused' in event && event.refused.message).toContain(said)
    rmSync(file, { recursive: true })
    writeFileSync(file, `currency: EUR # after what ${said}\n`)
    expect(await nextOfAFile()).toMatchObject({ config: { currency: 'EUR' } })
  }
})

/** The watch may also have reported the moment without a file. */
async function nextOfAFile(): Promise<Event> {
  const event = await next()
  const isMissing = 'refused' in event && event.refused.message.includes('does not exist')
  return isMissing ? nextOfAFile() : event
}
