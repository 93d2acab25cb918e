// Tests results that are fetched from a vendor's store over real connections, and everything that is not a result.

import { afterEach, describe, expect, test } from 'bun:test'
import { eventually } from '../../test/support/clients.ts'
import type { SafeFetchOptions } from '../safe-fetch/safe-fetch.ts'
import { createDialer } from '../upstream/dial.ts'
import { MediaFault, type Payload, type Spool } from '../vendors/media.ts'
import { createResults } from './results.ts'

const servers: Bun.Server<undefined>[] = []
const dialers: ReturnType<typeof createDialer>[] = []
afterEach(async () => {
  for (const dialer of dialers.splice(0)) dialer.close()
  for (const server of servers.splice(0)) await server.stop(true)
})

function serve(respond: (request: Request) => Response | Promise<Response>): string {
  const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: respond })
  servers.push(server)
  return `http://files.test:${server.port}/`
}

/** Treats 127.0.0.1 as the public internet. */
function open(more: Partial<SafeFetchOptions> = {}) {
  const dialer = createDialer()
  dialers.push(dialer)
  const unused = { host: () => Promise.reject(new Error('nothing is hosted here')) }
  return createResults(
    {
      dialer,
      maxBytes: 1_000_000,
      timeoutMs: 5_000,
      untilQuiet: true,
      resolve: async () => ['127.0.0.1'],
      allows: (address) => address === '127.0.0.1',
      ...more,
    },
    unused,
    { maxBytes: 400_000, maxTotalBytes: 700_000 },
  )
}

/** Keeps the bytes it is given, and notes how they were given. */
class TestSpool implements Spool {
  readonly pieces: number[] = []

  keeper(type: string) {
    const chunks: Uint8Array[] = []
    return {
      push: (chunk: Uint8Array) => {
        this.pieces.push(chunk.length)
        chunks.push(chunk)
      },
      end: () => this.inMemory(Buffer.concat(chunks), type),
    }
  }

  inMemory(bytes: Uint8Array, type: string): Payload {
    return { type, size: bytes.length, read: (start, end) => bytes.subarray(start, end) }
  }

  close(): void {
    this.pieces.length = 0
  }
}

const png = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.alloc(300_000, 'pixels')])

function reply(body: BodyInit, type: string): Response {
  return new Response(body, { headers: { 'content-type': type } })
}

function everything(payload: Payload): Buffer {
  return Buffer.from(payload.read(0, payload.size))
}

describe('a result', () => {
  test('comes to the spool piece by piece, as it is, without credentials', async () => {
    let asked: Headers | null = null
    const url = serve((request) => {
      asked = request.headers
      return reply(png, 'image/png')
    })
    const spool = new TestSpool()
    const payload = await open().fetchInto(url, spool)
    expect(payload.type).toBe('image/png')
    expect(everything(payload).equals(png)).toBe(true)
    expect(spool.pieces.length).toBeGreaterThan(1)
    for (const name of ['authorization', 'cookie', 'x-api-key'])
      expect((asked as Headers | null)?.has(name)).toBe(false)
  })

  test.each([
    ['89504e470d0a1a0a', 'image/png'],
    ['ffd8ffe000104a46', 'image/jpeg'],
    ['524946462400000057415645', 'audio/wav'],
    ['00000020667479706d703432', 'video/mp4'],
    ['1a45dfa3934282886d617472', 'video/webm'],
  ])('that begins %s is %s, whatever its server says', async (hex, type) => {
    const url = serve(() => reply(Buffer.from(hex, 'hex'), 'binary/octet-stream'))
    expect((await open().fetchInto(url, new TestSpool())).type).toBe(type)
  })

  test('that begins as nothing known is what its server says', async () => {
    const url = serve(() => reply('{"transcripts":[]}', 'application/json; charset=utf-8'))
    expect((await open().fetchInto(url, new TestSpool())).type).toBe('application/json')
  })
})

describe('no result', () => {
  test.each([
    ['by its type', '<svg/>', 'text/html; charset=utf-8'],
    ['by how it begins', ' <!DOCTYPE html><title>Sign in</title>', 'image/png'],
    ['by how it begins, after a mark of its encoding', '\ufeff<HTML lang=en>', 'image/png'],
  ])('a page, %s', async (_, body, type) => {
    const url = serve(() => reply(body, type))
    await expect(open().fetchInto(url, new TestSpool())).rejects.toThrow('it is a page')
  })

  test('nothing at all', async () => {
    const url = serve(() => reply('', 'image/png'))
    await expect(open().fetchInto(url, new TestSpool())).rejects.toThrow('it is empty')
  })

  test('what has expired', async () => {
    const url = serve(() => new Response('<Error>AccessDenied</Error>', { status: 403 }))
    await expect(open().fetchInto(url, new TestSpool())).rejects.toThrow('answered 403')
  })

  test('four gigabytes: refused when they are announced, and else while they come', async () => {
    let stopped = 0
    const forever = () =>
      new ReadableStream({
        pull: (controller) => controller.enqueue(Buffer.alloc(65_536)),
        cancel: () => {
          stopped++
        },
      })
    using listener = Bun.listen({
      hostname: '127.0.0.1',
      port: 0,
      socket: {
        data: (socket) =>
          void socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${4 * 1024 ** 3}\r\n\r\nbytes`),
      },
    })
    const said = `http://files.test:${listener.port}/`
    const unsized = serve(() => reply(forever(), 'video/mp4'))
    for (const url of [said, unsized]) {
      const spool = new TestSpool()
      await expect(open().fetchInto(url, spool)).rejects.toThrow('larger than 1000000 bytes')
      expect(spool.pieces.reduce((sum, bytes) => sum + bytes, 0)).toBeLessThan(1_100_000)
    }
    await eventually(() => stopped > 0 || undefined)
  })

  test('what a client named beyond the bounds of its uploads', async () => {
    const url = serve(() => reply(png, 'image/png'))
    const large = serve(() => reply(Buffer.alloc(400_001, 1), 'image/png'))
    const { signal } = new AbortController()
    const spool = new TestSpool()
    expect((await open().fetchInto(url, spool, { signal, namedBytes: 0 })).size).toBe(png.length)
    const tooLarge = open().fetchInto(large, spool, { signal, namedBytes: 0 })
    await expect(tooLarge).rejects.toThrow('larger than 400000 bytes')
    const tooMany = open().fetchInto(url, spool, { signal, namedBytes: 2 * png.length })
    await expect(tooMany).rejects.toThrow(`larger than ${700_000 - 2 * png.length} bytes`)
  })

  test('what leads inside, but for what lies beside the vendor itself', async () => {
    const secret = serve(() => reply('secret', 'text/plain'))
    const inside = open({ allows: () => false })
    const away = serve(() => Response.redirect(secret, 302))
    const from = { signal: new AbortController().signal, home: new URL(away).origin }
    await expect(inside.fetchInto(secret, new TestSpool(), from)).rejects.toThrow('public internet')
    await expect(inside.fetchInto(away, new TestSpool(), from)).rejects.toThrow('public internet')
    const home = { ...from, home: new URL(secret).origin }
    expect(everything(await inside.fetchInto(secret, new TestSpool(), home)).toString()).toBe(
      'secret',
    )
  })

  test('what the spool has no room for', async () => {
    const full = new MediaFault({ kind: 'no_room', message: 'full' })
    class FullSpool extends TestSpool {
      override keeper(type: string) {
        const push = () => {
          throw full
        }
        return { ...super.keeper(type), push }
      }
    }
    const url = serve(() => reply(png, 'image/png'))
    await expect(open().fetchInto(url, new FullSpool())).rejects.toBe(full)
  })
})
