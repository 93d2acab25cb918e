// Tests that all processes of a deployment get the same signing key, and that a damaged key file is never overwritten.

import { afterEach, expect, test } from 'bun:test'
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DataError } from '../store/data-error.ts'
import { encryptionKey } from './encryption-key.ts'

const folders: string[] = []
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true })
})

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-key-'))
  folders.push(folder)
  return folder
}

test('one that is given is used, and none is kept', () => {
  const dataDir = newFolder()
  const key = encryptionKey({ encryptionKey: 'a key of its operator', dataDir })
  expect(Buffer.from(key).toString()).toBe('a key of its operator')
  expect(readdirSync(dataDir)).toEqual([])
})

test('else one is made once, for its owner alone', () => {
  const dataDir = newFolder()
  const first = encryptionKey({ encryptionKey: null, dataDir })
  expect(first).toHaveLength(32)
  expect(encryptionKey({ encryptionKey: null, dataDir })).toEqual(first)
  expect(encryptionKey({ encryptionKey: null, dataDir: newFolder() })).not.toEqual(first)
  expect(readdirSync(dataDir)).toEqual(['encryption.key'])
  expect(statSync(join(dataDir, 'encryption.key')).mode & 0o777).toBe(0o600)
})

test('processes that start at once agree on one', async () => {
  const dataDir = newFolder()
  const script = `
    import { encryptionKey } from ${JSON.stringify(join(import.meta.dir, 'encryption-key.ts'))}
    const key = encryptionKey({ encryptionKey: null, dataDir: ${JSON.stringify(dataDir)} })
    process.stdout.write(Buffer.from(key).toString('hex'))`
  const keys = await Promise.all(
    Array.from({ length: 6 }, () =>
      new Response(Bun.spawn([process.execPath, '-e', script]).stdout).text(),
    ),
  )
  expect(keys[0]).toMatch(/^[0-9a-f]{64}$/)
  expect(new Set(keys).size).toBe(1)
})

test.each(['', 'short\n', 'not base64 at all, and far too long to be a key of 32 bytes'])(
  'a damaged one stops the start: %p',
  (text) => {
    const dataDir = newFolder()
    writeFileSync(join(dataDir, 'encryption.key'), text)
    expect(() => encryptionKey({ encryptionKey: null, dataDir })).toThrow(DataError)
  },
)
