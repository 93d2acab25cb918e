// Tests backups of PostgreSQL that do not come to their end: they stop in time, and leave no file behind.

import { afterAll, expect, test } from 'bun:test'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { eventually } from '../support/clients.ts'
import { program, runCommand } from '../support/command-line.ts'
import { makeDirectory } from './databases.ts'

const directory = makeDirectory()
afterAll(() => directory.remove())
const folder = join(directory.path, 'backups')
mkdirSync(folder)
const path = `${directory.path}:${Bun.env['PATH']}`

test('interrupted, it ends pg_dump and leaves neither its file nor the password', async () => {
  const started = join(directory.path, 'started')
  const dump = join(directory.path, 'pg_dump')
  writeFileSync(
    dump,
    `#!/bin/sh\necho $$ > ${started}.new\nmv ${started}.new ${started}\nexec sleep 600\n`,
  )
  chmodSync(dump, 0o700)
  const env = { PATH: path, DATABASE_URL: 'postgres://tollgate:a-password@127.0.0.1:1/tollgate' }
  const stdio = ['ignore', 'ignore', 'pipe'] as const
  const child = Bun.spawn([program, 'backup', 'copy'], { cwd: folder, env, stdio: [...stdio] })
  await eventually(() => existsSync(started) || undefined)
  const pid = Number(await Bun.file(started).text())
  child.kill('SIGTERM')
  expect(await new Response(child.stderr).text()).toBe('tollgate: interrupted\n')
  expect(await child.exited).toBe(1)
  expect(readdirSync(folder)).toEqual([])
  expect(() => process.kill(pid, 0)).toThrow('ESRCH')
})

test.skipIf(Bun.which('pg_dump') === null)('a database that does not answer', async () => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : 0
  const DATABASE_URL = `postgres://tollgate:a-password@127.0.0.1:${port}/tollgate`
  const ended = await runCommand(['backup', 'copy'], folder, { DATABASE_URL })
  server.close()
  expect(ended).toMatchObject({ code: 1, err: expect.stringContaining('timeout') })
  expect(readdirSync(folder)).toEqual([])
})
