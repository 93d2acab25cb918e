// Runs real coding agents against the gateway (`npm run test:agents`), installed apart; arguments go to test/agents/run.ts.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bun, root, say, setupOrExit } from './setup.mjs'

if (process.argv.includes('--help')) {
  console.log(`Usage: npm run test:agents -- [options]

  --agent NAME    only this agent; may be given several times
  --format ID     only this format of the vendor; may be given several times
  --case NAME     only this case; may be given several times
  --parallel N    agents at once; 3 unless said
  --verbose       print what each agent prints`)
  process.exit(0)
}
setupOrExit({ development: true })

const list = readFileSync(join(root, 'test/agents/versions.json'), 'utf8')
const { npm, python } = JSON.parse(list)
// Other versions use another folder, so an existing folder is complete.
const digest = createHash('sha256').update(list).digest('hex').slice(0, 12)
const installed = process.env.TOLLGATE_AGENTS ?? join(tmpdir(), `tollgate-agents-${digest}`)

const leftOut = {}
for (const [name, version] of Object.entries(npm)) install(name, version, installFromNpm)
for (const [name, version] of Object.entries(python)) install(name, version, installFromPyPI)

const { status } = spawnSync(
  bun,
  [
    'test/agents/run.ts',
    ...['--installed', installed, '--left-out', JSON.stringify(leftOut)],
    ...process.argv.slice(2),
  ],
  { cwd: root, stdio: 'inherit' },
)
process.exit(status ?? 1)

/** A package that cannot be installed is left out. */
function install(name, version, how) {
  const folder = join(installed, name)
  const mark = join(folder, 'installed')
  if (existsSync(mark) && readFileSync(mark, 'utf8') === version) return
  say(`installing ${name} ${version}`)
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  try {
    how(folder, name, version)
    writeFileSync(mark, version)
  } catch (error) {
    leftOut[name] = error.message
    say(`leaving out ${name}: ${error.message}`)
  }
}

function installFromNpm(folder, name, version) {
  writeFileSync(
    join(folder, 'package.json'),
    JSON.stringify({ private: true, dependencies: { [name]: version } }),
  )
  command('npm', ['install', '--no-audit', '--no-fund', '--loglevel=error'], folder)
}

function installFromPyPI(folder, name, version) {
  command('python3', ['-m', 'venv', '.'], folder)
  command(join(folder, 'bin', 'pip'), ['install', '--quiet', `${name}==${version}`], folder)
}

function command(program, args, cwd) {
  const { error, status, stderr } = spawnSync(program, args, { cwd, encoding: 'utf8' })
  if (error !== undefined) throw error
  if (status === 0) return
  const [why = ''] = stderr.trim().split('\n').slice(-1)
  throw new Error(`${program} ended with ${status}: ${why}`)
}
