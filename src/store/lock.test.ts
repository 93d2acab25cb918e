// Tests the server lock, with real processes that end normally and by kill -9.

import { afterEach, beforeEach, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DataLocked, lockData } from './lock.ts'

let data: string
let holders: ReturnType<typeof holdInProcess>[]
beforeEach(() => {
  data = join(mkdtempSync(join(tmpdir(), 'tollgate-lock-')), 'data')
  holders = []
})
afterEach(async () => {
  for (const holder of holders) holder.kill('SIGKILL')
  await Promise.all(holders.map((holder) => holder.exited))
  rmSync(join(data, '..'), { recursive: true })
})

/** A process that takes the lock, prints `held` or the refusal, and waits. */
function holdInProcess() {
  const code = `
    const { lockData } = await import(${JSON.stringify(join(import.meta.dirname, 'lock.ts'))})
    try { lockData(${JSON.stringify(data)}); Bun.gc(true); console.log('held') }
    catch (error) { console.log(error.message) }
    setInterval(() => Bun.gc(true), 10)`
  const child = Bun.spawn([process.execPath, '-e', code], { stdout: 'pipe' })
  return child
}

async function hold() {
  const child = holdInProcess()
  holders.push(child)
  const { value } = await child.stdout.getReader().read()
  return { child, said: new TextDecoder().decode(value).trim() }
}

test('a second server is refused by name of the first, which keeps the lock', async () => {
  const first = await hold()
  expect(first.said).toBe('held')
  const second = await hold()
  expect(second.said).toContain(`Another Tollgate server (pid ${first.child.pid}) has the data in`)
  expect(second.said).toContain(data)
  expect(() => lockData(data)).toThrow(DataLocked)
  expect(readFileSync(join(data, 'server.pid'), 'utf8').trim()).toBe(String(first.child.pid))
})

test('kill -9 frees the lock at once', async () => {
  for (let round = 0; round < 5; round += 1) {
    const { child, said } = await hold()
    expect(said).toBe('held')
    child.kill('SIGKILL')
    await child.exited
  }
  lockData(data).release()
})

test('release frees it, and the same process may not take it twice', () => {
  const lock = lockData(data)
  expect(() => lockData(data)).toThrow(`(pid ${process.pid})`)
  lock.release()
  lockData(data).release()
})

test('a stale or unreadable pid is not shown', () => {
  const lock = lockData(data)
  for (const content of ['', '0', 'nonsense', '999999999']) {
    writeFileSync(join(data, 'server.pid'), content)
    expect(() => lockData(data)).toThrow('Another Tollgate server has the data in')
  }
  lock.release()
})

test('directory and files are for the owner alone', () => {
  const lock = lockData(data)
  expect(statSync(data).mode & 0o777).toBe(0o700)
  expect(statSync(join(data, 'server.lock')).mode & 0o777).toBe(0o600)
  expect(statSync(join(data, 'server.pid')).mode & 0o777).toBe(0o600)
  lock.release()
})
