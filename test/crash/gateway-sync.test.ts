// What a power cut can take, read off the system calls of a gateway under load: no test can cut the power.

import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { deploy } from '../support/deployment.ts'
import { startLoad } from './gateway-load.ts'

const given = Bun.env['TEST_STRACE'] ?? Bun.which('strace')
if (given === null) console.log('left out: system calls, which needs strace')

const calls = ['fsync', 'fdatasync', 'pwrite64']
const boundMs = 50

interface Call {
  readonly thread: number
  readonly name: string
  readonly path: string
  readonly startMs: number
  readonly endMs: number
}

/** Follows every thread of a process until `stop`. */
async function follow(strace: string, pid: number, file: string) {
  const words = ['-f', '-y', '-ttt', '-T', '-s', '0', '-e', `trace=${calls}`, '-o', file]
  const child = Bun.spawn([strace, ...words, '-p', String(pid)], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let said = ''
  for await (const bytes of child.stderr) {
    said += new TextDecoder().decode(bytes)
    if (said.includes('attached')) break
  }
  if (!said.includes('attached')) throw new Error(`strace: ${said}`)
  return async () => {
    child.kill('SIGINT')
    await child.exited
    return readCalls(readFileSync(file, 'utf8'))
  }
}

/** `TID TIME call(FD<PATH>...) = RESULT <SECONDS>`; a call that others ran into comes in two lines. */
function readCalls(text: string): Call[] {
  const begun = new Map<string, { readonly path: string; readonly startMs: number }>()
  const found: Call[] = []
  for (const line of text.split('\n')) {
    const head = /^(\d+)\s+(\d+\.\d+) (?:<\.\.\. )?(\w+)/.exec(line)
    if (head === null) continue
    const [, thread = '', at = '', name = ''] = head
    const path = /\(\d+<([^>]*)>/.exec(line)?.[1]
    const seconds = /<(\d+\.\d+)>$/.exec(line)?.[1]
    if (path !== undefined) begun.set(thread, { path, startMs: Number(at) * 1_000 })
    const start = begun.get(thread)
    if (seconds === undefined || start === undefined) continue
    const endMs = start.startMs + Number(seconds) * 1_000
    found.push({ thread: Number(thread), name, ...start, endMs })
  }
  return found
}

const isSync = ({ name }: Call) => name !== 'pwrite64'
const isOutboxLog = ({ path }: Call) => /\/outbox-\d+-[ab]\.db-wal$/.test(path)

/** For each write to the outbox's log: until a sync that began after it had ended. */
function unsafeMs(found: readonly Call[]): number[] {
  const syncs = found.filter((call) => isSync(call) && isOutboxLog(call))
  const lastSync = Math.max(...syncs.map(({ startMs }) => startMs))
  return found
    .filter((call) => !isSync(call) && isOutboxLog(call) && call.endMs < lastSync)
    .map((write) => {
      const later = syncs.filter(
        ({ path, startMs }) => path === write.path && startMs >= write.endMs,
      )
      return Math.min(...later.map(({ endMs }) => endMs)) - write.endMs
    })
}

describe.each(given === null ? [] : [{ strace: given }])('a power cut', ({ strace }) => {
  test('I7: what the outbox has is on the disk in time, and the serving thread waits for no disk', async () => {
    const deployment = await deploy({ databaseUrl: null, credits: { acme: '1000' } })
    try {
      const server = await deployment.start()
      const stop = await follow(strace, server.pid, join(deployment.dataDir(), 'calls.txt'))
      const load = startLoad([server.url], ['acme'], 12)
      await delay(2_000)
      await load.stop()
      await delay(200)
      const found = await stop()
      const ofServing = found.filter(({ thread }) => thread === server.pid)
      expect(ofServing.filter(isSync)).toEqual([])
      expect(ofServing.filter(isOutboxLog).length).toBeGreaterThan(100)
      const ledger = found.filter((call) => isSync(call) && call.path.endsWith('/tollgate.db-wal'))
      expect(ledger.length).toBeGreaterThan(10)
      const gaps = unsafeMs(found).sort((a, b) => a - b)
      const worstMs = gaps.at(-1) ?? Number.POSITIVE_INFINITY
      const middleMs = gaps[gaps.length >> 1] ?? 0
      console.log(
        `${gaps.length} writes to the outbox, on the disk after ${middleMs.toFixed(1)} ms (median), ` +
          `${worstMs.toFixed(1)} ms (worst); ${ledger.length} syncs of the ledger`,
      )
      expect(worstMs).toBeLessThanOrEqual(boundMs)
    } finally {
      await deployment.remove()
    }
  }, 60_000)
})
