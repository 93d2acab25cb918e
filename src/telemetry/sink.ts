// A bounded queue of log lines, which are written by another thread.

import { write, writeSync } from 'node:fs'

export interface Sink {
  write(line: string): void
  /** Writes what is waiting, blocking; for the end of the process. */
  flush(): void
  /** Resolves when everything written before has been sent. */
  drained(): Promise<void>
  /** Characters waiting to be written. */
  readonly pending: number
  /** Lines lost because the reader did not keep up, or went away. */
  readonly dropped: number
}

interface SinkOptions {
  /** The most characters that may wait; further lines are dropped and counted. */
  readonly limit?: number
  /** Other processes write to the same descriptor. */
  readonly shared?: boolean
}

const gatherMs = 50
const writeAt = 65_536
const retryMs = 20
const syncTries = 100
const busyMs = 10
/** How long a running write is waited for before the process ends. */
const underWayMs = 100
/** Linux writes this much to a pipe atomically (PIPE_BUF, pipe(7)); more may be mixed with another process's lines. */
const pieceBytes = 4_096
const lineEnd = 10

export function createSink(
  fd: number,
  { limit = 16 * 1024 * 1024, shared = false }: SinkOptions = {},
): Sink {
  return new DescriptorSink(fd, limit, shared)
}

/** How many bytes to write at once: all, or whole lines that are written atomically. A longer line goes alone. */
function pieceOf(bytes: Buffer, shared: boolean): number {
  if (!shared || bytes.length <= pieceBytes) return bytes.length
  const last = bytes.lastIndexOf(lineEnd, pieceBytes - 1)
  return (last === -1 ? bytes.indexOf(lineEnd) : last) + 1
}

class DescriptorSink implements Sink {
  readonly #fd: number
  readonly #limit: number
  readonly #shared: boolean
  #waiting = ''
  #lines = 0
  #underWay: Buffer | null = null
  #underWayLines = 0
  #dropped = 0
  #timer: ReturnType<typeof setTimeout> | null = null
  readonly #watchers: (() => void)[] = []

  constructor(fd: number, limit: number, shared: boolean) {
    this.#fd = fd
    this.#limit = limit
    this.#shared = shared
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
    if (!writeAll(this.#fd, Buffer.concat([this.#unsent(), bytes]), this.#shared))
      this.#dropped += lines
  }

  drained(): Promise<void> {
    return new Promise((resolve) => {
      this.#watchers.push(resolve)
      this.#push()
    })
  }

  /** What was taken to be written, but for the piece that is being written. */
  #unsent(): Buffer {
    if (this.#underWay === null) return Buffer.alloc(0)
    const piece = pieceOf(this.#underWay, this.#shared)
    const rest = this.#underWay.subarray(piece)
    this.#underWay = this.#underWay.subarray(0, piece)
    // The running write belongs to another thread, and its end is reported to the event loop, which runs no more.
    pause(underWayMs)
    return rest
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
    this.#send()
  }

  #send(): void {
    const bytes = this.#underWay
    if (bytes === null) return
    write(this.#fd, bytes, 0, pieceOf(bytes, this.#shared), null, (error, written) => {
      const rest = error === null ? this.#underWay?.subarray(written) : undefined
      if (rest !== undefined && rest.length > 0) {
        this.#underWay = rest
        this.#send()
      } else if (error !== null && isBusy(error)) {
        setTimeout(() => this.#send(), retryMs).unref()
      } else {
        if (error !== null) this.#dropped += this.#underWayLines
        this.#underWay = null
        this.#push()
      }
    })
  }
}

/** Returns false where the reader is gone or stays busy. */
function writeAll(fd: number, bytes: Buffer, shared: boolean): boolean {
  let from = 0
  for (let tries = 0; from < bytes.length && tries < syncTries; ) {
    try {
      from += writeSync(fd, bytes, from, pieceOf(bytes.subarray(from), shared))
    } catch (error) {
      if (!(error instanceof Error) || !isBusy(error)) return false
      tries += 1
      pause(busyMs)
    }
  }
  return from >= bytes.length
}

function pause(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}

function isBusy(error: NodeJS.ErrnoException): boolean {
  return error.code === 'EAGAIN' || error.code === 'EBUSY'
}
