// Tests what a killed backup or restore leaves behind: the next one removes it, and no server begins with an empty ledger.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { chmodSync, existsSync, mkdirSync, readdirSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeDirectory } from '../contract/databases.ts'
import { eventually } from '../support/clients.ts'
import { program, runCommand } from '../support/command-line.ts'
import { run, type ServerProcess, startServer } from '../support/server-process.ts'

const directory = makeDirectory()
const folder = join(directory.path, 'backups')
const bin = join(directory.path, 'bin')
const env = { PATH: `${bin}:${Bun.env['PATH']}` }
const postgres = { ...env, DATABASE_URL: 'postgres://tollgate:a-password@127.0.0.1:1/tollgate' }
let server: ServerProcess
beforeAll(async () => {
  mkdirSync(folder)
  mkdirSync(bin)
  server = await startServer()
  server.signal('SIGTERM')
  await server.exited
})
afterAll(() => {
  server.remove()
  directory.remove()
})

const drafts = () => readdirSync(folder).filter((name) => name.includes('-'))

/** A program of PostgreSQL that says where it runs, and does nothing until it is killed. */
function standIn(name: string): string {
  const started = join(directory.path, `${name}-started`)
  const file = join(bin, name)
  writeFileSync(
    file,
    `#!/bin/sh\necho $$ > ${started}.new\nmv ${started}.new ${started}\nexec sleep 600\n`,
  )
  chmodSync(file, 0o700)
  return started
}

test('a killed backup leaves its folder to the next one, which leaves those of running ones', async () => {
  const started = standIn('pg_dump')
  const child = Bun.spawn([program, 'backup', 'one'], { cwd: folder, env: postgres })
  await eventually(() => existsSync(started) || undefined)
  const dump = Number(await Bun.file(started).text())
  try {
    expect(drafts()).toHaveLength(1)
    await run(server.dataDir, 'backup', join(folder, 'two'))
    expect(drafts()).toHaveLength(1)
    child.kill('SIGKILL')
    await child.exited
    expect(readdirSync(join(folder, drafts()[0] ?? '')).sort()).toContain('password')
    await run(server.dataDir, 'backup', join(folder, 'three'))
    expect(readdirSync(folder).sort()).toEqual(['three', 'two'])
  } finally {
    child.kill('SIGKILL')
    process.kill(dump, 'SIGKILL')
  }
})

test('a restore that was killed after it had moved the ledger away is run again before a server starts', async () => {
  const { dataDir } = server
  const file = join(directory.path, 'copy')
  await run(dataDir, 'backup', file)
  const left = join(dataDir, `restore-${crypto.randomUUID()}`)
  // A copy of the ledger, as it is left by a restore that is killed before it moves anything.
  mkdirSync(left)
  await Bun.write(join(left, 'tollgate.db'), Bun.file(file))
  const next = await startServer(dataDir)
  await next.kill()
  expect(existsSync(left)).toBe(false)

  mkdirSync(left)
  const aside = join(dataDir, 'replaced-2026-11-27T00-00-00-000Z')
  mkdirSync(aside)
  renameSync(join(dataDir, 'tollgate.db'), join(aside, 'tollgate.db'))
  for (const words of [[], ['--workers', '2']]) {
    const refused = startServer(dataDir, { words })
    await expect(refused).rejects.toThrow('was interrupted after it had moved the data')
  }
  expect(existsSync(join(dataDir, 'tollgate.db'))).toBe(false)
  const restored = await runCommand(
    ['restore', file, '--force', '--data', dataDir],
    directory.path,
    env,
  )
  expect([restored.code, restored.err]).toEqual([0, ''])
  expect(existsSync(left)).toBe(false)
  const last = await startServer(dataDir)
  await last.kill()
})
