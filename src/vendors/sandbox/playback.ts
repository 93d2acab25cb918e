// Plays a sandbox reply to a handler at its pace; supports pause, resume and abort.

import type { Exchange, ReplyHandler } from '../transport.ts'
import type { Reply } from './reply.ts'

export interface Pace {
  readonly firstMs: number
  readonly gapMs: number
}

/** The most text sent at once before pauses are checked and other work gets its turn. */
const burstLength = 65_536

const encoder = new TextEncoder()

/** The handler is not called before `play` returns, so the caller has the exchange by then. */
export function play(reply: Reply, pace: Pace, handler: ReplyHandler): Exchange {
  const playback = new Playback(reply, pace, handler)
  playback.start()
  return playback
}

class Playback implements Exchange {
  readonly #reply: Reply
  readonly #pace: Pace
  readonly #handler: ReplyHandler
  readonly #startedAt = performance.now()
  #next = 0
  #headSent = false
  #paused = false
  #over = false
  #timer: ReturnType<typeof setTimeout> | null = null

  constructor(reply: Reply, pace: Pace, handler: ReplyHandler) {
    this.#reply = reply
    this.#pace = pace
    this.#handler = handler
  }

  start(): void {
    queueMicrotask(this.#run)
  }

  pause(): void {
    this.#paused = true
    this.#clear()
  }

  resume(): void {
    if (!this.#paused) return
    this.#paused = false
    if (!this.#over) this.#wait(0)
  }

  abort(): void {
    this.#over = true
    this.#clear()
  }

  #clear(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
  }

  #wait(delayMs: number): void {
    this.#clear()
    this.#timer = setTimeout(this.#run, delayMs)
  }

  /** Milliseconds before step `index` may be sent. Counted from the start, so that delays do not add up. */
  #untilStep(index: number): number {
    const { firstMs, gapMs } = this.#pace
    const due = firstMs + index * gapMs + (this.#reply.bodyDelayMs ?? 0)
    return due === 0 ? 0 : this.#startedAt + due - performance.now()
  }

  readonly #run = (): void => {
    this.#timer = null
    if (this.#over || this.#paused) return
    if (this.#reply.headless === true) {
      this.#finishWhenDue()
      return
    }
    // The status of a whole reply is sent with its body; that of a stream at once.
    if (!this.#headSent && !this.#reply.streamed) {
      const waitMs = this.#untilStep(0)
      if (waitMs > 0) {
        this.#wait(waitMs)
        return
      }
    }
    this.#sendHead()
    if (!this.#over && !this.#paused) this.#sendDue()
  }

  #sendHead(): void {
    if (this.#headSent) return
    this.#headSent = true
    const { status, headers } = this.#reply
    this.#handler.head(status, (name) => headers[name] ?? null)
  }

  #sendDue(): void {
    const { steps } = this.#reply
    let text = ''
    let waitMs = 0
    while (this.#next < steps && text.length < burstLength) {
      waitMs = this.#untilStep(this.#next)
      if (waitMs > 0) break
      text += this.#reply.step(this.#next)
      this.#next += 1
    }
    if (text !== '') this.#send(text)
    if (this.#over || this.#paused) return
    if (this.#next < steps) this.#wait(Math.max(0, waitMs))
    else this.#finishWhenDue()
  }

  #send(text: string): void {
    if (this.#reply.split !== true) {
      this.#handler.bytes(encoder.encode(text))
      return
    }
    const bytes = encoder.encode(text)
    const middle = bytes.length >> 1
    this.#handler.bytes(bytes.slice(0, middle))
    if (!this.#over) this.#handler.bytes(bytes.slice(middle))
  }

  #finishWhenDue(): void {
    const waitMs = this.#reply.steps === 0 ? this.#untilStep(0) : 0
    if (waitMs > 0) {
      this.#wait(waitMs)
      return
    }
    const { close } = this.#reply
    if (close === 'never') return
    this.#over = true
    if (close === 'end') this.#handler.end()
    else this.#handler.fault(close)
  }
}
