// Tests data directories on a disk that is full, or that became read-only: one line says so, and room mends it.

import { afterAll, expect, test } from 'bun:test'
import { spawnSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { makeDirectory } from '../contract/databases.ts'
import { runCommand } from '../support/command-line.ts'
import { run, startServer } from '../support/server-process.ts'

const place = makeDirectory()
const mount = (...words: readonly string[]) => spawnSync('mount', words).status === 0
const remount = (options: string) => mount('-o', `remount,${options}`, place.path)
const isMounted = mount('-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', place.path)
if (!isMounted) console.log('left out: small disks, which need a file system that may be mounted')
afterAll(() => {
  if (isMounted) spawnSync('umount', ['-l', place.path])
  place.remove()
})

const dataDir = join(place.path, 'data')
const file = join(dataDir, 'tollgate.db')

test.skipIf(!isMounted)('a first start without room says so, and with room starts', async () => {
  mkdirSync(dataDir)
  // Each step of a start needs more room than the one before.
  for (const room of ['64k', '200k', '400k', '600k', '840k', '860k', '900k', '940k']) {
    expect(remount(`size=${room}`)).toBe(true)
    const failure = await startServer(dataDir).catch((error: unknown) => String(error))
    expect(failure).toMatch(
      /^Error: the server ended with 1: (Cannot use \S+db|The store cannot be used): database or disk is full\.\n$/,
    )
  }
  expect(remount('size=64m')).toBe(true)
  const server = await startServer(dataDir)
  await server.kill()
  expect(await run(dataDir, 'audit')).toContain('no difference')
})

test.skipIf(!isMounted)('commands on a disk that is read-only say so', async () => {
  const server = await startServer(dataDir)
  server.signal('SIGTERM')
  expect(await server.exited).toBe(0)
  expect(remount('ro')).toBe(true)
  const reason = 'unable to open database file: its file system is read-only'
  for (const words of [['account', 'list'], ['migrate', '--plan'], ['migrate']]) {
    const ended = await runCommand([...words, '--data', dataDir], '/')
    expect(ended).toEqual({ code: 1, out: '', err: `tollgate: Cannot use ${file}: ${reason}.\n` })
  }
})
