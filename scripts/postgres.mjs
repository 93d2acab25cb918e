// Runs private PostgreSQL servers that leave nothing behind, restarts them, and makes standbys and poolers of them.
import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chownSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ensure, freePort, makeFolder, runGuarded } from './services.mjs'

/**
 * Starts a server on a free loopback port, with fsync, and resolves to {url, stop, end, start, standby, promote}: see
 * postgres.d.mts. Throws if it is not installed and cannot be, or does not start.
 */
export async function startPostgres() {
  const { dir, owner } = makeFolder('postgres')
  const password = randomBytes(16).toString('hex')
  const passwordFile = join(dir, 'password')
  writeFileSync(passwordFile, password)
  if (owner.uid !== undefined) chownSync(passwordFile, owner.uid, owner.gid)
  run(
    'initdb',
    ['-D', join(dir, 'data'), '-U', 'tollgate', '-A', 'scram-sha-256']
      // Only the empty cluster goes unsynced; the running server syncs as it would in service.
      .concat([`--pwfile=${passwordFile}`, '--no-sync', '-E', 'UTF8', '--no-locale']),
    { cwd: dir, ...owner },
  )
  return serve({ dir, owner, password, port: await freePort() })
}

async function serve(cluster) {
  const { dir, owner, password, port } = cluster
  const start = () =>
    runGuarded({
      command: [postgresProgram('postgres'), '-D', join(dir, 'data'), '-h', '127.0.0.1'].concat([
        '-p',
        String(port),
        '-k',
        dir,
      ]),
      // Applies to a primary or a standby.
      ready: 'ready to accept',
      // SIGQUIT stops it at once, despite open connections; the data is not needed any more.
      signal: 'QUIT',
      dir,
      owner,
    })
  let stopRun = await start()
  return {
    url: `postgres://tollgate:${password}@127.0.0.1:${port}/postgres`,
    end: (signal) => stopRun(signal),
    async start() {
      stopRun = await start()
    },
    standby: () => startStandby(cluster),
    promote: () =>
      run('pg_ctl', ['promote', '-w', '-D', join(dir, 'data')], { cwd: dir, ...owner }),
    async stop() {
      await stopRun()
      // If the server had ended before, nothing else removes the folder.
      rmSync(dir, { recursive: true, force: true })
    },
  }
}

/** A standby that replicates its primary. */
async function startStandby({ port, password }) {
  const { dir, owner } = makeFolder('postgres')
  const address = ['-h', '127.0.0.1', '-p', String(port), '-U', 'tollgate']
  run('pg_basebackup', [...address, '-D', join(dir, 'data'), '-R', '-X', 'stream', '-c', 'fast'], {
    cwd: dir,
    env: { ...process.env, PGPASSWORD: password },
    ...owner,
  })
  return serve({ dir, owner, password, port: await freePort() })
}

/**
 * Starts PgBouncer before a server, in its pool mode `session` or `transaction`, on a free loopback port. It accepts the
 * settings with which connections are opened, and ignores them.
 */
export async function startPooler({ url }, mode) {
  const { dir, owner } = makeFolder('pgbouncer')
  const { hostname, port, username, password } = new URL(url)
  const listenPort = await freePort()
  const users = join(dir, 'users')
  const settings = join(dir, 'settings')
  const lines = ['[databases]', `* = host=${hostname} port=${port}`, '[pgbouncer]']
    .concat([`listen_addr = 127.0.0.1`, `listen_port = ${listenPort}`, 'unix_socket_dir ='])
    // In session mode three nodes hold more than the 20 that are usual.
    .concat(['default_pool_size = 60'])
    .concat(['auth_type = scram-sha-256', `auth_file = ${users}`, `pool_mode = ${mode}`])
    .concat(
      'ignore_startup_parameters = options,statement_timeout,idle_in_transaction_session_timeout',
    )
  writeFileSync(users, `"${username}" "${password}"\n`)
  writeFileSync(settings, `${lines.join('\n')}\n`)
  const stop = await runGuarded({
    command: [pgbouncerProgram(), settings],
    ready: 'process up',
    signal: 'TERM',
    dir,
    owner,
  })
  const pooled = new URL(url)
  pooled.port = String(listenPort)
  return { url: pooled.href, stop: () => stop() }
}

function run(program, words, options) {
  const ended = spawnSync(postgresProgram(program), words, { encoding: 'utf8', ...options })
  if (ended.status !== 0)
    throw new Error(`${program} failed: ${ended.stderr || ended.error?.message}`)
}

/** The path of one of PostgreSQL's programs; installs it if allowed, else throws. */
export function postgresProgram(name) {
  return ensure(name, ['postgresql'], folders)
}

/** Like `postgresProgram`. */
export function pgbouncerProgram() {
  return ensure('pgbouncer', ['pgbouncer'], () => ['/usr/sbin'])
}

/** Debian keeps the server's programs out of PATH; the newest version first. */
function folders() {
  const base = '/usr/lib/postgresql'
  try {
    const versions = readdirSync(base).sort((a, b) => Number(b) - Number(a))
    return versions.map((version) => join(base, version, 'bin'))
  } catch (error) {
    if (error.code === 'ENOENT') return []
    throw error
  }
}
