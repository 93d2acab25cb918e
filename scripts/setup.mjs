// Makes node_modules what package-lock.json says, of the server or of another package of this repository, and sees that
// Bun's binary runs; takes almost no time once both are true.
import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = join(dirname(fileURLToPath(import.meta.url)), '..')
export const bun = join(root, 'node_modules/.bin/bun')

const lockfileOf = (folder) => join(folder, 'package-lock.json')
const stampOf = (folder) => join(folder, 'node_modules/.tollgate-ready')
const oldestBun = '1.4.5'
/** npm does not run on Bun, on which some scripts run. */
const node = process.versions.bun ? (process.env.npm_node_execpath ?? 'node') : process.execPath

/** Prints one line to stderr: stdout belongs to the command that was asked for. */
export function say(message) {
  process.stderr.write(`tollgate: ${message}\n`)
}

/**
 * Installs what is missing in `folder`. With `development` the packages only tests and checks need must be there too.
 * Throws an Error whose message says what to do.
 */
export function setup({ development = false, folder = root } = {}) {
  if (isStamped(folder, development)) return
  withLock('setup', () => {
    if (isStamped(folder, development)) return
    if (missingPackages(folder, development).length > 0) install(folder, development)
    repairBun()
    writeStamp(folder)
  })
}

/** `setup` for scripts. */
export function setupOrExit(options) {
  orExit(() => setup(options))
}

/** A failure is printed and ends the process with code 1. */
export function orExit(work) {
  try {
    work()
  } catch (error) {
    say(error.message)
    process.exit(1)
  }
}

function isStamped(folder, development) {
  const stamp = stampOf(folder)
  try {
    const isNewer = statSync(stamp).mtimeMs > statSync(lockfileOf(folder)).mtimeMs
    const fresh = isNewer && statSync(bun).isFile()
    return fresh && (!development || readFileSync(stamp, 'utf8') === 'development')
  } catch (error) {
    if (error.code === 'ENOENT') return false
    throw error
  }
}

function writeStamp(folder) {
  try {
    const isWhole = missingPackages(folder, true).length === 0
    writeFileSync(stampOf(folder), isWhole ? 'development' : 'production')
  } catch (error) {
    // An installation owned by another user works too: each start then checks it again.
    if (!['EACCES', 'EROFS', 'EPERM'].includes(error.code)) throw error
  }
}

/** Names what the lockfile asks for and npm's own record of node_modules lacks or has in another version. */
function missingPackages(folder, development) {
  const wanted = JSON.parse(readFileSync(lockfileOf(folder), 'utf8')).packages
  const found = readInstalled(folder)
  return Object.keys(wanted).filter((path) => {
    const entry = wanted[path]
    if (path === '' || entry.optional || (entry.dev && !development)) return false
    return found[path]?.version !== entry.version
  })
}

function readInstalled(folder) {
  try {
    return JSON.parse(readFileSync(join(folder, 'node_modules/.package-lock.json'), 'utf8'))
      .packages
  } catch (error) {
    if (error.code === 'ENOENT' || error instanceof SyntaxError) return {}
    throw error
  }
}

function install(folder, development) {
  say('installing packages (npm ci)')
  for (let attempt = 1; attempt <= 2; attempt += 1) {
    const status = npm(folder, [
      'ci',
      '--no-audit',
      '--no-fund',
      '--loglevel=error',
      // Serving needs a third of the packages that tests and checks need.
      development ? '--include=dev' : '--omit=dev',
    ])
    if (status === 0) return
    if (attempt === 1) say('npm ci failed; trying once more')
  }
  throw new Error('npm ci failed twice (its output is above). Is the package registry reachable?')
}

function npm(folder, args) {
  // Under npm the same npm is used; its output goes to stderr, see say().
  const script = process.env.npm_execpath
  const [command, first] = script?.endsWith('.js') ? [node, [script]] : ['npm', []]
  const run = spawnSync(command, [...first, ...args], { cwd: folder, stdio: ['ignore', 2, 2] })
  if (run.error) throw new Error(`npm could not be started: ${run.error.message}`)
  exitIfStopped(run)
  return run.status
}

/** If the child was stopped by a signal, for example by a terminal, this process stops by the same signal. */
export function exitIfStopped({ signal }) {
  const codes = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 }
  if (signal in codes) process.exit(codes[signal])
}

/** If npm was told to run no install scripts, Bun's, which fetches its binary, is run here. */
function repairBun() {
  let version = bunVersion()
  if (version === undefined) {
    const script = join(root, 'node_modules/bun/install.js')
    spawnSync(node, [script], { cwd: dirname(script), stdio: ['ignore', 2, 2] })
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

/** Runs `work` while no other process holds the lock of this name: two commands must not install at the same time. */
export function withLock(name, work) {
  const lock = join(root, `tmp/${name}.lock`)
  mkdirSync(dirname(lock), { recursive: true })
  while (!tryLock(lock)) {
    // The other process does not report its end, so the lock is tried again every 200 ms.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200)
  }
  try {
    return work()
  } finally {
    rmSync(lock, { force: true })
  }
}

function tryLock(lock) {
  try {
    writeFileSync(lock, `${process.pid} ${startOf(process.pid)}`, { flag: 'wx' })
    return true
  } catch (error) {
    if (error.code !== 'EEXIST') throw error
  }
  if (!isHeld(lock)) rmSync(lock, { force: true })
  return false
}

function isHeld(lock) {
  try {
    const [pid, start] = readFileSync(lock, 'utf8').split(' ')
    // Just created and not yet written: the lock is held.
    if (pid === '') return Date.now() - statSync(lock).mtimeMs < 1000
    process.kill(Number(pid), 0)
    return start === undefined || start === startOf(pid)
  } catch (error) {
    return error.code === 'EPERM'
  }
}

/** The start time of a process on Linux: after a reboot another process may have its number. On other systems ''. */
function startOf(pid) {
  if (process.platform !== 'linux') return ''
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
  // The process's name, in parentheses, may contain anything.
  return fields.slice(fields.lastIndexOf(')')).split(' ')[20] ?? ''
}

if (process.argv[1] === fileURLToPath(import.meta.url)) setupOrExit()
