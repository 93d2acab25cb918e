// Measures what a power cut can lose, from the system calls of a gateway under load, since no test can cut the power.

import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { eventually } from '../support/clients.ts'
import { deploy } from '../support/deployment.ts'
import { isLong, repetitions } from '../support/long.ts'
import { startLoad } from './gateway-load.ts'

const given = Bun.env['TEST_STRACE'] ?? Bun.which('strace')
if (given === null) console.log('left out: system calls, which needs strace')

/** 50 ms with a disk and a processor of its own: the measured time is printed. */
const boundMs = 500
/**
 * The bound holds for nine of ten syncs, since others may use the disk or the processor for a moment; a sync that takes
 * longer than this was forgotten.
 */
const forgottenMs = 15_000

interface Call {
  readonly thread: number
  readonly path: string
  readonly startMs: number
  readonly endMs: number
}

/** Records the syncs of every thread, and stops at no other call; the server keeps its process id. */
function noting(strace: string, file: string): readonly string[] {
  const words = ['-D', '-f', '--seccomp-bpf', '-y', '-ttt', '-T', '-e', 'trace=fsync,fdatasync']
  return [strace, ...words, '-o', file]
}

/** `TID TIME call(FD<PATH>...) = RESULT <SECONDS>`; a call that another interrupts takes two lines. */
function readCalls(text: string): Call[] {
  const begun = new Map<string, { readonly path: string; readonly startMs: number }>()
  const found: Call[] = []
  for (const line of text.split('\n')) {
    const head = /^(\d+)\s+(\d+\.\d+) /.exec(line)
    if (head === null) continue
    const [, thread = '', at = ''] = head
    const path = /\(\d+<([^>]*)>/.exec(line)?.[1]
    const seconds = /<(\d+\.\d+)>$/.exec(line)?.[1]
    if (path !== undefined) begun.set(thread, { path, startMs: Number(at) * 1_000 })
    const start = begun.get(thread)
    if (seconds === undefined || start === undefined) continue
    const endMs = start.startMs + Number(seconds) * 1_000
    found.push({ thread: Number(thread), ...start, endMs })
  }
  return found
}

/**
 * Everything written to the outbox between the starts of two syncs is on the disk when the second has ended. For a time
 * of steady load: the longest possible delay, for each two syncs.
 */
function unsafeMs(found: readonly Call[], path: string, sinceMs: number, untilMs: number) {
  const syncs = found.filter(
    (call) => call.path === path && call.startMs >= sinceMs && call.endMs <= untilMs,
  )
  return syncs
    .slice(1)
    .map(({ endMs }, index) => endMs - (syncs[index]?.startMs ?? 0))
    .sort((a, b) => a - b)
}

describe.each(given === null ? [] : [{ strace: given }])('a power cut', ({ strace }) => {
  test('I7: what the outbox has is on the disk in time, and the serving thread waits for no disk', async () => {
    const deployment = await deploy({ databaseUrl: null, credits: { acme: '1000' } })
    try {
      const file = join(deployment.dataDir(), 'calls.txt')
      const server = await deployment.start({ under: noting(strace, file) })
      const startedMs = Date.now()
      const load = startLoad([server.url], ['acme'], 12)
      await eventually(() => load.seen.length >= repetitions(1_000, 10_000) || undefined, 60_000)
      const endedMs = Date.now()
      await load.stop()
      server.signal('SIGTERM')
      expect(await server.exited).toBe(0)
      const found = readCalls(readFileSync(file, 'utf8'))
      const log = join(deployment.dataDir(), 'outbox-0-a.db-wal')
      const gaps = unsafeMs(found, log, startedMs, endedMs)
      expect(gaps.length).toBeGreaterThan(repetitions(3, 20))
      const worstMs = gaps.at(-1) ?? 0
      const ofServing = found.filter(
        ({ thread, startMs }) => thread === server.pid && startMs >= startedMs,
      )
      const ofLedger = found.filter(({ path }) => path.endsWith('/tollgate.db-wal'))
      expect(ofLedger.length).toBeGreaterThan(repetitions(1, 10))
      console.log(
        `${load.seen.length} requests: on the disk after at most ${gaps[gaps.length >> 1]?.toFixed(1)} ms (median), ` +
          `${worstMs.toFixed(1)} ms (worst of ${gaps.length} syncs); ${ofLedger.length} syncs of the ledger`,
      )
      expect(ofServing).toEqual([])
      if (!isLong) return
      expect(gaps[Math.floor(gaps.length * 0.9)]).toBeLessThanOrEqual(boundMs)
      expect(worstMs).toBeLessThan(forgottenMs)
    } finally {
      await deployment.remove()
    }
  }, 60_000)
})
