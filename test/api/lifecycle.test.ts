// Tests keys and configuration that change under a running server, two servers on one folder, and a start after a kill.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { authorized, eventually } from '../support/clients.ts'
import { type Gateway, startGateway, testKey } from '../support/gateway.ts'
import { isLong } from '../support/long.ts'
import { postJson } from '../support/requests.ts'
import { run, startServer } from '../support/server-process.ts'

/** How soon a change by a command takes effect in a running server. */
const withinMs = isLong ? 1_000 : 30_000
/** Lifetime of a key with an end: long enough to be seen working on a busy host. */
const lifeMs = isLong ? 1_500 : 5_000

const hello = { model: 'sandbox/chat', messages: [{ role: 'user', content: 'Hello' }] }

function status(url: string, key: string): Promise<number> {
  return postJson(`${url}/v1/chat/completions`, hello, authorized(key)).then(
    (reply) => reply.status,
  )
}

/** Milliseconds until the key answers with this status. */
async function becomes(url: string, key: string, wanted: number): Promise<number> {
  const startedMs = performance.now()
  await eventually(async () => ((await status(url, key)) === wanted ? true : undefined))
  return performance.now() - startedMs
}

describe('keys', () => {
  let gateway: Gateway
  beforeAll(async () => {
    gateway = await startGateway()
  })
  afterAll(() => gateway.stop())

  async function create(...more: string[]): Promise<{ id: string; secret: string }> {
    const words = ['key', 'create', '--account', 'default', '--group', 'default', '--name', 'made']
    return JSON.parse(await run(gateway.dataDir, ...words, ...more, '--json'))
  }

  test('made by the command line they work within a second, and stop within a second', async () => {
    const { id, secret } = await create()
    expect(secret).toMatch(/^sk-tg-[0-9A-Za-z]{38}$/)
    expect(await becomes(gateway.url, secret, 200)).toBeLessThan(withinMs)
    await run(gateway.dataDir, 'key', 'disable', id)
    expect(await becomes(gateway.url, secret, 401)).toBeLessThan(withinMs)
  })

  test('a stream of a key that is taken away may end; the next call is refused', async () => {
    const { id, secret } = await create()
    await becomes(gateway.url, secret, 200)
    const body = { ...hello, model: 'sandbox/chat+tokens=30+gap=50', stream: true }
    const stream = await postJson(`${gateway.url}/v1/chat/completions`, body, authorized(secret))
    const text = stream.text()
    await run(gateway.dataDir, 'key', 'disable', id)
    expect(await becomes(gateway.url, secret, 401)).toBeLessThan(withinMs)
    expect(await text).toEndWith('data: [DONE]\n\n')
  })

  test('with an end: refused from then on', async () => {
    const { secret } = await create('--expires', new Date(Date.now() + lifeMs).toISOString())
    await becomes(gateway.url, secret, 200)
    expect(await becomes(gateway.url, secret, 401)).toBeLessThan(lifeMs + withinMs)
  })

  test('for a group that the configuration does not have are refused', async () => {
    const words = ['key', 'create', '--account', 'default', '--name', 'made', '--group']
    await expect(run(gateway.dataDir, ...words, 'nogroup')).rejects.toThrow(
      'ended with 2: tollgate: --group nogroup: there is no such group; the configuration has default',
    )
  })

  test('with models and limits of their own', async () => {
    const { secret } = await create('--models', 'sandbox/embedding', '--rpm', '50')
    await becomes(gateway.url, secret, 404)
    const reply = await postJson(
      `${gateway.url}/v1/embeddings`,
      { model: 'sandbox/embedding', input: 'a' },
      authorized(secret),
    )
    expect(reply.status).toBe(200)
    expect(reply.headers.get('x-ratelimit-limit-requests')).toBe('50')
  })
})

describe('the configuration', () => {
  let gateway: Gateway
  const secondKey = 'sk-second-0123456789abcdef'
  const thirdKey = 'sk-third-0123456789abcdef'
  const config = (...secrets: string[]) => ({
    channels: [{ id: 'main', vendor: 'sandbox' }],
    keys: secrets.map((secret, at) => ({ name: `key-${at}`, secret })),
  })
  /** As editors save: written to another file and renamed. */
  const write = (text: string) => {
    const file = join(dirname(gateway.dataDir), 'tollgate.yaml')
    writeFileSync(`${file}.new`, text)
    renameSync(`${file}.new`, file)
  }
  beforeAll(async () => {
    gateway = await startGateway({ config: config(testKey) })
  })
  afterAll(() => gateway.stop())

  test('a change of the file is taken over, without a request lost', async () => {
    expect(await status(gateway.url, secondKey)).toBe(401)
    const failed: number[] = []
    let running = true
    const load = (async () => {
      while (running) {
        const got = await status(gateway.url, testKey)
        if (got !== 200) failed.push(got)
      }
    })()
    write(JSON.stringify(config(testKey, secondKey)))
    await becomes(gateway.url, secondKey, 200)
    running = false
    await load
    expect(failed).toEqual([])
  })

  test('an invalid file is refused and named; the old one stays', async () => {
    write(JSON.stringify({ ...config(testKey, thirdKey), chanels: [] }))
    await eventually(() => (gateway.stderr.includes('chanels') ? true : undefined))
    expect(await status(gateway.url, thirdKey)).toBe(401)
    expect(await status(gateway.url, secondKey)).toBe(200)
    write('channels: [')
    process.kill(gateway.pid, 'SIGHUP')
    expect(await status(gateway.url, testKey)).toBe(200)
  })

  test('SIGHUP reads it again', async () => {
    write(JSON.stringify(config(testKey, thirdKey)))
    process.kill(gateway.pid, 'SIGHUP')
    await becomes(gateway.url, thirdKey, 200)
    expect(await status(gateway.url, secondKey)).toBe(401)
  })
})

describe('a vendor key that was wrong', () => {
  test('is corrected in its file or variable without a restart, and its channel serves at once', async () => {
    const vendor = Bun.serve({
      port: 0,
      fetch: (request) =>
        request.headers.get('authorization') === 'Bearer right'
          ? Response.json({
              choices: [{ index: 0, message: { role: 'assistant', content: 'Yes' } }],
              usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
            })
          : Response.json({ error: { message: 'Incorrect API key' } }, { status: 401 }),
    })
    const folder = mkdtempSync(join(tmpdir(), 'tollgate-keys-'))
    const [keyFile, environmentFile] = [join(folder, 'vendor.key'), join(folder, 'vendor.env')]
    writeFileSync(keyFile, 'wrong')
    writeFileSync(environmentFile, 'VENDOR_KEY=wrong')
    const baseUrl = `http://127.0.0.1:${vendor.port}/v1`
    const gateway = await startGateway({
      config: {
        environmentFile,
        channels: [
          {
            id: 'file',
            vendor: 'openai-compatible',
            baseUrl,
            models: ['one'],
            key: { file: keyFile },
          },
          {
            id: 'variable',
            vendor: 'openai-compatible',
            baseUrl,
            models: ['two'],
            key: '${VENDOR_KEY}',
          },
        ],
      },
    })
    try {
      const ask = async (model: string) =>
        (await gateway.post('/v1/chat/completions', { ...hello, model })).status
      expect([await ask('one'), await ask('two')]).toEqual([503, 503])
      writeFileSync(keyFile, 'right\n')
      writeFileSync(environmentFile, 'VENDOR_KEY=right\n')
      for (const model of ['one', 'two']) {
        await eventually(async () => ((await ask(model)) === 200 ? true : undefined))
      }
    } finally {
      await gateway.stop()
      await vendor.stop(true)
      rmSync(folder, { recursive: true })
    }
  })
})

describe('one folder', () => {
  test('a second server on it exits and says why', async () => {
    const gateway = await startGateway()
    try {
      const second = await startServer(gateway.dataDir).catch((error: Error) => error)
      if (!(second instanceof Error)) throw new Error('it started')
      expect(second.message).toContain('ended with 1')
      expect(second.message).toContain(String(gateway.pid))
      expect(second.message).not.toContain('    at ')
      expect(await status(gateway.url, testKey)).toBe(200)
    } finally {
      await gateway.stop()
    }
  })

  test('the first start that serves prints the first key, also after one whose port was taken', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'tollgate-first-key-'))
    const other = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data: () => undefined } })
    try {
      const words = ['--port', String(other.port)]
      await expect(startServer(dataDir, { words })).rejects.toThrow('in use')
      const second = await startServer(dataDir)
      try {
        const secret = /sk-tg-[0-9A-Za-z]{38}/.exec(second.stdout)?.[0] ?? ''
        expect(await status(second.url, secret)).toBe(200)
      } finally {
        await second.kill()
      }
    } finally {
      other.stop(true)
      rmSync(dataDir, { recursive: true, force: true })
    }
  })

  test('after kill -9 the next server takes it over at once, with its key and its records', async () => {
    const first = await startServer()
    const secret = /sk-tg-[0-9A-Za-z]{38}/.exec(first.stdout)?.[0] ?? ''
    expect(await status(first.url, secret)).toBe(200)
    const before = await eventually(async () => {
      const rows = JSON.parse(await run(first.dataDir, 'usage', '--json')) as unknown[]
      return rows.length > 0 ? rows : undefined
    })
    await first.kill()
    const startedMs = performance.now()
    const second = await startServer(first.dataDir)
    const startMs = performance.now() - startedMs
    try {
      expect(await status(second.url, secret)).toBe(200)
      if (isLong) expect(startMs).toBeLessThan(1_500)
      expect(second.stdout).not.toContain(secret)
      const rows = JSON.parse(await run(first.dataDir, 'usage', '--json')) as unknown[]
      expect(rows).toEqual(expect.arrayContaining(before))
      console.log(`first 200 after a kill -9: ${Math.round(startMs)} ms from the start`)
    } finally {
      await second.kill()
      second.remove()
    }
  })
})
