// Makes node_modules what package-lock.json says and sees that Bun's binary runs; nearly free once both are so.
import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = join(dirname(fileURLToPath(import.meta.url)), '..')
export const bun = join(root, 'node_modules/.bin/bun')

const lockfile = join(root, 'package-lock.json')
const stamp = join(root, 'node_modules/.tollgate-ready')
const oldestBun = '1.4.5'

/** Prints one line to stderr: stdout belongs to the command that was asked for. */
export function say(message) {
  process.stderr.write(`tollgate: ${message}\n`)
}

/**
 * Installs what is missing. With `development` the packages only tests and checks need must be there too.
 * Throws an Error whose message says what to do.
 */
export function setup({ development = false } = {}) {
  if (isStamped(development)) return
  withLock(() => {
    if (isStamped(development)) return
    if (missingPackages(development).length > 0) install(development)
    repairBun()
    writeStamp()
  })
}

/** `setup` for scripts: a failure is printed and ends the process with code 1. */
export function setupOrExit(options) {
  try {
    setup(options)
  } catch (error) {
    say(error.message)
    process.exit(1)
  }
}

function isStamped(development) {
  try {
    const fresh = statSync(stamp).mtimeMs > statSync(lockfile).mtimeMs && statSync(bun).isFile()
    return fresh && (!development || readFileSync(stamp, 'utf8') === 'development')
  } catch (error) {
    if (error.code === 'ENOENT') return false
    throw error
  }
}

function writeStamp() {
  try {
    writeFileSync(stamp, missingPackages(true).length === 0 ? 'development' : 'production')
  } catch (error) {
    // An installation another user owns works as well: each start then looks through it again.
    if (!['EACCES', 'EROFS', 'EPERM'].includes(error.code)) throw error
  }
}

/** Names what the lockfile asks for and npm's own record of node_modules lacks or has in another version. */
function missingPackages(development) {
  const wanted = JSON.parse(readFileSync(lockfile, 'utf8')).packages
  const found = readInstalled()
  return Object.keys(wanted).filter((path) => {
    const entry = wanted[path]
    if (path === '' || entry.optional || (entry.dev && !development)) return false
    return found[path]?.version !== entry.version
  })
}

function readInstalled() {
  try {
    return JSON.parse(readFileSync(join(root, 'node_modules/.package-lock.json'), 'utf8')).packages
  } catch (error) {
    if (error.code === 'ENOENT' || error instanceof SyntaxError) return {}
    throw error
  }
}

function install(development) {
  say('installing packages (npm ci)')
  for (let attempt = 1; attempt <= 2; attempt += 1) {
    const status = npm([
      'ci',
      '--no-audit',
      '--no-fund',
      '--loglevel=error',
      // Serving needs a third of what tests and checks do.
      development ? '--include=dev' : '--omit=dev',
    ])
    if (status === 0) return
    if (attempt === 1) say('npm ci failed; trying once more')
  }
  throw new Error('npm ci failed twice (its output is above). Is the package registry reachable?')
}

function npm(args) {
  // Under npm the same npm is used; its output goes to stderr, see say().
  const script = process.env.npm_execpath
  const [command, first] = script?.endsWith('.js') ? [process.execPath, [script]] : ['npm', []]
  const run = spawnSync(command, [...first, ...args], { cwd: root, stdio: ['ignore', 2, 2] })
  if (run.error) throw new Error(`npm could not be started: ${run.error.message}`)
  return run.status
}

/** npm may have been told to run no install scripts; Bun's fetches its binary, so it is run here then. */
function repairBun() {
  let version = bunVersion()
  if (version === undefined) {
    const script = join(root, 'node_modules/bun/install.js')
    spawnSync(process.execPath, [script], { cwd: dirname(script), stdio: ['ignore', 2, 2] })
    version = bunVersion()
  }
  if (version === undefined) {
    throw new Error('Bun does not run: delete node_modules and try again, or run `npm rebuild bun`')
  }
  if (isOlder(version, oldestBun)) {
    throw new Error(
      `Bun ${oldestBun} or newer is needed, node_modules has ${version}: run \`npm ci\``,
    )
  }
}

function bunVersion() {
  const run = spawnSync(bun, ['--version'], { encoding: 'utf8' })
  const version = run.status === 0 ? run.stdout.trim() : ''
  return /^\d+\.\d+\.\d+/.test(version) ? version : undefined
}

function isOlder(version, than) {
  return version.localeCompare(than, 'en', { numeric: true }) < 0
}

/** Two commands on a fresh clone must not install over each other. */
function withLock(work) {
  const lock = join(root, 'tmp/setup.lock')
  mkdirSync(dirname(lock), { recursive: true })
  while (!tryLock(lock)) {
    // The other process gives no sign when it is done, so it is asked again every 200 ms.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200)
  }
  try {
    work()
  } finally {
    rmSync(lock, { force: true })
  }
}

function tryLock(lock) {
  try {
    writeFileSync(lock, String(process.pid), { flag: 'wx' })
    return true
  } catch (error) {
    if (error.code !== 'EEXIST') throw error
  }
  if (!isHeld(lock)) rmSync(lock, { force: true })
  return false
}

function isHeld(lock) {
  try {
    const pid = Number(readFileSync(lock, 'utf8'))
    // Just created and not yet written: held.
    if (pid === 0) return Date.now() - statSync(lock).mtimeMs < 1000
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error.code === 'EPERM'
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) setupOrExit()
