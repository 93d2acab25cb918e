// A TCP proxy between a gateway and a dependency, so that a test can cut, slow down and restore the connection.

import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { Transform, type TransformCallback } from 'node:stream'
import { pace } from './clients.ts'

/** How a slow connection treats bytes, separately in each direction: they keep their order. */
export interface Slowness {
  /** Each read of a socket waits this long, and up to `jitterMs` more. */
  readonly latencyMs: number
  readonly jitterMs: number
  /** Bytes are sent in pieces of 1 to this many. */
  readonly pieceBytes: number
  /** The maximum per second, over all pieces of one connection and direction. */
  readonly bytesPerSecond: number
}

export interface Proxy {
  /** The same address with this proxy's host and port. */
  through(url: string): string
  /** Breaks every connection, and each new one at once, until `restore`. */
  cut(): void
  /** Passes nothing on, and breaks nothing, until `restore`. */
  stall(): void
  slow(slowness: Slowness): void
  /** With a target: new connections go there. */
  restore(target?: string): void
  /** Breaks every open connection; new ones are accepted. */
  breakAll(): void
  close(): Promise<void>
}

type State = 'up' | 'cut' | 'stalled' | Slowness

/** The state that all connections of a proxy read; `changed` ends waits that no longer apply in the next state. */
class Way {
  #state: State = 'up'
  #change = Promise.withResolvers<void>()

  get state(): State {
    return this.#state
  }

  set state(state: State) {
    this.#state = state
    this.#change.resolve()
    this.#change = Promise.withResolvers()
  }

  get changed(): Promise<void> {
    return this.#change.promise
  }
}

/** One direction of one connection. */
class Link extends Transform {
  readonly #way: Way

  constructor(way: Way) {
    super({ highWaterMark: 0 })
    this.#way = way
  }

  override _transform(bytes: Buffer, _: string, done: TransformCallback): void {
    if (this.#way.state === 'up') done(null, bytes)
    else this.#pass(bytes).then(() => done(), done)
  }

  async #pass(bytes: Buffer): Promise<void> {
    let at = 0
    let isFirst = true
    while (at < bytes.length && !this.destroyed) {
      const { state, changed } = this.#way
      if (typeof state !== 'object') {
        if (state !== 'up') await changed
        else at += this.#give(bytes, at, bytes.length)
        continue
      }
      const { latencyMs, jitterMs, pieceBytes, bytesPerSecond } = state
      const size = Math.min(1 + Math.floor(Math.random() * pieceBytes), bytes.length - at)
      const firstMs = isFirst ? latencyMs + Math.random() * jitterMs : 0
      isFirst = false
      await Promise.race([pace(firstMs + (1_000 * size) / bytesPerSecond), changed])
      at += this.#give(bytes, at, at + size)
    }
  }

  #give(bytes: Buffer, from: number, to: number): number {
    this.push(bytes.subarray(from, to))
    return to - from
  }
}

export async function startProxy(target: string): Promise<Proxy> {
  let to = new URL(target)
  const pairs = new Set<readonly [Socket, Socket]>()
  const way = new Way()
  const server = createServer({ noDelay: true }, (near) => {
    near.on('error', () => near.destroy())
    if (way.state === 'cut') {
      near.resetAndDestroy()
      return
    }
    const far = connect({ host: to.hostname, port: Number(to.port), noDelay: true })
    const pair = [near, far] as const
    pairs.add(pair)
    far.on('error', () => near.destroy())
    const gone = () => {
      if (near.destroyed && far.destroyed) pairs.delete(pair)
    }
    join(near, far, new Link(way), gone)
    join(far, near, new Link(way), gone)
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const breakAll = () => {
    for (const [near, far] of pairs) {
      near.resetAndDestroy()
      far.destroy()
    }
  }
  return {
    through(url) {
      const moved = new URL(url)
      moved.host = `127.0.0.1:${(server.address() as AddressInfo).port}`
      return moved.href
    },
    cut() {
      way.state = 'cut'
      breakAll()
    },
    stall() {
      way.state = 'stalled'
    },
    slow(slowness) {
      way.state = slowness
    },
    restore(elsewhere) {
      if (elsewhere !== undefined) to = new URL(elsewhere)
      way.state = 'up'
    },
    breakAll,
    async close() {
      way.state = 'cut'
      breakAll()
      await new Promise<void>((done) => server.close(() => done()))
    },
  }
}

/** A normal end of one side ends the other after the data still on its way; a break breaks it. */
function join(from: Socket, to: Socket, link: Link, gone: () => void): void {
  from.pipe(link).pipe(to)
  from.on('close', () => {
    if (!from.readableEnded) {
      link.destroy()
      to.destroy()
    }
    gone()
  })
  to.on('close', () => link.destroy())
  link.on('error', () => to.destroy())
}
