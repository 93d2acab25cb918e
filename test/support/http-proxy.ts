// An HTTP proxy for tests: opens tunnels by CONNECT, forwards plain requests, and misbehaves when told to.

import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

type Manner = 'opens' | 'refuses' | 'hangs' | 'closes' | 'speaks'

export interface HttpProxy extends AsyncDisposable {
  readonly port: number
  /** Its requests: `CONNECT host:port`, `POST http://...`; with the user's credentials. */
  readonly asked: { readonly line: string; readonly user: string | null }[]
  /** Tunnels that are open at the moment. */
  readonly ways: number
  /** Bytes that passed through, in order. */
  seen(): string
  /** Breaks all tunnels. */
  cut(): void
}

/** `user`: `name:password` that it requires; null: none. */
export async function startHttpProxy(
  user: string | null = null,
  manner: Manner = 'opens',
): Promise<HttpProxy> {
  const asked: HttpProxy['asked'] = []
  const sockets = new Set<Socket>()
  const passed: Buffer[] = []
  let ways = 0
  const pass = (near: Socket, authority: string, first: Buffer | null) => {
    const far = join(near, authority, first, passed)
    sockets.add(far)
    ways++
    far.on('close', () => {
      ways--
      sockets.delete(far)
    })
  }
  const server = createServer((near) => {
    sockets.add(near)
    near.on('error', () => near.destroy())
    near.on('close', () => sockets.delete(near))
    let head = Buffer.alloc(0)
    const take = (chunk: Buffer) => {
      head = Buffer.concat([head, chunk])
      const end = head.indexOf('\r\n\r\n')
      if (end === -1) return
      near.off('data', take)
      answer(near, head.subarray(0, end).toString('latin1'), head)
    }
    near.on('data', take)
  })
  function answer(near: Socket, text: string, whole: Buffer): void {
    const [line = ''] = text.split('\r\n')
    const told = /^proxy-authorization: Basic (.+)$/im.exec(text)?.[1]
    const said = told === undefined ? null : Buffer.from(told, 'base64').toString('utf8')
    asked.push({ line: line.replace(/ HTTP\/1\.1$/, ''), user: said })
    if (manner === 'hangs') return
    if (manner === 'closes') near.end()
    else if (manner === 'speaks') near.end('HTTP/1.1 200 OK\r\n\r\nHTTP/1.1 200 OK\r\n\r\n')
    else if (said !== user) near.end('HTTP/1.1 407 Wanted\r\ncontent-length: 0\r\n\r\n')
    else if (manner === 'refuses') near.end('HTTP/1.1 403 No\r\ncontent-length: 0\r\n\r\n')
    else if (line.startsWith('CONNECT ')) pass(near, line.split(' ')[1] ?? '', null)
    else {
      const url = new URL(line.split(' ')[1] ?? '')
      const own = text.replace(url.origin, '').replace(/^proxy-authorization: .+\r\n/im, '')
      const rest = whole.subarray(Buffer.byteLength(text, 'latin1'))
      pass(near, url.host, Buffer.concat([Buffer.from(own, 'latin1'), rest]))
    }
  }
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  return {
    get port() {
      return (server.address() as AddressInfo).port
    },
    asked,
    get ways() {
      return ways
    },
    seen: () => Buffer.concat(passed).toString('latin1'),
    cut() {
      for (const socket of sockets) socket.destroy()
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      await new Promise((done) => server.close(done))
    },
  }
}

function targetOf(authority: string) {
  const at = authority.lastIndexOf(':')
  return {
    host: authority.slice(0, at).replace(/^\[|\]$/g, ''),
    port: Number(authority.slice(at + 1)),
  }
}

/** Connects and copies in both directions, and records the bytes. `first`: sent in place of an answer. */
function join(near: Socket, authority: string, first: Buffer | null, passed: Buffer[]): Socket {
  const far = connect({ ...targetOf(authority), noDelay: true })
  far.on('error', () => near.destroy())
  far.on('close', () => near.destroy())
  near.on('close', () => far.destroy())
  far.on('connect', () => {
    if (first === null) near.write('HTTP/1.1 200 Connection established\r\n\r\n')
    else far.write(first)
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const)
      from.on('data', (chunk: Buffer) => {
        passed.push(chunk)
        to.write(chunk)
      })
  })
  return far
}
