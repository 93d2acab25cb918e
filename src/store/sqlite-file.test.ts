// Tests the rules that protect the locks of a running server: which code may open SQLite files, and how they are
// created.

import { expect, test } from 'bun:test'
import { readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { makeDirectory } from '../../test/contract/databases.ts'
import { locksOn } from '../../test/support/locks.ts'
import { DataError } from './data-error.ts'
import { openSqlite } from './sqlite.ts'
import { openFile } from './sqlite-file.ts'

test('another connection that comes and goes in the same process leaves the locks where they are', async () => {
  const directory = makeDirectory()
  try {
    const path = join(directory.path, 'tollgate.db')
    const engine = await openSqlite(directory.path)
    const expected = ['READ', 'READ']
    const found = () => [path, `${path}-shm`].flatMap((file) => locksOn(file, process.pid))
    expect(found()).toEqual(expected)
    const again = await openSqlite(directory.path)
    expect(found()).toEqual(expected)
    await again.close()
    expect(found()).toEqual(expected)
    await engine.close()
  } finally {
    directory.remove()
  }
})

test('threads that make one file at the same time lose no lock of each other', async () => {
  const directory = makeDirectory()
  const script = `
    const { workerData, parentPort } = require('node:worker_threads')
    const { openFile } = await import(workerData.module)
    const file = openFile(workerData.path)
    file.run('PRAGMA busy_timeout = 5000')
    file.run('PRAGMA journal_mode = WAL')
    file.run('CREATE TABLE IF NOT EXISTS t (x)')
    parentPort.postMessage('open')
    parentPort.once('message', () => { file.close(); process.exit(0) })`
  try {
    for (let round = 0; round < 5; round += 1) {
      const path = join(directory.path, `${round}.db`)
      const module = new URL('./sqlite-file.ts', import.meta.url).href
      const threads = Array.from(
        { length: 4 },
        () => new Worker(script, { eval: true, workerData: { path, module } }),
      )
      const opened = threads.map(
        (thread) =>
          new Promise((resolve, reject) => {
            thread.once('message', resolve)
            thread.once('error', reject)
          }),
      )
      await Promise.all(opened)
      expect(locksOn(path, process.pid)).toEqual(['READ'])
      expect(locksOn(`${path}-shm`, process.pid)).toEqual(['READ'])
      const ended = threads.map((thread) => new Promise((resolve) => thread.once('exit', resolve)))
      for (const thread of threads) thread.postMessage('close')
      await Promise.all(ended)
    }
  } finally {
    directory.remove()
  }
})

test('files are made for their owner alone, and nothing else is left beside them', () => {
  const directory = makeDirectory()
  try {
    const path = join(directory.path, 'made.db')
    const file = openFile(path)
    file.run('PRAGMA journal_mode = WAL')
    file.run('CREATE TABLE t (x)')
    const modes = readdirSync(directory.path).map((name) => [
      name,
      statSync(join(directory.path, name)).mode & 0o777,
    ])
    expect(modes.sort()).toEqual([
      ['made.db', 0o600],
      ['made.db-shm', 0o600],
      ['made.db-wal', 0o600],
    ])
    file.close()
  } finally {
    directory.remove()
  }
})

test('a file that cannot be used is named in one line', async () => {
  const directory = makeDirectory()
  try {
    const path = join(directory.path, 'tollgate.db')
    writeFileSync(
      path,
      'this is no database, and long enough to be read as its first page'.repeat(99),
    )
    const failure = await openSqlite(directory.path).catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(DataError)
    expect(String(failure)).toBe(
      `DataError: Cannot use ${path}: file is not a database. It is damaged: put it back from a backup, or move it away.`,
    )
    const nowhere = join(directory.path, 'nowhere', 'x.db')
    expect(() => openFile(nowhere)).toThrow(`Cannot use ${nowhere}: ENOENT`)
  } finally {
    directory.remove()
  }
})
