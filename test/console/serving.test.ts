// Tests the console from the outside: a server of a clone without a built console, and what a browser gets from it.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { eventually } from '../support/clients.ts'
import type { ServerProcess } from '../support/server-process.ts'
import { type Clone, makeClone } from './clone.ts'

let clone: Clone
let server: ServerProcess

beforeAll(() => {
  clone = makeClone()
})
afterAll(() => clone.remove())

const titleOf = (html: string) => /<title>(.*)<\/title>/.exec(html)?.[1]

async function pageOf({ url }: ServerProcess, headers: Record<string, string> = {}, path = '/') {
  const reply = await fetch(url + path, { headers })
  const html = await reply.text()
  return { status: reply.status, headers: reply.headers, html, title: titleOf(html) }
}

const showing = (of: ServerProcess, title: string) =>
  eventually(async () => ((await pageOf(of)).title === title ? true : undefined))

const chat = ({ url, stdout }: ServerProcess) =>
  fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${/sk-tg-\w+/.exec(stdout)?.[0]}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify({ model: 'sandbox/chat', messages: [{ role: 'user', content: 'Hi' }] }),
  })

/** Sends the path as it stands: `fetch` would normalise it. */
function rawGet({ url }: ServerProcess, path: string): Promise<string> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve, reject) => {
    let said = ''
    const socket = connect(Number(port), hostname, () =>
      socket.write(`GET ${path} HTTP/1.1\r\nhost: ${hostname}\r\nconnection: close\r\n\r\n`),
    )
    socket.setEncoding('utf8').on('data', (text) => {
      said += text
    })
    socket.on('end', () => resolve(said)).on('error', reject)
  })
}

describe('a clone without a console', () => {
  test('serves the API while it installs and builds, and / says so until it is the console', async () => {
    const release = clone.hold()
    server = await clone.start()
    expect(server.stdout).toContain(`  Console  ${server.url}/  (being built`)
    await eventually(() => (clone.builds() === 1 ? true : undefined))
    expect((await chat(server)).status).toBe(200)
    const page = await pageOf(server)
    expect(page).toMatchObject({ status: 200, title: 'Tollgate: The console is being built' })
    expect(page.html).toContain('<meta http-equiv="refresh" content="2">')
    expect(page.html).toContain(`${server.url}/v1`)
    expect(page.headers.get('content-security-policy')).not.toContain('unsafe')
    expect(page.headers.get('cache-control')).toBe('no-store')
    const chinese = { 'accept-language': 'zh-CN,zh;q=0.9,en;q=0.8' }
    expect((await pageOf(server, chinese, '/console/keys')).title).toBe('Tollgate: 控制台正在构建')
    const style = await fetch(`${server.url}/console/start.css`)
    expect(style.headers.get('content-type')).toBe('text/css; charset=utf-8')
    expect((await fetch(server.url, { method: 'HEAD' })).status).toBe(200)
    expect((await fetch(`${server.url}/console/assets/main-abc.js`)).status).toBe(404)
    await release()
    await showing(server, 'The first console')
    await server.said('the console was built')
  })

  test('a second start builds nothing', async () => {
    const other = await clone.start()
    expect(other.stdout).toContain(`  Console  ${other.url}/\n`)
    expect((await pageOf(other)).title).toBe('The first console')
    const script = Bun.spawnSync([process.execPath, 'scripts/console.mjs'], { cwd: clone.folder })
    expect([script.exitCode, script.stderr.toString()]).toEqual([0, ''])
    expect(clone.builds()).toBe(1)
    await other.kill()
  })

  test('browsers that came by https are not to come by http again', async () => {
    const secure = await clone.start({ env: { PUBLIC_URL: 'https://gate.example' } })
    const fieldOf = async (of: ServerProcess) =>
      (await pageOf(of)).headers.get('strict-transport-security')
    expect(await fieldOf(secure)).toBe('max-age=31536000')
    expect(await fieldOf(server)).toBeNull()
    await secure.kill()
  })
})

describe('files', () => {
  const plainOf = async (path: string) =>
    new Uint8Array(
      await (
        await fetch(server.url + path, { headers: { 'accept-encoding': 'identity' } })
      ).arrayBuffer(),
    )

  test.each([
    ['/', 'text/html; charset=utf-8', 'no-cache'],
    ['/console', 'text/html; charset=utf-8', 'no-cache'],
    ['/console/keys/gpt-4.1', 'text/html; charset=utf-8', 'no-cache'],
    ['/console/icon.svg', 'image/svg+xml', 'no-cache'],
    [
      '/console/assets/main-abc.js',
      'text/javascript; charset=utf-8',
      'public, max-age=31536000, immutable',
    ],
    [
      '/console/assets/main-abc.css',
      'text/css; charset=utf-8',
      'public, max-age=31536000, immutable',
    ],
    ['/console/assets/letters-abc.woff2', 'font/woff2', 'public, max-age=31536000, immutable'],
  ])('%s: its type, how long it is kept, what it may do', async (path, type, kept) => {
    const reply = await fetch(server.url + path)
    expect(reply.status).toBe(200)
    const { headers } = reply
    expect(headers.get('content-type')).toBe(type)
    expect(headers.get('cache-control')).toBe(kept)
    const policy = headers.get('content-security-policy') ?? ''
    expect(policy).toStartWith("default-src 'none'; script-src 'self'; style-src 'self'; ")
    expect(policy).toContain("frame-ancestors 'none'")
    expect(policy).not.toMatch(/unsafe|\*|https?:/)
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('cross-origin-opener-policy')).toBe('same-origin')
    expect(headers.get('referrer-policy')).toBe('same-origin')
    const head = await fetch(server.url + path, { method: 'HEAD' })
    expect([head.status, head.headers.get('etag')]).toEqual([200, headers.get('etag')])
    const again = await fetch(server.url + path, {
      headers: { 'if-none-match': headers.get('etag') ?? '' },
    })
    expect([again.status, await again.text()]).toEqual([304, ''])
  })

  test.each(['/', '/console/assets/main-abc.js', '/console/assets/main-abc.css'])(
    '%s: the compressed forms are its bytes',
    async (path) => {
      const plain = await plainOf(path)
      for (const [accepted, encoding, open] of [
        ['gzip, deflate, br', 'br', brotliDecompressSync],
        ['br;q=0, gzip', 'gzip', gunzipSync],
      ] as const) {
        const headers = { 'accept-encoding': accepted }
        const reply = await fetch(server.url + path, { headers, decompress: false })
        expect(reply.headers.get('content-encoding')).toBe(encoding)
        expect(reply.headers.get('vary')).toBe('accept-encoding')
        const bytes = new Uint8Array(await reply.arrayBuffer())
        expect(bytes.length).toBeLessThan(plain.length)
        expect(new Uint8Array(open(bytes))).toEqual(plain)
      }
    },
  )

  test('are those of the build, to the byte', async () => {
    const digest = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')
    const built = readFileSync(join(clone.folder, 'console/dist/assets/letters-abc.woff2'))
    expect(digest(await plainOf('/console/assets/letters-abc.woff2'))).toBe(digest(built))
  })

  test.each([
    '/v1/unknown',
    '/v1beta/unknown',
    '/unknown',
    '/index.html',
    '/assets/none.js',
    '/assets/main-abc.js',
    '/console/assets/none.js',
    '/console/assets/',
    '/console/files.json',
    '/console/manifest.json',
    '/console/assets/main-abc.js.br',
    '/console/package.json',
    '/console/../src/main.ts',
    '/console/%2e%2e/src/main.ts',
    '/console/..%2fpackage.json',
    '/console/..%2f..%2f..%2fetc%2fpasswd',
    '/console/%2e%2e%5cpackage',
    '/console/%zz',
    '/console/assets/..%2f..%2fpackage.json',
    '/..%2f',
    '//console/',
  ])('%s is not found, as JSON', async (path) => {
    const said = await rawGet(server, path)
    expect(said).toStartWith('HTTP/1.1 404 ')
    expect(said).toContain('Content-Type: application/json')
    expect(said).toContain(`Unknown path: GET `)
    expect(said).not.toContain('<')
  })

  test('the API’s own paths stay the API’s, also for a browser', async () => {
    const headers = { accept: 'text/html', 'sec-fetch-dest': 'document' }
    const typeOf = async (path: string) =>
      (await fetch(server.url + path, { headers })).headers.get('content-type')
    expect(await typeOf('/models')).toBe('application/json')
    expect(await typeOf('/api/unknown')).toBe('application/problem+json')
    expect(await typeOf('/openapi.json')).toBe('application/json')
    const post = await fetch(`${server.url}/console/keys`, { method: 'POST' })
    expect([post.status, post.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS'])
  })
})

describe('a build', () => {
  test('that was killed with its server is done by the next one', async () => {
    clone.write('The second console')
    clone.hold()
    const before = clone.builds()
    const first = await clone.start()
    await eventually(() => (clone.builds() === before + 1 ? true : undefined))
    const pid = clone.lastBuild()
    expect((await pageOf(first)).title).toBe('The first console')
    await first.kill()
    await eventually(() => (existsSync(`/proc/${pid}`) ? undefined : true))
    rmSync(join(clone.folder, 'tmp/gate'))
    const next = await clone.start({ dataDir: first.dataDir })
    await showing(next, 'The second console')
    expect(clone.builds()).toBe(before + 2)
    // The server that has been running all the time serves it too.
    expect((await pageOf(server)).title).toBe('The second console')
    await next.kill()
  })

  test.each([
    ['by SIGTERM', 'SIGTERM', []],
    ['with its terminal', 'SIGINT', ['--workers', '2']],
  ] as const)('ends %s as its server does, and is no failure', async (_, signal, words) => {
    clone.write(`A console that was never finished, ${signal}`)
    clone.hold()
    const before = clone.builds()
    // In a separate process group, as a terminal starts it.
    const stopped = await clone.start({ words, under: ['setsid'] })
    await eventually(() => (clone.builds() === before + 1 ? true : undefined))
    const pid = clone.lastBuild()
    if (signal === 'SIGINT') process.kill(-stopped.pid, signal)
    else stopped.signal(signal)
    expect(await stopped.exited).toBe(0)
    await eventually(() => (existsSync(`/proc/${pid}`) ? undefined : true))
    expect(stopped.stderr).not.toContain('could not be built')
    rmSync(join(clone.folder, 'tmp/gate'))
  })

  test('is done once by two servers that start at once', async () => {
    clone.write('The third console')
    const before = clone.builds()
    const both = await Promise.all([clone.start(), clone.start()])
    for (const each of both) await showing(each, 'The third console')
    // The slower one also ends once its script does, with nothing left to do.
    expect(
      Bun.spawnSync([process.execPath, 'scripts/console.mjs'], { cwd: clone.folder }).exitCode,
    ).toBe(0)
    expect(clone.builds()).toBe(before + 1)
    for (const each of both) await each.kill()
  })

  test('that fails leaves the last one in place; without one / says why, and the API serves', async () => {
    clone.write('broken at the start')
    const kept = await clone.start()
    await kept.said('the console could not be built')
    expect((await pageOf(kept)).title).toBe('The third console')
    await kept.kill()

    rmSync(join(clone.folder, 'console/dist'), { recursive: true })
    const failed = await clone.start({ words: ['--workers', '2'] })
    await failed.said('the console could not be built')
    expect((await chat(failed)).status).toBe(200)
    const pages = await Promise.all(Array.from({ length: 8 }, () => pageOf(failed)))
    for (const page of pages) {
      expect(page).toMatchObject({ status: 200, title: 'Tollgate: The console could not be built' })
      expect(page.html).toContain('no console of &lt;b&gt;broken at the start&lt;/b&gt;')
      expect(page.html).toContain(`curl ${failed.url}/v1/`)
    }
    const proxied = await pageOf(failed, { 'x-forwarded-for': '203.0.113.7' })
    expect(proxied.html).not.toContain('broken')
    expect(proxied.html).toContain('log of the server')

    // Repaired while it serves, by the command that the page names.
    clone.write('The fourth console')
    expect(
      Bun.spawnSync([process.execPath, 'scripts/console.mjs'], { cwd: clone.folder }).exitCode,
    ).toBe(0)
    const mended = await Promise.all(Array.from({ length: 8 }, () => pageOf(failed)))
    expect(new Set(mended.map(({ title }) => title))).toEqual(new Set(['The fourth console']))
    await failed.kill()
  })
})

test.each([
  ['--no-console', { words: ['--no-console'] }],
  ['TOLLGATE_CONSOLE=off', { env: { TOLLGATE_CONSOLE: 'off' } }],
])('with %s nothing is built or served but the plain page', async (_, options) => {
  clone.write('A console nobody wants')
  const before = clone.builds()
  const plain = await clone.start(options)
  expect(plain.stdout).not.toContain('Console')
  expect(await pageOf(plain)).toMatchObject({ status: 200, title: 'Tollgate' })
  expect((await pageOf(plain, {}, '/console')).status).toBe(404)
  plain.signal('SIGTERM')
  expect(await plain.exited).toBe(0)
  expect(clone.builds()).toBe(before)
})
