// Builds the console into console/dist if its sources have changed (`npm run console`, and every start of the
// server); takes almost no time if they have not. Its output goes to stderr; it ends with code 1 if it fails.
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { setPriority } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bun, exitIfStopped, orExit, root, say, setup, withLock } from './setup.mjs'

const folder = join(root, 'console')
const dist = join(folder, 'dist')
const building = join(root, 'tmp/console-build')
const replaced = join(root, 'tmp/console-replaced')
/** Lists what the server may serve and what it was built from. Written last, so its existence means a complete build. */
const listName = 'files.json'
/** Vite's manifest of the build, for the check of sizes. */
const viteManifest = 'manifest.json'
const compressible = /\.(html|js|css|svg|json|txt)$/
/** Loaded only when used: loading takes longer than the rest of a start that has nothing to build. */
const load = createRequire(import.meta.url)
const unwritable = new Set(['EROFS', 'EACCES', 'EPERM'])

/** Installs the packages that build the console, with `development` also those that check it. Throws an Error. */
export function setupConsole(options = {}) {
  withLock('console', () => setup({ ...options, folder }))
}

/** Throws an Error whose message says what to do. The last build stays until the next one is complete. */
export function buildConsole() {
  if (builtKey() === keyOfSources()) return
  try {
    withLock('console', buildStale)
  } catch (error) {
    if (!unwritable.has(error.code)) throw error
    throw new Error(`The console cannot be built in a folder that cannot be written to: ${folder}`)
  }
}

function buildStale() {
  const key = keyOfSources()
  if (builtKey() === key) return
  say('building the console')
  setup({ folder })
  rmSync(building, { recursive: true, force: true })
  runBuild()
  const files = compressFiles()
  writeFileSync(join(building, listName), JSON.stringify({ key, files }))
  replace()
}

/** Hashes the names and contents of the sources, and what builds them. */
function keyOfSources() {
  const hash = sha256()
  const { version } = JSON.parse(readFileSync(join(root, 'node_modules/bun/package.json'), 'utf8'))
  const script = fileURLToPath(import.meta.url)
  for (const path of [script, ...filesIn(folder)]) {
    const bytes = readFileSync(path)
    hash.update(`${path.slice(root.length)}\0${bytes.length}\0`).update(bytes)
  }
  return hash.update(version).digest('hex')
}

function sha256() {
  return globalThis.Bun ? new Bun.CryptoHasher('sha256') : load('node:crypto').createHash('sha256')
}

function filesIn(below) {
  return readdirSync(below, { withFileTypes: true })
    .filter(({ name }) => name !== 'node_modules' && name !== 'dist')
    .sort((one, other) => (one.name < other.name ? -1 : 1))
    .flatMap((entry) => {
      const path = join(below, entry.name)
      if (entry.isDirectory()) return filesIn(path)
      // An editor's lock may be a dangling link.
      return entry.isFile() ? [path] : []
    })
}

function builtKey() {
  try {
    return JSON.parse(readFileSync(join(dist, listName), 'utf8')).key
  } catch (error) {
    if (error.code === 'ENOENT' || error instanceof SyntaxError) return undefined
    throw error
  }
}

/** Runs on Bun, so that the version of Node does not matter. */
function runBuild() {
  const args = [
    '--bun',
    'run',
    'build',
    '--outDir',
    building,
    '--emptyOutDir',
    '--logLevel',
    'warn',
  ]
  // Lingui would advertise another transform at each build.
  const env = { ...process.env, NODE_ENV: 'production', LINGUI_SUPPRESS_BABEL_WARNING: '1' }
  const run = spawnSync(bun, args, { cwd: folder, env, stdio: ['ignore', 2, 2] })
  if (run.error) throw new Error(`the build could not be started: ${run.error.message}`)
  exitIfStopped(run)
  if (run.status !== 0) throw new Error(`the build ended with ${run.signal ?? run.status}`)
}

/** Writes the compressed forms of each file beside it; returns which forms exist. */
function compressFiles() {
  const names = filesIn(building)
    .map((path) => path.slice(building.length + 1))
    .filter((name) => name !== viteManifest)
  const zlib = load('node:zlib')
  return Object.fromEntries(names.map((name) => [name, compressFile(name, zlib)]))
}

function compressFile(name, { brotliCompressSync, gzipSync }) {
  const path = join(building, name)
  const bytes = readFileSync(path)
  const forms = compressible.test(name)
    ? [
        ['br', brotliCompressSync(bytes)],
        ['gzip', gzipSync(bytes, { level: 9 })],
      ]
    : []
  const smaller = forms.filter(([, form]) => form.length < bytes.length)
  for (const [encoding, form] of smaller) writeFileSync(`${path}.${encoding}`, form)
  return {
    hash: sha256().update(bytes).digest('base64url').slice(0, 22),
    encodings: smaller.map(([encoding]) => encoding),
  }
}

/** A process that dies between the two renames leaves no console; the next start builds it. */
function replace() {
  rmSync(replaced, { recursive: true, force: true })
  try {
    renameSync(dist, replaced)
  } catch (error) {
    if (error.code !== 'ENOENT') throw error
  }
  renameSync(building, dist)
  rmSync(replaced, { recursive: true, force: true })
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  // Low priority, so that requests are not delayed.
  if (process.argv.includes('--aside')) setPriority(10)
  orExit(buildConsole)
}
