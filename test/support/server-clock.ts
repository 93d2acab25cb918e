// A wall clock of its own for a server that a test starts, to be set while it runs.

import { writeFileSync } from 'node:fs'

/** The library of libfaketime; undefined where it is not to be had. */
const library = Bun.env['TEST_FAKETIME']

/** Empty where no clock can be set. */
export const clockCases = library === undefined ? [] : [{ library }]

export interface ServerClock {
  /** What the server is started with. */
  readonly env: Readonly<Record<string, string>>
  /** How far its wall clock is ahead of the machine's, within a second; its monotonic clock goes on as it was. */
  set(aheadSeconds: number): void
}

/** `file` is the test's to remove. */
export function serverClock(file: string): ServerClock {
  const set = (aheadSeconds: number) =>
    writeFileSync(file, `${aheadSeconds < 0 ? '-' : '+'}${Math.abs(aheadSeconds)}\n`)
  set(0)
  if (library === undefined) return { env: {}, set }
  return {
    env: {
      LD_PRELOAD: library,
      FAKETIME_TIMESTAMP_FILE: file,
      // Seconds until the file is read again.
      FAKETIME_CACHE_DURATION: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    },
    set,
  }
}
