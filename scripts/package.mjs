// Makes packages for distribution, with the console built in: `stage FOLDER` (what serving needs, and its packages),
// `npm FOLDER` (a file for `npm install`) or `binary FILE` (one program for this machine's kind). Needs the registry.
import { spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildConsole } from './console.mjs'
import { makeProgram } from './program.mjs'
import { bun, orExit, root, say, setup } from './setup.mjs'

/** Files that serving, the command line and their users need, beside the packages. */
const files = [
  ...['bin', 'src', 'console/dist', 'deploy/postgres-role.sql'],
  ...['config.schema.json', 'CHANGELOG.md', 'LICENSE', 'README.md', 'SECURITY.md'],
]
/** npm publishes a lockfile only under this name. */
const lockName = 'npm-shrinkwrap.json'
const makers = { stage: stageWithProgram, npm: makePackage, binary: makeBinary }

function stage(to) {
  copyTree(to)
  run('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], to)
}

function stageWithProgram(to) {
  stage(to)
  makeProgram(to)
}

/** Prints the name of the file that was made. */
function makePackage(to) {
  mkdirSync(to, { recursive: true })
  inTemporaryFolder((folder) => {
    copyTree(folder)
    run('npm', ['pack', '--silent', '--pack-destination', to], folder)
  })
}

/** The tree in an archive, and Bun to run it: deploy/binary/launch.mjs. */
function makeBinary(file) {
  inTemporaryFolder((folder) => {
    const tree = join(folder, 'tree')
    stage(tree)
    // The program is itself Bun.
    for (const name of ['bun', '@oven', '.bin']) {
      rmSync(join(tree, 'node_modules', name), { recursive: true, force: true })
    }
    run('tar', ['-czf', join(folder, 'tree.tar.gz'), '-C', tree, '.'], folder)
    cpSync(join(root, 'deploy/binary/launch.mjs'), join(folder, 'launch.mjs'))
    const made = join(folder, 'tollgate')
    // Settings and variables in the folder in which it is started must not apply to it.
    const apart = ['--no-compile-autoload-dotenv', '--no-compile-autoload-bunfig']
    run(bun, ['build', '--compile', ...apart, '--outfile', made, 'launch.mjs'], folder)
    cpSync(made, `${file}.new`)
    renameSync(`${file}.new`, file)
  })
}

function copyTree(to) {
  mkdirSync(to, { recursive: true })
  for (const name of files.filter((name) => existsSync(join(root, name)))) {
    cpSync(join(root, name), join(to, name), {
      recursive: true,
      filter: (path) => !path.endsWith('.test.ts'),
    })
  }
  writeFileSync(join(to, 'package.json'), JSON.stringify(manifest(), null, 2))
  writeFileSync(join(to, lockName), JSON.stringify(lockfile(), null, 2))
}

/** The manifest without what is only for this repository; no script of it runs at an installation. */
function manifest() {
  const { private: _, scripts: __, devDependencies: ___, ...kept } = readJson('package.json')
  return { ...kept, files: [...files, lockName] }
}

/** An installation of the package gets the versions that were tested. */
function lockfile() {
  const { packages, ...kept } = readJson('package-lock.json')
  const { devDependencies: _, ...own } = packages['']
  const served = Object.entries(packages).filter(([path, { dev }]) => path !== '' && !dev)
  return { ...kept, packages: { '': own, ...Object.fromEntries(served) } }
}

function readJson(name) {
  return JSON.parse(readFileSync(join(root, name), 'utf8'))
}

function inTemporaryFolder(work) {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-package-'))
  try {
    work(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function run(command, args, cwd) {
  const { status, error } = spawnSync(command, args, { cwd, stdio: ['ignore', 'inherit', 2] })
  if (status !== 0) throw new Error(`${command} ${args[0]} failed: ${error?.message ?? status}`)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [kind = '', to] = process.argv.slice(2)
  orExit(() => {
    if (!Object.hasOwn(makers, kind) || to === undefined) {
      throw new Error('Usage: node scripts/package.mjs stage FOLDER | npm FOLDER | binary FILE')
    }
    setup()
    buildConsole()
    makers[kind](resolve(to))
    say(`${kind}: ${resolve(to)}`)
  })
}
