// Makes the program dist/tollgate of the sources: Bun, the code, and the code compiled. `bin/tollgate serve` has it made
// where a source is newer, since it starts in a third of the time that the sources take. Its output goes to stderr.
import { spawnSync } from 'node:child_process'
import { mkdirSync, renameSync, rmSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bun, exitIfStopped, orExit, root, say, withLock } from './setup.mjs'

/** Where threads, processes and the parts of the program begin, as src/installation.ts names them. */
const modules = [
  ...['program.ts', 'main.ts', 'cli/main.ts', 'config/apart-main.ts'],
  ...['ledger/worker-main.ts', 'history/writer-main.ts', 'store/thread-main.ts'],
  ...['main/archive-thread.ts', 'main/export-thread.ts'],
]
const options = [
  ...['--compile', '--bytecode', '--format=esm', '--splitting', '--sourcemap=inline', '--root=src'],
  // Neither the settings nor the variables of the folder it is started in are its own.
  ...['--no-compile-autoload-dotenv', '--no-compile-autoload-bunfig'],
  // For packages that are read from the disk: `requirePackage` in src/installation.ts.
  '--compile-autoload-package-json',
  // As in bin/tollgate.
  '--compile-exec-argv=--max-http-header-size=262144',
]

/** Nearly free where it is of these sources. Throws an Error that says why where it could not be made. */
export function makeProgram(folder = root) {
  try {
    withLock('program', () => make(folder))
  } catch (error) {
    throw new Error(`the program could not be made, so the sources are run: ${error.message}`)
  }
}

function make(folder) {
  const program = join(folder, 'dist/tollgate')
  if (isCurrent(folder, program)) return
  say('making the program (once after a change of the sources)')
  const began = new Date()
  // Bun writes its maps to the sources beside the program, which has them inside.
  const making = join(folder, 'dist/new')
  const made = join(making, 'tollgate')
  mkdirSync(making, { recursive: true })
  try {
    build(folder, made)
    // A source that changes from here on is newer.
    utimesSync(made, began, began)
    renameSync(made, program)
  } finally {
    rmSync(making, { recursive: true, force: true })
  }
}

function build(folder, made) {
  const sources = modules.map((name) => `src/${name}`)
  const run = spawnSync(bun, ['build', ...sources, ...options, `--outfile=${made}`], {
    cwd: folder,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  exitIfStopped(run)
  if (run.status !== 0) throw run.error ?? new Error(run.stderr.trim())
}

/** As bin/tollgate asks before it runs it. */
function isCurrent(folder, program) {
  const of = ['src', 'scripts/program.mjs', 'package-lock.json'].map((name) => join(folder, name))
  const { status, stdout } = spawnSync('find', [...of, '-cnewer', program], { encoding: 'utf8' })
  return status === 0 && stdout === ''
}

if (process.argv[1] === fileURLToPath(import.meta.url)) orExit(() => makeProgram())
