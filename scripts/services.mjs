// Finds or installs the programs that tests and benchmarks need, and runs private servers that leave nothing behind.
import { spawn, spawnSync } from 'node:child_process'
import { accessSync, chownSync, constants, mkdtempSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'

/** Starts a private Valkey or Redis on a free loopback port, in memory only; returns {url, stop}. */
export async function startValkey() {
  const server = find('valkey-server') ?? ensure('redis-server', ['redis-server'])
  const { dir, owner } = makeFolder('valkey')
  const port = await freePort()
  const stop = await runGuarded({
    command: [server, '--port', String(port), '--bind', '127.0.0.1', '--save', ''].concat([
      '--appendonly',
      'no',
      '--dir',
      dir,
    ]),
    ready: 'eady to accept connections',
    signal: 'TERM',
    dir,
    owner,
  })
  return { url: `redis://127.0.0.1:${port}`, stop }
}

/**
 * The path of a program; installs its Debian packages if allowed, else throws. `folders` returns further folders
 * beside PATH, and is called again after the installation.
 */
export function ensure(program, packages, folders = () => []) {
  const found = find(program, folders())
  if (found !== undefined) return found
  if (process.getuid?.() !== 0 || find('apt-get') === undefined) {
    throw new Error(`${program} is not installed, and only root with apt-get may install it here`)
  }
  installPackages(packages)
  const installed = find(program, folders())
  if (installed === undefined) throw new Error(`${packages.join(', ')} did not bring ${program}`)
  return installed
}

function installPackages(packages) {
  process.stderr.write(`tollgate: installing ${packages.join(', ')} (apt-get)\n`)
  // Run level 1 keeps the packages' own services from being started.
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' }
  const stdio = ['ignore', 2, 2]
  const install = () =>
    spawnSync('apt-get', ['install', '-y', '-q', '--no-install-recommends', ...packages], {
      env,
      stdio,
    })
  // The package lists on the machine may be too old.
  if (install().status === 0) return
  spawnSync('apt-get', ['update', '-q'], { env, stdio })
  const { status } = install()
  if (status !== 0)
    throw new Error(`apt-get install ${packages.join(' ')} ended with code ${status}`)
}

function find(program, folders = []) {
  const all = [...(process.env.PATH ?? '').split(delimiter).filter(Boolean), ...folders]
  return all.map((folder) => join(folder, program)).find(isExecutable)
}

function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** A temporary folder and the user to run as: PostgreSQL refuses to run as root. */
export function makeFolder(name) {
  const dir = mkdtempSync(join(tmpdir(), `tollgate-${name}-`))
  if (process.getuid?.() !== 0) return { dir, owner: {} }
  const owner = { uid: idOf('-u'), gid: idOf('-g') }
  chownSync(dir, owner.uid, owner.gid)
  return { dir, owner }
}

function idOf(flag) {
  for (const user of ['postgres', 'nobody']) {
    const run = spawnSync('id', [flag, user], { encoding: 'utf8' })
    if (run.status === 0) return Number(run.stdout)
  }
  throw new Error('neither the user postgres nor nobody exists')
}

/**
 * Runs a service under a shell that stops it and removes its folder when our end of the pipe closes:
 * also when this process is killed with -9. Resolves once `ready` was printed, to a function that stops it: given a
 * signal it ends the service by that signal, and the folder stays.
 */
export function runGuarded({ command, ready, signal, dir, owner }) {
  const script = `trap '' INT TERM HUP; "$@" & pid=$!; exec >&- 2>&-
if read -r name; then kill -s "$name" $pid; wait $pid; else kill -s ${signal} $pid; wait $pid; rm -rf "$DIR"; fi`
  const child = spawn('/bin/sh', ['-c', script, 'guard', ...command], {
    cwd: dir,
    env: { PATH: process.env.PATH, DIR: dir },
    stdio: ['pipe', 'pipe', 'pipe'],
    ...owner,
  })
  const ended = new Promise((resolve) => child.once('exit', resolve))
  const stop = (otherSignal) => {
    child.stdin.end(otherSignal === undefined ? '' : `${otherSignal}\n`)
    return ended
  }
  return new Promise((resolve, reject) => {
    let output = ''
    const read = (chunk) => {
      output = (output + chunk).slice(-8192)
      if (output.includes(ready)) resolve(stop)
    }
    child.stdout.on('data', read)
    child.stderr.on('data', read)
    child.once('error', reject)
    // The shell has closed its own ends, so both close when the service is gone.
    child.stderr.once('close', () =>
      stop().then(() => reject(new Error(`${command[0]} ended:\n${output}`))),
    )
  })
}

export function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address()
      server.close(() => resolve(port))
    })
  })
}
