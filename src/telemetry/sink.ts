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
  let waiting = ''
  let lines = 0
  let underWay: Buffer | null = null
  let underWayLines = 0
  let dropped = 0
  let timer: ReturnType<typeof setTimeout> | null = null
  const watchers: (() => void)[] = []

  const schedule = (ms: number) => {
    if (timer !== null) return
    timer = setTimeout(() => {
      timer = null
      push()
    }, ms)
    timer.unref()
  }

  /** Starts one write at a time, so that lines stay in order. */
  const push = () => {
    if (underWay !== null) return
    if (waiting === '') {
      for (const done of watchers.splice(0)) done()
      return
    }
    underWay = Buffer.from(waiting)
    underWayLines = lines
    waiting = ''
    lines = 0
    send()
  }

  const send = () => {
    const bytes = underWay
    if (bytes === null) return
    write(fd, bytes, 0, bytes.length, null, (error, written) => {
      if (underWay !== bytes) return
      if (error === null && written < bytes.length) {
        underWay = bytes.subarray(written)
        send()
      } else if (error !== null && isBusy(error)) {
        setTimeout(send, retryMs).unref()
      } else {
        if (error !== null) dropped += underWayLines
        underWay = null
        push()
      }
    })
  }

  const flush = () => {
    const bytes = Buffer.from(waiting)
    const count = lines
    waiting = ''
    lines = 0
    if (!writeAll(fd, bytes)) dropped += count
  }

  return {
    write(line) {
      if (waiting.length + line.length > limit) {
        dropped += 1
        return
      }
      waiting += line
      lines += 1
      if (waiting.length >= writeAt) push()
      else schedule(gatherMs)
    },
    flush,
    drained: () =>
      new Promise((resolve) => {
        watchers.push(resolve)
        push()
      }),
    get pending() {
      return waiting.length + (underWay?.length ?? 0)
    },
    get dropped() {
      return dropped
    },
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
