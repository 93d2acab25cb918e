// Starts the child process, and reads its output until it ends.

import { join } from 'node:path'
import type { LedgerSettings } from '../../src/config/types.ts'
import type { StoreSettings } from '../../src/store/open.ts'

export interface ChildTask {
  readonly store: StoreSettings
  readonly dataDir: string
  readonly slot: number
  readonly settings: LedgerSettings
  readonly durability: 'normal' | 'strict'
  /** The prefix of the ids of its requests. */
  readonly prefix: string
  readonly accounts: readonly string[]
  readonly clients: number
}

export interface Child {
  readonly pid: number
  /** Resolves when the child has printed a line with this beginning; rejects with its output if it ended first. */
  says(word: string): Promise<void>
  /** Its whole output, up to the last complete line. */
  readonly lines: readonly string[]
  signal(name: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): void
  /** Resolves to its exit code when all its output is read. */
  readonly ended: Promise<number | null>
}

export function startChild(task: ChildTask, script = 'child.ts'): Child {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, script), JSON.stringify(task)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  // A stopped child would outlive a failed test, and keep its pipes open.
  const kill = () => child.kill('SIGKILL')
  process.once('exit', kill)
  const lines: string[] = []
  const waiting = new Set<() => void>()
  const read = async () => {
    const decoder = new TextDecoder()
    let rest = ''
    for await (const bytes of child.stdout) {
      const parts = (rest + decoder.decode(bytes, { stream: true })).split('\n')
      rest = parts.pop() ?? ''
      lines.push(...parts)
      for (const look of waiting) look()
    }
    await child.exited
    process.off('exit', kill)
    return child.exitCode
  }
  const ended = read()
  return {
    pid: child.pid,
    lines,
    ended,
    signal: (name) => child.kill(name),
    says: (word) =>
      new Promise((resolve, reject) => {
        const from = lines.length
        let at = word === 'opened' ? 0 : from
        const look = () => {
          for (; at < lines.length; at += 1) {
            if (lines[at]?.startsWith(word) !== true) continue
            waiting.delete(look)
            resolve()
            return
          }
        }
        waiting.add(look)
        look()
        ended.then((code) => reject(new Error(`ended with ${code} before it said ${word}`)))
      }),
  }
}
