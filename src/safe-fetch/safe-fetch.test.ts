// Tests safe fetch with real servers on this machine: what it fetches, and everything it refuses.

import { afterEach, describe, expect, test } from 'bun:test'
import { pace } from '../../test/support/clients.ts'
import { createDialer } from '../upstream/dial.ts'
import {
  createSafeFetch,
  fetchTo,
  postBytes,
  postTo,
  type SafeFetch,
  type SafeFetchOptions,
} from './safe-fetch.ts'

const servers: Bun.Server<undefined>[] = []
const dialers: ReturnType<typeof createDialer>[] = []
afterEach(async () => {
  for (const dialer of dialers.splice(0)) dialer.close()
  for (const server of servers.splice(0)) await server.stop(true)
})

function serve(respond: (request: Request) => Response | Promise<Response>): number {
  const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: respond })
  servers.push(server)
  return server.port ?? 0
}

/** On this machine, with 127.0.0.1 as the public internet and 127.0.0.2 as a private network. */
function open(options: Partial<SafeFetchOptions> = {}): SafeFetch {
  const dialer = createDialer()
  dialers.push(dialer)
  return createSafeFetch({
    dialer,
    maxBytes: 1_000,
    timeoutMs: 2_000,
    resolve: async (host) => (host === 'inside.test' ? ['127.0.0.1', '127.0.0.2'] : ['127.0.0.1']),
    allows: (address) => address === '127.0.0.1',
    ...options,
  })
}

describe('what is there', () => {
  test('comes with its type, asked for under its own name', async () => {
    let seen: Record<string, string> = {}
    const port = serve((request) => {
      seen = { method: request.method, ...Object.fromEntries(request.headers) }
      return new Response('picture', { headers: { 'content-type': 'Image/PNG; q=1' } })
    })
    const { bytes, mediaType } = await open().fetch(`http://pictures.test:${port}/a.png?b=c`)
    expect([new TextDecoder().decode(bytes), mediaType]).toEqual(['picture', 'image/png'])
    expect(seen).toMatchObject({ method: 'GET', host: `pictures.test:${port}` })
    for (const name of ['authorization', 'cookie', 'referer']) expect(seen).not.toHaveProperty(name)
  })

  test('is followed through three redirects, and no further', async () => {
    const port = serve((request) => {
      const left = Number(new URL(request.url).pathname.slice(1))
      if (left === 0) return new Response('there')
      return new Response('not there', { status: 302, headers: { location: `/${left - 1}` } })
    })
    const { bytes } = await open().fetch(`http://a.test:${port}/3`)
    expect(new TextDecoder().decode(bytes)).toBe('there')
    await expect(open().fetch(`http://a.test:${port}/4`)).rejects.toThrow('redirects too often')
  })
})

describe('what is posted', () => {
  const options = () => {
    const dialer = createDialer()
    dialers.push(dialer)
    const allows = (address: string) => address === '127.0.0.1'
    const resolve = async (host: string) => (host === 'inside.test' ? ['10.0.0.1'] : ['127.0.0.1'])
    return { dialer, maxBytes: 1_000, timeoutMs: 2_000, resolve, allows }
  }

  test('is refused with what its server says, cut to what is wanted, also before it has all', async () => {
    const port = serve(() => new Response(`no\n\tspace ${'x'.repeat(99)}`, { status: 507 }))
    const post = { body: new Uint8Array(4_000_000), fields: {}, reasonBytes: 9 }
    const refused = postBytes(options(), `http://hooks.test:${port}/`, post)
    await expect(refused).rejects.toMatchObject({
      message: 'its server answered 507: no space',
      status: 507,
    })
    const short = serve(() => new Response('no', { status: 400 }))
    const said = postBytes(options(), `http://hooks.test:${short}/`, post)
    await expect(said).rejects.toThrow('its server answered 400: no')
  })

  test('arrives whole with its fields, and any 2xx is well', async () => {
    let seen = {}
    const port = serve(async (request) => {
      const { method, headers } = request
      seen = { method, field: headers.get('x-field'), body: await request.text() }
      return new Response(null, { status: 204 })
    })
    await postTo(options(), `http://hooks.test:${port}/a`, '{"é":1}', { 'x-field': 'v' })
    expect(seen).toEqual({ method: 'POST', field: 'v', body: '{"é":1}' })
  })

  test('is taken once its server says so, however long its reply', async () => {
    const port = serve(() => new Response('x'.repeat(100_000), { status: 202 }))
    expect(await postTo(options(), `http://hooks.test:${port}/`, 'x', {})).toBeUndefined()
    const failing = serve(() => new Response('no', { status: 500 }))
    const refused = postTo(options(), `http://hooks.test:${failing}/`, 'x', {})
    await expect(refused).rejects.toThrow('answered 500')
  })

  test('goes nowhere else, and to nothing inside', async () => {
    let asked = 0
    const port = serve((request) => {
      asked += 1
      const location = `http://hooks.test:${new URL(request.url).port}/b`
      return new Response('', { status: 307, headers: { location } })
    })
    const post = (host: string) => postTo(options(), `http://${host}:${port}/a`, 'x', {})
    await expect(post('hooks.test')).rejects.toThrow('answered 307')
    await expect(post('inside.test')).rejects.toThrow('not on the public internet')
    expect(asked).toBe(1)
  })
})

describe('a reply that may be long', () => {
  function taking(options: Partial<SafeFetchOptions>) {
    const dialer = createDialer()
    dialers.push(dialer)
    const allows = (address: string) => address === '127.0.0.1'
    const taken = { type: '', text: '' }
    const receiver = {
      begin: (type: string) => {
        taken.type = type
      },
      push: (chunk: Uint8Array) => {
        taken.text += new TextDecoder().decode(chunk)
      },
    }
    const all = { dialer, maxBytes: 1_000, timeoutMs: 2_000, resolve: anywhere, allows, ...options }
    return { taken, receiver, options: all }
  }
  const anywhere = async () => ['127.0.0.1']

  test('may take longer than each wait between two of its pieces', async () => {
    const pieces = async function* () {
      for (let piece = 0; piece < 10; piece++) {
        await pace(100)
        yield new TextEncoder().encode('piece ')
      }
    }
    const port = serve(() => new Response(pieces() as unknown as BodyInit))
    const { taken, receiver, options } = taking({ timeoutMs: 900, untilQuiet: true })
    await fetchTo(options, `http://a.test:${port}/`, receiver)
    expect(taken.text).toBe('piece '.repeat(10))
    await expect(
      fetchTo({ ...options, untilQuiet: false }, `http://a.test:${port}/`, receiver),
    ).rejects.toThrow('took too long')
  })

  test('ends when the request for it was aborted, and so does its connection', async () => {
    const gone = Promise.withResolvers<void>()
    const port = serve((request) => {
      request.signal.addEventListener('abort', () => gone.resolve())
      leaving.abort()
      return new Promise<Response>(() => undefined)
    })
    const leaving = new AbortController()
    const { receiver, options } = taking({})
    const fetched = fetchTo(options, `http://a.test:${port}/`, receiver, leaving.signal)
    await expect(fetched).rejects.toThrow('was aborted')
    await gone.promise
    const again = fetchTo(options, `http://a.test:${port}/`, receiver, leaving.signal)
    await expect(again).rejects.toThrow('was aborted')
  })

  test('ends with what its receiver throws', async () => {
    const port = serve(() => new Response('picture', { headers: { 'content-type': 'a/b' } }))
    const { taken, receiver, options } = taking({})
    const push = () => {
      throw new Error('no room')
    }
    const fetched = fetchTo(options, `http://a.test:${port}/`, { ...receiver, push })
    await expect(fetched).rejects.toThrow('no room')
    expect(taken).toEqual({ type: 'a/b', text: '' })
  })
})

describe('kept out', () => {
  /** Built as for a server, without this test's substitutes. */
  function openReal(): SafeFetch {
    const dialer = createDialer()
    dialers.push(dialer)
    return createSafeFetch({ dialer, maxBytes: 1_000, timeoutMs: 2_000 })
  }

  test('this machine, by every name it has', async () => {
    const port = serve(() => new Response('secret'))
    const safeFetch = openReal()
    for (const host of ['127.0.0.1', 'localhost', '[::1]', '0', '[::ffff:127.0.0.1]'])
      await expect(safeFetch.fetch(`http://${host}:${port}/`)).rejects.toThrow('public internet')
  })

  test('a name of which one address is inside, whichever comes first', async () => {
    const port = serve(() => new Response('secret'))
    await expect(open().fetch(`http://inside.test:${port}/`)).rejects.toThrow('public internet')
  })

  test('a name that leads elsewhere at the second look: the judged address is connected to', async () => {
    const port = serve(() => new Response('judged'))
    let looks = 0
    const resolve = async () => [looks++ === 0 ? '127.0.0.1' : '127.0.0.2']
    const { bytes } = await open({ resolve }).fetch(`http://rebind.test:${port}/`)
    expect([new TextDecoder().decode(bytes), looks]).toEqual(['judged', 1])
  })

  test('a redirect inside', async () => {
    const port = serve((request) =>
      new URL(request.url).pathname === '/'
        ? Response.redirect('http://inside.test/metadata', 302)
        : new Response('secret'),
    )
    await expect(open().fetch(`http://a.test:${port}/`)).rejects.toThrow('public internet')
  })

  test('other ports than those of the web', async () => {
    await expect(openReal().fetch('http://1.1.1.1:8080/')).rejects.toThrow('public internet')
  })

  test.each([
    ['ftp://a.test/x', 'only http and https'],
    ['file:///etc/passwd', 'only http and https'],
    ['http://user:pass@a.test/', 'with credentials'],
    ['not an address', 'not an address'],
  ])('%s', async (address, why) => {
    await expect(open().fetch(address)).rejects.toThrow(why)
  })

  test('what is too large, whether it says so or not', async () => {
    const said = serve(() => new Response('x'.repeat(1_001)))
    await expect(open().fetch(`http://a.test:${said}/`)).rejects.toThrow('larger than 1000 bytes')
    const unsized = serve(() => {
      const pieces = async function* () {
        for (let sent = 0; sent < 100; sent++) yield new TextEncoder().encode('x'.repeat(100))
      }
      return new Response(pieces() as unknown as BodyInit)
    })
    await expect(open().fetch(`http://a.test:${unsized}/`)).rejects.toThrow(
      'larger than 1000 bytes',
    )
  })

  test('what takes too long', async () => {
    const port = serve(() => new Promise<Response>(() => undefined))
    const safeFetch = open({ timeoutMs: 60 })
    await expect(safeFetch.fetch(`http://a.test:${port}/`)).rejects.toThrow('took too long')
  })

  test('what is not there', async () => {
    const port = serve(() => new Response('no', { status: 404 }))
    await expect(open().fetch(`http://a.test:${port}/`)).rejects.toThrow('answered 404')
    const nowhere = open({ resolve: async () => [] })
    await expect(nowhere.fetch('http://nowhere.test/')).rejects.toThrow('cannot be resolved')
  })
})
