// Runs the tests with a private PostgreSQL and Valkey: all briefly (`npm test`), those that repeat at length
// (`npm run test:long`), or all, at length if they can (`npm run test:all`); the last line is `N passed, N failed`.
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { pgbouncerProgram, postgresProgram, startPostgres } from './postgres.mjs'
import { makeProgram } from './program.mjs'
import { ensure, startValkey } from './services.mjs'
import { bun, orExit, root, say, setupOrExit } from './setup.mjs'

const services = [
  { name: 'PostgreSQL', variable: 'TEST_DATABASE_URL', start: startPostgres },
  { name: 'PostgreSQL servers that are ended', variable: 'TEST_INITDB', start: findInitdb },
  { name: 'PgBouncer', variable: 'TEST_PGBOUNCER', start: findPgbouncer },
  { name: 'Valkey', variable: 'TEST_VALKEY_URL', start: startValkey },
  { name: 'system calls', variable: 'TEST_STRACE', start: findStrace },
  { name: 'a clock that is set', variable: 'TEST_FAKETIME', start: findFaketime },
  { name: 'a browser', variable: 'TEST_CHROMIUM', start: findChromium },
]
/** Number of files run at once: enough to keep the cores busy, since tests wait for much of their time. */
const parallel = `--parallel=${Math.max(3, availableParallelism())}`
const exitCodes = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 }

let interruptedBy
let tests
for (const signal of Object.keys(exitCodes)) {
  process.on(signal, () => {
    interruptedBy = signal
    tests?.kill('SIGTERM')
  })
}

setupOrExit({ development: true })
// The program is made here, as users run it, and not within the first test's time limit.
orExit(() => makeProgram())
const { env, stops, leftOut } = await startServices()
let results
try {
  results = await runTestsAt(process.argv.slice(2))
} finally {
  await Promise.all(stops.map((stop) => stop()))
}
for (const reason of leftOut) console.log(`left out: ${reason}`)
report(results)

/** Starts the services that are available; one that the environment names is used as it is. */
async function startServices() {
  const env = { ...process.env }
  const stops = []
  const leftOut = []
  for (const { name, variable, start } of services) {
    if (env[variable] || interruptedBy) continue
    try {
      const service = await start()
      env[variable] = service.url
      stops.push(service.stop)
    } catch (error) {
      leftOut.push(`the tests on ${name}: ${error.message}`)
    }
  }
  for (const reason of leftOut) say(`leaving out ${reason}`)
  return { env, stops, leftOut }
}

/** For tests that start a server of their own, since other tests use the one above. */
async function findInitdb() {
  return { url: postgresProgram('initdb'), stop: () => undefined }
}

async function findPgbouncer() {
  return { url: pgbouncerProgram(), stop: () => undefined }
}

/** Not a service but a program: its path takes the place of an address. */
async function findStrace() {
  return { url: ensure('strace', ['strace']), stop: () => undefined }
}

/** The library that gives a process another time; Debian's folder for it has the processor's architecture in its name. */
async function findFaketime() {
  ensure('faketime', ['faketime'])
  const libraries = '/usr/lib'
  const found = readdirSync(libraries)
    .map((folder) => join(libraries, folder, 'faketime/libfaketimeMT.so.1'))
    .find((path) => existsSync(path))
  if (found === undefined) throw new Error('faketime did not bring libfaketimeMT.so.1')
  return { url: found, stop: () => undefined }
}

/** Debian's browser, not one that a package downloads; the headless shell takes two thirds of the full one's CPU time. */
async function findChromium() {
  return { url: headlessShell() ?? ensure('chromium', ['chromium']), stop: () => undefined }
}

/** null if it is neither installed nor can be installed. */
function headlessShell() {
  try {
    return ensure('chromium-headless-shell', ['chromium-headless-shell'])
  } catch {
    return null
  }
}

function runTestsAt(args) {
  const [length, ...others] = args
  if (length === '--all') return runGroups(groupsOfAll(), others, 'all')
  if (length === '--long') return runGroups(groupsOfLong(), others, '1')
  return runGroups(groupsOf(testFiles()), args, null)
}

/** Files that may run at the same time; `alone`: one after another, with nothing beside them; `brief`: at any length. */
function groupsOf(files) {
  const inBrowser = (path) => path.startsWith('./test/console/')
  return [
    { files: files.filter((path) => !inBrowser(path)) },
    // Run separately: a browser takes so much of a small machine that other tests would time out.
    { files: files.filter(inBrowser), brief: true },
  ]
}

function groupsOfLong() {
  const { measuring, repeating } = longTests()
  return [{ files: repeating }, { files: measuring, alone: true }]
}

/** The longest tests first, so that none of them is left running at the end. */
function groupsOfAll() {
  const { measuring, repeating } = longTests()
  const others = testFiles().filter((path) => ![...measuring, ...repeating].includes(path))
  return [...groupsOf([...repeating, ...others]), { files: measuring, alone: true }]
}

/** `length` null: briefly. Paths among `args` replace the groups. Returns the result of each run. */
async function runGroups(groups, args, length) {
  // A long test does five to ten times the work of a short one, perhaps on a machine half as fast.
  const timeout = length === null ? [] : ['--timeout', '300000']
  const lengthEnv = length === null ? env : { ...env, TEST_LONG: length }
  const named = { files: [], alone: length !== null }
  const results = []
  for (const { files, alone, brief } of args.some(isPath) ? [named] : groups) {
    const options = [...(alone ? [] : [parallel]), ...(brief ? [] : timeout), ...args]
    results.push(await runTests(options, lengthEnv, files))
  }
  return results
}

/** The files that do more at length; those in `measuring` then compare their figures with a limit. */
function longTests() {
  const all = testFiles()
    .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }))
    .filter(({ text }) => text.includes("support/long.ts'"))
  const pathsOf = (files) => files.map(({ path }) => path)
  return {
    measuring: pathsOf(all.filter(({ text }) => text.includes('isLong'))),
    repeating: pathsOf(all.filter(({ text }) => !text.includes('isLong'))),
  }
}

function testFiles() {
  return ['src', 'bench', 'console/src', 'test']
    .flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true }).map((name) => `./${folder}/${name}`),
    )
    .filter((path) => path.endsWith('.test.ts'))
    .sort()
}

/** Paths, and parts of paths such as `test/api/life`, narrow a run; anything else is an option for Bun. */
function isPath(word) {
  return (
    existsSync(join(root, word)) ||
    (word.includes('/') && testFiles().some((path) => path.includes(word)))
  )
}

/** Resolves to Bun's exit code and the end of what it wrote to stderr, where its summary is. */
function runTests(args, env, all) {
  const named = args.filter(isPath)
  if (named.length === 0 || named.some((path) => path.includes('console'))) prepareConsole()
  const paths = named.length > 0 ? [] : all
  return new Promise((resolve, reject) => {
    if (interruptedBy) return resolve({ code: 1, summary: '' })
    // In a log that nobody watches, only failures matter.
    const quiet = process.env.CI ? ['--only-failures'] : []
    tests = spawn(
      bun,
      [
        ...['test', '--no-env-file', '--no-orphans', '--timeout', '60000'],
        ...['--preload', './test/support/every-test-asserts.ts'],
        ...quiet,
        ...args,
        ...paths,
      ],
      {
        cwd: root,
        env: process.stderr.isTTY ? { FORCE_COLOR: '1', ...env } : env,
        stdio: ['ignore', 'inherit', 'pipe'],
      },
    )
    let tail = ''
    tests.stderr.on('data', (chunk) => {
      process.stderr.write(chunk)
      tail = (tail + chunk).slice(-4096)
    })
    tests.once('error', reject)
    tests.once('close', (code) => resolve({ code, summary: withoutColour(tail) }))
  })
}

/** Builds the console once for all tests in a browser; if that fails, those tests fail and say why. */
function prepareConsole() {
  spawnSync(bun, ['scripts/console.mjs'], { cwd: root, stdio: ['ignore', 2, 2] })
}

function withoutColour(text) {
  return text.replaceAll(new RegExp(`${String.fromCharCode(27)}\\[[0-9;]*m`, 'g'), '')
}

function report(runs) {
  const sum = (of) => runs.reduce((total, run) => total + of(run), 0)
  const passed = sum(({ summary }) => count(summary, 'pass'))
  const skipped = sum(({ summary }) => count(summary, 'skip') + count(summary, 'todo'))
  // Bun may end in failure without a failed test: a crash, a fault between tests, nothing to run.
  const failed = sum(({ code, summary }) => count(summary, 'fail') || (code !== 0 ? 1 : 0))
  if (passed === 0) say('no test passed')
  console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`)
  process.exitCode = exitCodes[interruptedBy] ?? (failed > 0 || passed === 0 ? 1 : 0)
}

/** The last such line counts: a test may print one like it. */
function count(summary, word) {
  const lines = [...summary.matchAll(new RegExp(`^ *(\\d+) ${word}$`, 'gm'))]
  return Number(lines.at(-1)?.[1] ?? 0)
}
