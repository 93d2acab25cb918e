// Tests what a log line contains, what it never contains, and that no line is lost at the end.

import { expect, test } from 'bun:test'
import { mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { createLog } from './log.ts'
import { scrub } from './scrub.ts'
import { createSink } from './sink.ts'

function inFile<T>(use: (path: string, fd: number) => T): T {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-log-'))
  const path = join(folder, 'log')
  const fd = openSync(path, 'a')
  try {
    return use(path, fd)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

function lines(log: (fd: number) => void): Record<string, unknown>[] {
  return inFile((path, fd) => {
    log(fd)
    return readFileSync(path, 'utf8')
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line))
  })
}

test('a line is one JSON object with time, level, message and fields', () => {
  const [line] = lines((fd) => {
    const log = createLog({ level: 'info', fd })
    log.info(
      { request_id: 'req_1', status: 200, tokens: { input: 3 }, cost: 12n, none: null },
      'request',
    )
    log.output.flush()
  })
  expect(line).toEqual({
    level: 'info',
    ts: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:]{8}\.\d{3}Z$/),
    request_id: 'req_1',
    status: 200,
    tokens: { input: 3 },
    cost: '12',
    none: null,
    msg: 'request',
  })
})

test('levels and children', () => {
  const written = lines((fd) => {
    const log = createLog({ level: 'warn', fd })
    const child = log.child({ channel: 'main', key: 'hidden-by-name' })
    log.info({}, 'no')
    child.warn({}, 'one')
    expect(child.lines.writes('info')).toBe(false)
    log.output.flush()
    const silent = createLog({ level: 'silent', fd })
    silent.fatal({}, 'no')
    silent.output.flush()
    const all = createLog({ level: 'debug', fd }).child({ channel: 'main' })
    all.debug({}, 'two')
    all.trace({}, 'no')
    all.output.flush()
  })
  expect(written.map(({ level, msg, channel, key }) => [level, msg, channel, key])).toEqual([
    ['warn', 'one', 'main', '[redacted]'],
    ['debug', 'two', 'main', undefined],
  ])
})

const secret = 'sk-proj-Zx81kdkAAAkqoPPzmx9123'

test('secrets are hidden by name and by look, at any depth, in errors and in messages', () => {
  const written = lines((fd) => {
    const log = createLog({ level: 'info', fd })
    const cause = new Error(`refused Bearer ${secret}`)
    const error = new Error(`bad key ${secret}`, { cause })
    log.error(
      {
        err: error,
        headers: {
          Authorization: 'plainword1',
          'x-api-key': 'plainword2',
          'Set-Cookie': ['plainword3'],
        },
      },
      'x',
    )
    log.info(
      {
        key: 'plainword4',
        secret: 5,
        token: { deep: 'plainword5' },
        list: [{ cookie: 'plainword6' }, secret],
        url: `https://v.example/x?key=plainword7&b=1`,
      },
      `said ${secret}`,
    )
    log
      .child({ 'api-key': 'plainword8', note: secret })
      .info({ a: { b: { c: { d: { e: { f: { token: 'plainword9' } } } } } } }, 'deep')
    log.output.flush()
  })
  const text = JSON.stringify(written)
  expect(written.length).toBe(3)
  expect(text).not.toContain('plainword')
  expect(text).not.toContain('Zx81')
  expect(written[0]?.err).toMatchObject({
    type: 'Error',
    message: 'bad key [redacted]',
    cause: { type: 'Error', message: 'refused [redacted]' },
  })
  expect(text).toContain('b=1')
})

test('scrub removes what was given and what looks like a credential, and leaves prose alone', () => {
  const hidden = [
    'Incorrect API key provided: sk-proj-********************abcd.',
    'key sk-ant-api03-abcdefghijkl_mnop-qrstuv',
    'gsk_abcdefghijklmnopqrstuvwx',
    'AIzaSyA-abcdefghijklmnopqrstuvwxyz12345',
    'AKIAIOSFODNN7EXAMPLE',
    'Authorization: Bearer abc.def-ghi',
    'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc',
    'redis://user:hunter2hunter2@10.0.0.1/',
    'limit reached in organization org-AbCdEfGhIjKlMnOpQrStUvWx',
  ]
  for (const text of hidden) expect(scrub(text)).toContain('[redacted]')
  expect(scrub(hidden[0] ?? '')).not.toContain('abcd')
  const plain = [
    'The model `gpt-4o-mini-2024-07-18` does not exist',
    'task-management and risk-assessment, org-level, key-value store, pplx-70b-online',
    'messages[1].content: invalid type; see https://platform.openai.com/docs/api-reference',
    'chatcmpl-9abcdefghijklmnopqrstuv',
    '',
  ]
  for (const text of plain) expect(scrub(text)).toBe(text)
  // Searching to the end of the text from each beginning would take minutes.
  expect(scrub('eyJ-'.repeat(500_000))).toHaveLength(2_000_000)
  expect(
    scrub('Bad key: my own/secret+1 (my%20own%2Fsecret%2B1)', ['my own/secret+1', '', 'a']),
  ).toBe('Bad key: [redacted] ([redacted])')
})

test('a line stays one line of JSON whatever is in it', () => {
  fc.assert(
    fc.property(
      fc.array(
        fc.dictionary(
          fc.string(),
          fc.oneof(
            fc.string({ unit: 'binary' }),
            fc.double(),
            fc.constantFrom('Bearer "abcdefgh"', 'a?key=x"\\"', 'sk-abcdef\\"gh'),
          ),
        ),
        { maxLength: 5 },
      ),
      fc.string(),
      (fields, message) => {
        const written = lines((fd) => {
          const log = createLog({ level: 'info', fd })
          for (const each of fields) log.info(each, message)
          log.output.flush()
        })
        expect(written.length).toBe(fields.length)
      },
    ),
    { numRuns: 50 },
  )
})

test('lines wait, leave in order, and are all there', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-log-'))
  const path = join(folder, 'log')
  const sink = createSink(openSync(path, 'a'))
  for (let n = 0; n < 20_000; n += 1) sink.write(`line ${n} äöü\n`)
  await sink.drained()
  expect(sink.pending).toBe(0)
  sink.write('last\n')
  expect(sink.pending).toBe(5)
  sink.flush()
  const text = readFileSync(path, 'utf8').split('\n')
  expect(text.length).toBe(20_002)
  expect(text.slice(0, 20_000).every((line, n) => line === `line ${n} äöü`)).toBe(true)
  expect(text[20_000]).toBe('last')
  rmSync(folder, { recursive: true })
})

test('lines name their worker and its machine, those of requests and of children too', () => {
  const written = lines((fd) => {
    const log = createLog({ level: 'info', fd, worker: 2, node: 'rack "1"' })
    log.info({}, 'plain')
    log.child({ part: 'a' }).info({}, 'child')
    log.lines.members('"status":200', 'request')
    log.output.flush()
  })
  expect(written.map(({ node, worker, msg }) => [node, worker, msg])).toEqual([
    ['rack "1"', 2, 'plain'],
    ['rack "1"', 2, 'child'],
    ['rack "1"', 2, 'request'],
  ])
})

test("processes that share a pipe do not cut each other's lines", async () => {
  const writer = (name: string) => `
import { createSink } from ${JSON.stringify(join(import.meta.dir, 'sink.ts'))}
const sink = createSink(2, { shared: true })
for (let n = 0; n < 20000; n += 1) sink.write('${name} ' + n + ' ' + 'ä'.repeat(n % 900) + ' end\\n')
await sink.drained()`
  // The pipe is read slowly, so that it is full most of the time.
  const command = ['a', 'b']
    .map((name) => `"$BUN" -e '${writer(name).replaceAll("'", `'\\''`)}' 2>&1 &`)
    .join('\n')
  const child = Bun.spawn(['sh', '-c', `{ ${command}\nwait; } | cat`], {
    env: { ...process.env, BUN: process.execPath },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const text = await new Response(child.stdout).text()
  const found = text.split('\n').slice(0, -1)
  expect(found).toHaveLength(40_000)
  const whole = (line: string) => {
    const [, n = ''] = /^[ab] (\d+) ä* end$/.exec(line) ?? []
    return n !== '' && line.length === (Number(n) % 900) + n.length + 7
  }
  expect(found.filter((line) => !whole(line))).toEqual([])
})

test('past its bound the sink drops and counts; a closed descriptor costs lines and nothing else', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-log-'))
  const sink = createSink(openSync(join(folder, 'log'), 'a'), { limit: 100 })
  for (let n = 0; n < 30; n += 1) sink.write('0123456789')
  expect(sink.dropped).toBe(20)
  await sink.drained()
  sink.write('0123456789')
  expect(sink.dropped).toBe(20)
  const readOnly = createSink(openSync(join(folder, 'log'), 'r'))
  readOnly.write('lost\n')
  await readOnly.drained()
  expect(readOnly.dropped).toBe(1)
  readOnly.write('lost\n')
  readOnly.flush()
  expect(readOnly.dropped).toBe(2)
  rmSync(folder, { recursive: true })
})

const program = (ending: string, worker: number | null) => `
import { createLog } from ${JSON.stringify(join(import.meta.dir, 'log.ts'))}
const log = createLog({ level: 'info', worker: ${worker} })
for (let n = 0; n < 3000; n += 1) log.info({ n }, 'line')
${ending}`

/** The runtime's, about an error: from the first line of the source to the place. */
const message = /1 \| \n[^]*?\[eval\]:\d+:\d+\n/

test.each([
  ['the end of the program', '', null],
  ['process.exit', 'process.exit(3)', null],
  ['fatal and exit', "log.fatal({ n: 3000 }, 'line'); process.exit(1)", null],
  ['the end of a worker', '', 1],
  ['process.exit of a worker', 'process.exit(3)', 1],
  ['an error nobody caught', "throw new Error('boom')", null],
  ['an error nobody caught of a worker', "throw new Error('boom')", 1],
])('nothing is lost at %s', async (_name, ending, worker) => {
  const child = Bun.spawn([process.execPath, '-e', program(ending, worker)], {
    stderr: 'pipe',
    stdout: 'ignore',
  })
  // The runtime writes its own message to the same pipe, perhaps into the middle of a line.
  const text = (await new Response(child.stderr).text()).replace(message, '')
  const numbers = text
    .split('\n')
    .filter((line) => line.startsWith('{"level"'))
    .map((line) => JSON.parse(line).n)
  const count = ending.includes('fatal') ? 3_001 : 3_000
  expect(numbers).toEqual(Array.from({ length: count }, (_, n) => n))
})
