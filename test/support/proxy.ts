// A TCP proxy between a gateway and what it depends on, so that a test can take that away and give it back.

import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export interface Proxy {
  /** The same address with this proxy's host and port in it. */
  through(url: string): string
  /** Breaks every connection, and each new one at once, until `restore`. */
  cut(): void
  /** Passes nothing on, and breaks nothing, until `restore`. */
  stall(): void
  restore(): void
  /** Breaks every connection that stands; new ones are taken. */
  breakAll(): void
  close(): Promise<void>
}

export async function startProxy(target: string): Promise<Proxy> {
  const { hostname, port } = new URL(target)
  const pairs = new Set<readonly [Socket, Socket]>()
  let state: 'up' | 'cut' | 'stalled' = 'up'
  const server = createServer((near) => {
    near.on('error', () => near.destroy())
    if (state === 'cut') {
      near.resetAndDestroy()
      return
    }
    const far = connect({ host: hostname, port: Number(port), noDelay: true })
    const pair = [near, far] as const
    pairs.add(pair)
    far.on('error', () => near.destroy())
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      from.pipe(to)
      from.on('close', () => {
        to.destroy()
        pairs.delete(pair)
      })
    }
    if (state === 'stalled') hush(pair)
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
      state = 'cut'
      breakAll()
    },
    stall() {
      state = 'stalled'
      for (const pair of pairs) hush(pair)
    },
    restore() {
      state = 'up'
      for (const [near, far] of pairs) {
        near.pipe(far)
        far.pipe(near)
      }
    },
    breakAll,
    async close() {
      breakAll()
      await new Promise<void>((done) => server.close(() => done()))
    },
  }
}

function hush([near, far]: readonly [Socket, Socket]): void {
  for (const socket of [near, far]) {
    socket.unpipe()
    socket.pause()
  }
}
