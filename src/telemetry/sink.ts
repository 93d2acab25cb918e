// Where log lines wait to be written: gathered, written from another thread, bounded.

import { write, writeSync } from 'node:fs'

export interface Sink {
  write(line: string): void
  /** Writes what waits now, blocking; for the end of the process. */
  flush(): void
  /** Resolves when all that was written before has left. */
  drained(): Promise<void>
  /** Characters that wait. */
  readonly pending: number
  /** Lines lost because the reader did not keep up, or went away. */
  readonly dropped: number
}

const gatherMs = 50
const writeAt = 65_536
const retryMs = 20
const syncTries = 100

/** A sink on a file descriptor; past `limit` waiting characters lines are dropped and counted. */
export function createSink(fd: number, limit = 16 * 1024 * 1024): Sink {
  return new DescriptorSink(fd, limit)
}

class DescriptorSink implements Sink {
  readonly #fd: number
  readonly #limit: number
  #waiting = ''
  #lines = 0
  #underWay: Buffer | null = null
  #underWayLines = 0
  #dropped = 0
  #timer: ReturnType<typeof setTimeout> | null = null
  readonly #watchers: (() => void)[] = []

  constructor(fd: number, limit: number) {
    this.#fd = fd
    this.#limit = limit
  }

  get pending(): number {
    return this.#waiting.length + (this.#underWay?.length ?? 0)
  }

  get dropped(): number {
    return this.#dropped
  }

  write(line: string): void {
    if (this.#waiting.length + line.length > this.#limit) {
      this.#dropped += 1
      return
    }
    this.#waiting += line
    this.#lines += 1
    if (this.#waiting.length >= writeAt) this.#push()
    else if (this.#timer === null) this.#schedule()
  }

  flush(): void {
    const { bytes, lines } = this.#take()
    if (!writeAll(this.#fd, bytes)) this.#dropped += lines
  }

  drained(): Promise<void> {
    return new Promise((resolve) => {
      this.#watchers.push(resolve)
      this.#push()
    })
  }

  #take(): { bytes: Buffer; lines: number } {
    const taken = { bytes: Buffer.from(this.#waiting), lines: this.#lines }
    this.#waiting = ''
    this.#lines = 0
    return taken
  }

  #schedule(): void {
    this.#timer = setTimeout(() => {
      this.#timer = null
      this.#push()
    }, gatherMs)
    this.#timer.unref()
  }

  /** Starts one write at a time, so that lines stay in order. */
  #push(): void {
    if (this.#underWay !== null) return
    if (this.#waiting === '') {
      for (const done of this.#watchers.splice(0)) done()
      return
    }
    const { bytes, lines } = this.#take()
    this.#underWay = bytes
    this.#underWayLines = lines
    this.#send(bytes)
  }

  #send(bytes: Buffer): void {
    write(this.#fd, bytes, 0, bytes.length, null, (error, written) => {
      if (error === null && written < bytes.length) {
        this.#underWay = bytes.subarray(written)
        this.#send(this.#underWay)
      } else if (error !== null && isBusy(error)) {
        setTimeout(() => this.#send(bytes), retryMs).unref()
      } else {
        if (error !== null) this.#dropped += this.#underWayLines
        this.#underWay = null
        this.#push()
      }
    })
  }
}

/** False where the reader is gone or stays busy: there is nobody left to tell. */
function writeAll(fd: number, bytes: Buffer): boolean {
  let from = 0
  for (let tries = 0; from < bytes.length && tries < syncTries; ) {
    try {
      from += writeSync(fd, bytes, from)
    } catch (error) {
      if (!(error instanceof Error) || !isBusy(error)) return false
      tries += 1
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10)
    }
  }
  return from >= bytes.length
}

function isBusy(error: NodeJS.ErrnoException): boolean {
  return error.code === 'EAGAIN' || error.code === 'EBUSY'
}
