// Tests requests that no SDK would send: smuggled, wrongly framed, oddly addressed, endless or idle.

import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { authorized, eventually, steady } from '../support/clients.ts'
import {
  type Gateway,
  openSockets,
  residentBytes,
  startGateway,
  testKey,
} from '../support/gateway.ts'
import { isLong } from '../support/long.ts'
import { parseReply, portOf, post, RawClient, statusesIn } from '../support/socket.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'

let upstream: Upstream
let gateway: Gateway
let port: number
const chat = '/v1/chat/completions'
const hello = JSON.stringify({ model: 'fine', messages: [{ role: 'user', content: 'Hello' }] })

beforeAll(async () => {
  upstream = await startUpstream()
  gateway = await startGateway({
    config: {
      server: { bodyTimeoutMs: 1_000, maxBodyBytes: 1_000_000 },
      channels: [
        { id: 'main', vendor: 'openai', baseUrl: upstream.url, key: 'sk-up', models: ['fine'] },
      ],
    },
  })
  port = portOf(gateway.url)
})
afterAll(async () => {
  await gateway.stop()
  await upstream.close()
})
afterEach(async () => {
  expect((await gateway.post(chat, hello)).status).toBe(200)
})

/** Sends bytes and returns what came until the connection ended or went quiet. */
async function exchange(bytes: string, quietMs = 80): Promise<string> {
  const client = await RawClient.open(port)
  client.send(bytes)
  await eventually(() => client.bytes > 0 || client.closedMs !== null || undefined)
  if (client.closedMs === null) await steady(() => client.bytes, quietMs)
  client.destroy()
  return client.received
}

const auth = `authorization: Bearer ${testKey}\r\n`

describe('two readings of one request', () => {
  const smuggled = `POST ${chat} HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: ${hello.length}\r\n\r\n${hello}`
  const shapes: readonly (readonly [string, string])[] = [
    [
      'content-length and chunked',
      `content-length: 4\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`,
    ],
    [
      'chunked and content-length',
      `transfer-encoding: chunked\r\ncontent-length: ${smuggled.length}\r\n\r\n0\r\n\r\n`,
    ],
    ['two lengths that differ', `content-length: 0\r\ncontent-length: ${smuggled.length}\r\n\r\n`],
    ['a list of lengths', `content-length: 0, ${smuggled.length}\r\n\r\n`],
    ['a negative length', 'content-length: -1\r\n\r\n'],
    ['a signed length', 'content-length: +0\r\n\r\n'],
    ['a hexadecimal length', 'content-length: 0x0\r\n\r\n'],
    ['an overflowing length', 'content-length: 18446744073709551616\r\n\r\n'],
    ['a spaced coding', 'transfer-encoding : chunked\r\n\r\n0\r\n\r\n'],
    ['another coding', 'transfer-encoding: gzip, chunked\r\n\r\n0\r\n\r\n'],
    ['a coding that hides', 'transfer-encoding: xchunked\r\n\r\n0\r\n\r\n'],
    ['a folded header', 'x-a: b\r\n content-length: 5\r\n\r\n'],
    [
      'a chunk size that lies',
      'transfer-encoding: chunked\r\n\r\nfffffffffffffffff\r\na\r\n0\r\n\r\n',
    ],
    ['a chunk with a bare line feed', 'transfer-encoding: chunked\r\n\r\n1\na\n0\n\n'],
    ['a bare carriage return', 'x-a: b\rcontent-length: 5\r\n\r\n'],
    ['a NUL in a header', 'x-a: b\u0000c\r\ncontent-length: 0\r\n\r\n'],
  ]
  // The first request has a key and the second has none: a reply to the second with the first one's key would be a
  // mistake.
  test.each(shapes)('%s: nothing without a key is served', async (_name, tail) => {
    const before = upstream.requests.length
    const received = await exchange(
      `POST ${chat} HTTP/1.1\r\nhost: a\r\n${auth}content-type: application/json\r\n${tail}${smuggled}`,
    )
    expect(upstream.requests).toHaveLength(before)
    expect(statusesIn(received)).not.toContain(200)
  })

  // The runtime closes a connection on which a request follows another that is still running.
  test('requests in one go are served by their own keys or not at all', async () => {
    const good = post(chat, authorized(), hello)
    const bad = post(chat, authorized('sk-wrong-0123456789abcdef'), hello)
    const list = 'GET /v1/models HTTP/1.1\r\nhost: a\r\n\r\n'
    for (const [bytes, allowed] of [
      [good + list, [200, 401]],
      [bad + good, [401, 200]],
      [list + good, [401, 200]],
      [good + bad + good, [200, 401, 200]],
    ] as const) {
      const statuses = statusesIn(await exchange(bytes))
      expect(statuses).toEqual(allowed.slice(0, statuses.length))
    }
  })

  test('a body that ends early waits for its rest and then is refused', async () => {
    const client = await RawClient.open(port)
    const request = post(
      chat,
      { ...authorized(), 'content-length': String(hello.length + 10) },
      hello,
    )
    client.send(request)
    const reply = parseReply(await client.until((text) => text.includes('\r\n\r\n{')))
    expect(reply.status).toBe(408)
    client.destroy()
  })

  test('a body longer than it said is cut there, and the rest is no request', async () => {
    const received = await exchange(
      post(chat, authorized(), `${hello}GARBAGE GARBAGE\r\n\r\n`).replace(
        /content-length: \d+/,
        `content-length: ${hello.length}`,
      ),
    )
    const [first, ...rest] = statusesIn(received)
    expect([200, 400, undefined]).toContain(first)
    for (const status of rest) expect(status).toBeGreaterThanOrEqual(400)
  })
})

describe('what is no HTTP', () => {
  const line = `POST ${chat} HTTP/1.1\r\n`
  const rest = `host: a\r\n${auth}content-type: application/json\r\n`
  test.each([
    ['a request line of one word', 'FOO\r\n\r\n', 400],
    ['another version', `GET /v1/models HTTP/3.0\r\nhost: a\r\n${auth}\r\n`, 400],
    ['no host', `${line}${auth}content-length: 0\r\n\r\n`, 400],
    ['a line without a colon', `${line}${rest}nocolon\r\ncontent-length: 0\r\n\r\n`, 400],
    ['a blank before the colon', `${line}${rest}x-a : b\r\ncontent-length: 0\r\n\r\n`, 400],
    ['two lengths', `${line}${rest}content-length: 1\r\ncontent-length: 2\r\n\r\n{}`, 400],
    [
      'a length and chunks',
      `${line}${rest}content-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`,
      400,
    ],
    ['no size of a chunk', `${line}${rest}transfer-encoding: chunked\r\n\r\nzz\r\n`, 400],
    ['a NUL', `${line}${rest}x-a: b\0c\r\ncontent-length: 0\r\n\r\n`, 400],
    ['400 KB of headers', `${line}${rest}x-a: ${'y'.repeat(400_000)}`, 431],
  ] as const)(
    '%s: refused as everything else is, and the connection closed',
    async (_name, bytes, status) => {
      const client = await RawClient.open(port)
      client.send(bytes)
      await eventually(() => client.closedMs ?? undefined)
      const reply = parseReply(client.received)
      expect(reply).toMatchObject({
        status,
        headers: { 'content-type': 'application/json', connection: 'close' },
      })
      expect(reply.headers['x-request-id']).toMatch(/^req_/)
      const code = status === 431 ? 'request_headers_too_large' : 'invalid_request_error'
      expect(JSON.parse(reply.body)).toMatchObject({
        error: { type: 'invalid_request_error', param: null, code },
      })
    },
  )
})

describe('odd addresses', () => {
  const targets = [
    `http://127.0.0.1${chat}`,
    `http://evil.example${chat}`,
    `/${chat}`,
    `//evil.example${chat}`,
    '/v1//chat/completions',
    '/v1/chat%2fcompletions',
    '/v1%2fchat/completions',
    '/v1/./chat/completions',
    '/v1/x/../chat/completions',
    '/v1/%2e%2e/v1/chat/completions',
    '/healthz/../v1/chat/completions',
    '/v1/chat/completions;a=b',
    '/v1/chat/completions?a=b',
    '/v1/chat/completions#a',
    '/v1/chat/completions%00',
    '/V1/CHAT/COMPLETIONS',
    '/v1/chat\\completions',
    '*',
    'chat',
  ]
  test.each(targets)('%s serves nobody without a key', async (target) => {
    const before = upstream.requests.length
    const without = await exchange(
      `POST ${target} HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: ${hello.length}\r\n\r\n${hello}`,
    )
    expect(upstream.requests).toHaveLength(before)
    for (const status of statusesIn(without)) expect([400, 401, 404, 405]).toContain(status)
    expect(without).not.toContain('<html')
    // With a key it is either the same endpoint or none, never another one.
    const withKey = await exchange(
      `POST ${target} HTTP/1.1\r\nhost: a\r\n${auth}content-type: application/json\r\ncontent-length: ${hello.length}\r\n\r\n${hello}`,
    )
    for (const status of statusesIn(withKey)) expect([200, 400, 404, 405]).toContain(status)
    for (const { target: sent } of upstream.requests.slice(before)) expect(sent).toBe(chat)
  })

  test.each([
    'host: a\r\nhost: b',
    'host: a\r\nx-between: 1\r\nHost: a',
    'Host: a\r\nhost: b\r\nhost: c',
  ])('more than one host is refused: %j', async (hosts) => {
    const before = upstream.requests.length
    for (const target of [chat, '/v1/models', '/v1beta/nothing', '/v1/nothing', '/']) {
      const method = target === chat ? 'POST' : 'GET'
      const reply = await exchange(
        `${method} ${target} HTTP/1.1\r\n${hosts}\r\n${auth}content-type: application/json\r\ncontent-length: ${target === chat ? hello.length : 0}\r\n\r\n${target === chat ? hello : ''}`,
      )
      expect([target, ...statusesIn(reply)]).toEqual([target, 400])
      expect(reply).toContain('more than one Host')
    }
    expect(upstream.requests).toHaveLength(before)
  })

  test.each(['', 'a/b', 'a b', '127.0.0.1:99999', '[::1', 'x'.repeat(300)])(
    'host: %p',
    async (host) => {
      const received = await exchange(`GET /v1/models HTTP/1.1\r\nhost: ${host}\r\n\r\n`)
      for (const status of statusesIn(received)) expect([400, 401, 404]).toContain(status)
      const keyed = await exchange(`GET /v1/models HTTP/1.1\r\nhost: ${host}\r\n${auth}\r\n`)
      for (const status of statusesIn(keyed)) expect([200, 400, 404]).toContain(status)
      const metrics = await exchange(
        `GET /v1/models HTTP/1.1\r\nhost: ${host}/metrics?\r\n${auth}\r\n`,
      )
      expect(metrics).not.toContain('tollgate_http_requests_total')
    },
  )

  test('HTTP/1.0 without a host is served', async () => {
    const reply = await exchange(`GET /v1/models HTTP/1.0\r\n${auth}\r\n`)
    expect(statusesIn(reply)).toEqual([200])
  })

  test('a path of 250 KB with many versions is refused at once', async () => {
    const path = Array.from({ length: 40_000 }, (_, at) => `/v${at}`).join('')
    const reply = await exchange(`GET ${path} HTTP/1.1\r\nhost: a\r\n\r\n`)
    for (const status of statusesIn(reply)) expect([404, 414, 431]).toContain(status)
  }, 5_000)

  test('what is forwarded is not local: metrics stay shut', async () => {
    for (const name of ['x-forwarded-for', 'forwarded', 'x-real-ip', 'x-forwarded-proto', 'via']) {
      const reply = await fetch(`${gateway.url}/metrics`, { headers: { [name]: 'for=1.2.3.4' } })
      expect([name, reply.status]).toEqual([name, 401])
      expect(reply.headers.get('www-authenticate')).toBe('Bearer')
      expect(await reply.text()).toContain('server.metricsToken')
    }
  })
})

describe('other protocols', () => {
  test('Expect: 100-continue', async () => {
    const client = await RawClient.open(port)
    const request = post(chat, { ...authorized(), expect: '100-continue' }, hello)
    const split = request.indexOf('\r\n\r\n') + 4
    client.send(request.slice(0, split))
    await client.until((text) => text.includes('HTTP/1.1 100'))
    client.send(request.slice(split))
    await client.until((text) => text.includes('HTTP/1.1 200'))
    client.destroy()
  })

  test('Upgrade and HTTP/2 prefaces get no 101 and no hang', async () => {
    const upgrade = post(chat, { ...authorized(), connection: 'upgrade', upgrade: 'h2c' }, hello)
    expect(statusesIn(await exchange(upgrade))).not.toContain(101)
    const preface = await exchange('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')
    expect(statusesIn(preface)).not.toContain(200)
    const socket = `GET /v1/models HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n`
    expect(statusesIn(await exchange(socket))).toEqual([401])
  })

  test('TLS and noise on the plain port', async () => {
    for (const bytes of [
      '\u0016\u0003\u0001\u0002\u0000\u0001',
      'SSH-2.0-x\r\n',
      '\u0000\u0000\u0000',
    ]) {
      expect(statusesIn(await exchange(bytes))).not.toContain(200)
    }
  })
})

describe('a body in chunks with a trailer section', () => {
  const chunk = `${hello.length.toString(16)}\r\n${hello}\r\n0\r\n`
  const head = (more = '') =>
    `POST ${chat} HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n${auth}${more}transfer-encoding: chunked\r\n\r\n`

  test.each([
    ['in one piece', head() + chunk, 'x-sum: abc\r\n\r\n'],
    ['announced', head('trailer: x-sum\r\n') + chunk, 'x-sum: abc\r\n\r\n'],
  ])('%s: 400, and no vendor was asked', async (_name, bytes, trailer) => {
    const before = upstream.requests.length
    // The gateway's own refusal, the runtime's, or one after the other.
    expect(new Set(statusesIn(await exchange(bytes + trailer)))).toEqual(new Set([400]))
    expect(upstream.requests).toHaveLength(before)
    // The same request without it is answered, and the vendor gets it once.
    expect(statusesIn(await exchange(`${head()}${chunk}\r\n`))).toEqual([200])
    expect(upstream.requests).toHaveLength(before + 1)
  })

  test('announced, and on its way later: refused by name before the body is read', async () => {
    const before = upstream.requests.length
    const client = await RawClient.open(port)
    client.send(head('trailer: x-sum\r\n'))
    const reply = parseReply(await client.until((text) => text.includes('trailer')))
    expect(reply.status).toBe(400)
    client.destroy()
    expect(upstream.requests).toHaveLength(before)
  })
})

describe('bodies without end', () => {
  test('1 GB announced: refused before it comes', async () => {
    const rss = residentBytes(gateway.pid)
    const client = await RawClient.open(port)
    client.send(post(chat, { ...authorized(), 'content-length': '1073741824' }, '{'))
    const reply = parseReply(await client.until((text) => text.includes('request_too_large')))
    expect(reply.status).toBe(413)
    client.destroy()
    if (isLong) expect(residentBytes(gateway.pid) - rss).toBeLessThan(50_000_000)
  })

  test('chunked for ever: 413 once past the bound, and no more is read', async () => {
    const client = await RawClient.open(port)
    const head = post(chat, { ...authorized(), 'transfer-encoding': 'chunked' }, '').replace(
      /content-length: 0\r\n/,
      '',
    )
    client.send(head)
    const piece = `10000\r\n${' '.repeat(0x10000)}\r\n`
    for (let at = 0; at < 64; at++) client.send(piece)
    const reply = parseReply(await client.until((text) => text.includes('request_too_large')))
    expect(reply.status).toBe(413)
    client.destroy()
  })

  test('a chunk at a time, slowly: 408', async () => {
    const client = await RawClient.open(port)
    client.send(
      post(chat, { ...authorized(), 'transfer-encoding': 'chunked' }, '').replace(
        /content-length: 0\r\n/,
        '',
      ),
    )
    const timer = setInterval(() => client.send('1\r\n \r\n'), 100)
    try {
      const startedMs = performance.now()
      const reply = parseReply(await client.until((text) => text.includes('request_timeout')))
      expect(reply.status).toBe(408)
      const waitedMs = performance.now() - startedMs
      expect(waitedMs).toBeGreaterThan(800)
      if (isLong) expect(waitedMs).toBeLessThan(2_000)
    } finally {
      clearInterval(timer)
      client.destroy()
    }
  })
})

describe('many', () => {
  test('2,000 idle connections: the API answers as before', async () => {
    const measure = async () => {
      const times: number[] = []
      for (let at = 0; at < 50; at++) {
        const startedMs = performance.now()
        await (await gateway.post(chat, hello)).text()
        times.push(performance.now() - startedMs)
      }
      return times.sort((a, b) => a - b)[45] ?? Number.NaN
    }
    await measure()
    const alone = await measure()
    const rss = residentBytes(gateway.pid)
    const clients: RawClient[] = []
    for (let at = 0; at < 2_000; at++) {
      const client = await RawClient.open(port)
      clients.push(client)
      // A quarter send nothing, the others send the beginning of a request.
      if (at % 4 !== 0) client.send(`POST ${chat} HTTP/1.1\r\nhost: a\r\n`)
    }
    const crowded = await measure()
    console.log(
      `2,000 idle connections: p90 ${alone.toFixed(2)} ms alone, ${crowded.toFixed(2)} ms among them; ${((residentBytes(gateway.pid) - rss) / 1_048_576).toFixed(1)} MB more`,
    )
    for (const client of clients) client.destroy()
    expect(crowded).toBeLessThan(Math.max(25, alone * 4))
    if (isLong) expect(residentBytes(gateway.pid) - rss).toBeLessThan(60_000_000)
    await eventually(() => (openSockets(gateway.pid) < 100 ? true : undefined))
  }, 30_000)

  test('2,000 headers or one of 200 KB: 431 or closed', async () => {
    const many = Array.from({ length: 2_000 }, (_, at) => `x-${at}: y\r\n`).join('')
    const large = `x-a: ${'y'.repeat(200_000)}\r\n`
    for (const extra of [many, large]) {
      const received = await exchange(`GET /v1/models HTTP/1.1\r\nhost: a\r\n${auth}${extra}\r\n`)
      expect(statusesIn(received)).toEqual([431])
    }
    const beyond = await exchange(
      `GET /v1/models HTTP/1.1\r\nhost: a\r\n${auth}x-a: ${'y'.repeat(2_000_000)}\r\n\r\n`,
    )
    expect(statusesIn(beyond)).not.toContain(200)
  })
})
