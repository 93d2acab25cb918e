// A separate wall clock for a server that a test starts, which can be set while it runs.

import { writeFileSync } from 'node:fs'

/** The library of libfaketime; undefined if it is not installed. */
const library = Bun.env['TEST_FAKETIME']

/** Empty if no clock can be set. */
export const clockCases = library === undefined ? [] : [{ library }]

export interface ServerClock {
  /** The environment with which the server is started. */
  readonly env: Readonly<Record<string, string>>
  /** How far its wall clock is ahead of the machine's, within a second; its monotonic clock is not changed. */
  set(aheadSeconds: number): void
}

/** The test has to remove `file`. */
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
