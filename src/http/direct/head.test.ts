// Tests that this reader and Node's parser read the same request alike: differences allow request smuggling.
import { afterAll, expect, test } from 'bun:test'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import fc from 'fast-check'
import { RequestHead, readHead } from './head.ts'

const usual = 'POST /v1/chat/completions HTTP/1.1\r\nHost: a.example:8787\r\nContent-Length: 2\r\n'
const read = (text: string) => readHead(Buffer.from(text, 'latin1'))

function whole(text: string): RequestHead {
  const head = read(text)
  if (!(head instanceof RequestHead)) throw new Error(`read as ${head}`)
  return head
}

test('the head that clients send', () => {
  const head = whole(`${usual}Authorization:  Bearer k \r\nX-A: 1\r\nx-a: 2\r\nX-Empty:\r\n\r\n{}`)
  const { method, target, host, bodyBytes, closes, headBytes } = head
  expect({ method, target, host, bodyBytes, closes }).toEqual({
    method: 'POST',
    target: '/v1/chat/completions',
    host: 'a.example:8787',
    bodyBytes: 2,
    closes: false,
  })
  expect(headBytes).toBe(
    usual.length + 'Authorization:  Bearer k \r\nX-A: 1\r\nx-a: 2\r\nX-Empty:\r\n\r\n'.length,
  )
  expect(head.get('authorization')).toBe('Bearer k')
  expect(head.get('x-a')).toBe('1, 2')
  expect(head.get('x-empty')).toBe('')
  expect([head.get('x-b'), head.has('x-b'), head.has('x-empty')]).toEqual([null, false, true])
  expect([...head]).toEqual([
    ['host', 'a.example:8787'],
    ['content-length', '2'],
    ['authorization', 'Bearer k'],
    ['x-a', '1'],
    ['x-a', '2'],
    ['x-empty', ''],
  ])
  expect([...head.values()]).toContain('Bearer k')
})

test('a form is told by its type', () => {
  const type = 'Content-Type: Multipart/Form-Data; boundary=x'
  expect(whole(`${usual}${type}\r\n\r\n{}`).isForm).toBe(true)
  expect(whole(`${usual}Content-Type: application/json\r\n\r\n{}`).isForm).toBe(false)
  expect(whole(`${usual}\r\n{}`).isForm).toBe(false)
})

test('one that has not all come is waited for, at any cut', () => {
  const text = `${usual}\r\n`
  for (let at = 0; at < text.length; at++) expect(read(text.slice(0, at))).toBe('more')
  expect(whole(text).bodyBytes).toBe(2)
})

for (const bytes of ['\x16\x03\x01', 'SSH-2.0-x\r\n', '\r\n', 'PO\0', 'GET  ', 'PUT /a'])
  test(`no request begins so: ${JSON.stringify(bytes)}`, () => {
    expect(read(bytes)).toBe('unusual')
  })

test('a request without a body has no length, or none', () => {
  const get = 'GET /v1/models?limit=1 HTTP/1.1\r\nhost: [::1]:80\r\n'
  expect(whole(`${get}\r\n`)).toMatchObject({ target: '/v1/models?limit=1', bodyBytes: 0 })
  expect(whole(`${get}content-length: 0\r\nConnection: Close\r\n\r\n`).closes).toBe(true)
  expect(read(`${get}content-length: 1\r\n\r\n`)).toBe('unusual')
})

const added = [
  'Transfer-Encoding: chunked',
  'transfer-encoding:',
  'Expect: 100-continue',
  'Upgrade: websocket',
  'Trailer: x',
  'Content-Length: 2',
  'Content-Length: 3',
  'Host: b.example',
  'Connection: upgrade',
  'Connection: keep-alive, x',
  ' folded: x',
  'name : x',
  'x-a: \x01',
  'x-a: \x7f',
  'x-a: caf\xe9',
  'x-a: a\nb: c',
  'x-a: a\rb: c',
  'no colon',
  ': no name',
]
for (const line of added)
  test(`left to the runtime's server: ${JSON.stringify(line)}`, () => {
    expect(read(`${usual}${line}\r\n\r\n{}`)).toBe('unusual')
  })

const lines = [
  'POST /v1/chat/completions HTTP/1.0',
  'POST http://a/v1/chat/completions HTTP/1.1',
  'POST  /v1/chat/completions HTTP/1.1',
  'POST /v1/chat/completions  HTTP/1.1',
  'POST /v1/chat/completions#x HTTP/1.1',
  'POST /v1/caf\xe9 HTTP/1.1',
  'PUT /v1/chat/completions HTTP/1.1',
  'post /v1/chat/completions HTTP/1.1',
  '',
]
for (const line of lines)
  test(`left to the runtime's server: ${JSON.stringify(line)} at its top`, () => {
    expect(read(usual.replace(/^.*\r\n/, `${line}\r\n`) + '\r\n')).toBe('unusual')
  })

for (const host of ['', 'a b', 'a,b', 'a/b', 'a@b', 'user:pw@a', 'a:b', '[::1', 'a:123456'])
  test(`left to the runtime's server: the host ${JSON.stringify(host)}`, () => {
    expect(read(usual.replace('a.example:8787', host) + '\r\n')).toBe('unusual')
  })

for (const length of ['', '-1', '+2', '2.0', '0x2', '2 2', '2,2', '1'.repeat(13)])
  test(`left to the runtime's server: the length ${JSON.stringify(length)}`, () => {
    expect(read(usual.replace('Content-Length: 2', `Content-Length: ${length}`) + '\r\n')).toBe(
      'unusual',
    )
  })

test('longer than a head may be here, whole or not', () => {
  const long = `${usual}x-a: ${'a'.repeat(20_000)}`
  expect([read(long), read(`${long}\r\n\r\n`)]).toEqual(['unusual', 'unusual'])
})

/** Node's parser, which differs from the runtime's; it reports how it read each request. */
const program = `
  const { createServer } = require('node:http')
  const lines = require('node:readline').createInterface({ input: process.stdin })
  const { Duplex } = require('node:stream')
  const server = createServer((request, reply) => {
    const { method, url, headers } = request
    let bytes = 0
    request.on('data', (chunk) => { bytes += chunk.length })
    request.on('end', () => say({ method, url, host: headers.host, length: headers['content-length'], bytes }))
  })
  let say
  lines.on('line', (line) => {
    const socket = new Duplex({ read() {}, write(chunk, encoding, done) { done() } })
    let said = false
    say = (what) => { if (!said) { said = true; console.log(JSON.stringify(what)) } }
    server.once('clientError', () => say({ refused: true }))
    socket.on('close', () => say({ refused: true }))
    server.emit('connection', socket)
    socket.push(Buffer.from(line, 'base64'))
    setImmediate(() => setImmediate(() => say({ refused: true })))
  })`
const node = spawn('node', ['-e', program], { stdio: ['pipe', 'pipe', 'inherit'] })
const said = createInterface({ input: node.stdout })
afterAll(() => node.kill())

async function byNode(text: string): Promise<Record<string, unknown>> {
  const line = once(said, 'line')
  node.stdin.write(`${Buffer.from(text, 'latin1').toString('base64')}\n`)
  return JSON.parse(String((await line)[0]))
}

test('what is taken, Node takes for the same request', async () => {
  const harmless = fc.constantFrom(
    'x-a: b\r\n',
    'X-B:\r\n',
    'connection: close\r\n',
    'x-c:\td \r\n',
  )
  const doubtful = fc.constantFrom(
    ...added.map((line) => `${line}\r\n`),
    ...['\r\n', '\n', '\r', ' ', '\t', '\0', ':', ','],
  )
  const piece = fc.oneof({ weight: 9, arbitrary: harmless }, { weight: 1, arbitrary: doubtful })
  const tops = ['POST /v1/chat/completions HTTP/1.1', 'POST /a?b=c&d HTTP/1.1', ...lines]
  const start = fc.constantFrom(...tops.map((line) => `${line}\r\n`))
  let taken = 0
  await fc.assert(
    fc.asyncProperty(start, fc.array(piece, { maxLength: 8 }), async (top, pieces) => {
      const text = `${top}Host: a\r\ncontent-length: 2\r\n${pieces.join('')}\r\n\r\n{}`
      const head = read(text)
      if (!(head instanceof RequestHead)) return
      taken++
      const { method, target, host, bodyBytes } = head
      const behind = text.slice(head.headBytes, head.headBytes + bodyBytes)
      expect(await byNode(text.slice(0, head.headBytes) + behind)).toEqual({
        method,
        url: target,
        host,
        length: String(bodyBytes),
        bytes: bodyBytes,
      })
    }),
    { numRuns: 2_000 },
  )
  expect(taken).toBeGreaterThan(100)
})
