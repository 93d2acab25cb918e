// Makes the program dist/tollgate: Bun, the code, and the compiled code. `bin/tollgate serve` runs this
// if a source is newer, since the program starts in a third of the sources' time. Its output goes to stderr.
import { spawnSync } from 'node:child_process'
import { mkdirSync, renameSync, rmSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bun, exitIfStopped, orExit, root, say, withLock } from './setup.mjs'

/** Entry points of threads, processes and parts of the program, as src/installation.ts names them. */
const modules = [
  ...['program.ts', 'main.ts', 'cli/main.ts', 'config/apart-main.ts'],
  ...['ledger/worker-main.ts', 'history/writer-main.ts', 'store/thread-main.ts'],
  ...['main/archive-thread.ts', 'main/export-thread.ts'],
]
const options = [
  ...['--compile', '--bytecode', '--format=esm', '--splitting', '--sourcemap=inline', '--root=src'],
  // Settings and variables in the folder in which it is started must not apply to it.
  ...['--no-compile-autoload-dotenv', '--no-compile-autoload-bunfig'],
  // For packages read from the disk: see `requirePackage` in src/installation.ts.
  '--compile-autoload-package-json',
  // The same as in bin/tollgate.
  '--compile-exec-argv=--max-http-header-size=262144',
]

/** Takes almost no time if the program is up to date. Throws an Error with the reason if it could not be made. */
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
  // Bun also writes the source maps beside the program, which already contains them.
  const making = join(folder, 'dist/new')
  const made = join(making, 'tollgate')
  mkdirSync(making, { recursive: true })
  try {
    build(folder, made)
    // A source that changes after this moment is newer.
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

/** The same check as in bin/tollgate before it runs the program. */
function isCurrent(folder, program) {
  const of = ['src', 'scripts/program.mjs', 'package-lock.json'].map((name) => join(folder, name))
  const { status, stdout } = spawnSync('find', [...of, '-cnewer', program], { encoding: 'utf8' })
  return status === 0 && stdout === ''
}

if (process.argv[1] === fileURLToPath(import.meta.url)) orExit(() => makeProgram())
