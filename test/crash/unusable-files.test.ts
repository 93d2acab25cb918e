// Tests that files of the data directory that cannot be used end the start with one line that names them.

import { expect, test } from 'bun:test'
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeDirectory } from '../contract/databases.ts'
import { startServer } from '../support/server-process.ts'

/** What the server prints on standard error as it ends with 1. */
async function refusal(dataDir: string): Promise<string> {
  const failure = await startServer(dataDir).then(
    async (server) => {
      await server.kill()
      return 'it started'
    },
    (error: unknown) => String(error),
  )
  return failure.replace('Error: the server ended with 1: ', '')
}

test.each(['outbox-0.db', 'outbox-0-a.db', 'outbox-0-b.db', 'tollgate.db'])(
  'a damaged %s',
  async (name) => {
    const directory = makeDirectory()
    try {
      const path = join(directory.path, name)
      writeFileSync(path, 'this was a database until its disk forgot it\n'.repeat(500))
      expect(await refusal(directory.path)).toBe(
        `Cannot use ${path}: file is not a database. It is damaged: put it back from a backup, or move it away.\n`,
      )
    } finally {
      directory.remove()
    }
  },
)

const readOnly = makeDirectory()
const mounted =
  spawnSync('mount', ['-t', 'tmpfs', '-o', 'ro,size=1m', 'tmpfs', readOnly.path]).status === 0
if (!mounted)
  console.log('left out: a read-only folder, which needs a file system that may be mounted')

test.skipIf(!mounted)('a read-only folder', async () => {
  try {
    const message = await refusal(readOnly.path)
    expect(message).toContain(readOnly.path)
    expect(message).toMatch(/^[^\n]*(EROFS|read-only)[^\n]*\n$/)
  } finally {
    spawnSync('umount', ['-l', readOnly.path])
    readOnly.remove()
  }
})
