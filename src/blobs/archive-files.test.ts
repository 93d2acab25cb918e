// Tests files that are kept permanently: what exists after a power cut, and a store that never answers.

import { afterEach, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { archiveFiles } from './archive-files.ts'

const folders: string[] = []
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true })
})

test('what a cut has left of a file is no file, and is written over', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'tollgate-files-'))
  folders.push(dataDir)
  mkdirSync(join(dataDir, 'archive', '2026-08'), { recursive: true })
  writeFileSync(join(dataDir, 'archive', '2026-08', 'one.part'), 'the beginning of a longer file')
  const files = archiveFiles(dataDir, null)
  expect(await files.get('2026-08/one')).toBeNull()
  await files.put('2026-08/one', Buffer.from('whole'))
  expect(Buffer.from((await files.get('2026-08/one')) ?? []).toString()).toBe('whole')
  expect(readdirSync(join(dataDir, 'archive', '2026-08'))).toEqual(['one'])
})

test('a store that takes a call and never answers is away, and is not waited for', async () => {
  const server = createServer((socket) => socket.on('error', () => undefined).resume())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : null
  const settings = { endpoint: `http://127.0.0.1:${port}`, region: null, prefix: '', bucket: 'b' }
  const files = archiveFiles('', { ...settings, accessKeyId: 'id', secretAccessKey: 'key' }, 50)
  await expect(files.put('one', Buffer.from('whole'))).rejects.toThrow('failed with ETIMEDOUT')
  await expect(files.get('one')).rejects.toThrow('failed with ETIMEDOUT')
  server.close()
})
