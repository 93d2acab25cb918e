// Tests the steps of docs/production.md, command by command: two nodes on one PostgreSQL and one Valkey behind HAProxy
// with TLS; and that stopping a node under load fails no request.

import { describe, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { makeSchema, testDatabaseUrl } from '../contract/databases.ts'
import { makeCertificates, type Pair } from '../support/certificates.ts'
import { eventually } from '../support/clients.ts'
import { type ServerProcess, startServer } from '../support/server-process.ts'

const root = join(import.meta.dir, '../..')
const valkeyUrl = Bun.env['TEST_VALKEY_URL'] ?? null
const haproxy = Bun.which('haproxy')
const missing = [
  ...(haproxy === null ? ['haproxy'] : []),
  ...(testDatabaseUrl === null ? ['PostgreSQL'] : []),
  ...(valkeyUrl === null ? ['Valkey'] : []),
]
if (missing.length > 0) console.log(`left out: the walk of docs/production.md, without ${missing}`)

const page = readFileSync(join(root, 'docs/production.md'), 'utf8')
const blocks = [...page.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map((found) => found[1] ?? '')
const model = 'sandbox/chat'

function freePort(): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>()
  const server = createServer().listen(0, '127.0.0.1', () => {
    const address = server.address()
    server.close(() => resolve(typeof address === 'object' ? (address?.port ?? 0) : 0))
  })
  return promise
}

type Machine = ReturnType<typeof machine>

/** The environment of one machine in the steps: its folder, and `tollgate` on the path. */
function machine(env: Record<string, string>) {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-walk-'))
  mkdirSync(join(folder, 'bin'))
  symlinkSync(join(root, 'bin/tollgate'), join(folder, 'bin/tollgate'))
  symlinkSync(join(root, 'deploy'), join(folder, 'deploy'))
  const path = `${join(folder, 'bin')}:/usr/sbin:${process.env['PATH']}`
  return {
    folder,
    file: (name: string) => join(folder, name),
    async run(script: string): Promise<string> {
      const child = Bun.spawn(['bash', '-euo', 'pipefail', '-c', script], {
        cwd: folder,
        env: { PATH: path, HOME: folder, ...env },
        stdout: 'pipe',
        stderr: 'pipe',
      })
      const [out, err] = await Promise.all([
        new Response(child.stdout).text(),
        new Response(child.stderr).text(),
      ])
      if ((await child.exited) !== 0) throw new Error(`${script}\nfailed: ${err}${out}`)
      return out + err
    },
  }
}

/** Replaces each text that is present by its counterpart. */
function replaced(text: string, changes: Readonly<Record<string, string>>): string {
  return Object.entries(changes).reduce((changed, [from, to]) => {
    expect(changed).toContain(from)
    return changed.replace(from, to)
  }, text)
}

test('the page has a block for each step', () => {
  expect(blocks.map((block) => block.split('\n')[0])).toEqual([
    'umask 077',
    'set -a; . ./environment; set +a',
    'cp deploy/haproxy/node.yaml tollgate.yaml',
    'haproxy -c -f haproxy.cfg',
    'tollgate account credit acme 25 --create --reason "first top-up" --reference first',
    'curl --fail --silent --show-error "$PUBLIC_URL/readyz"',
  ])
})

const [environment, migration, configuration, check, account, look] = blocks as [
  string,
  ...string[],
]
const variables = 'set -a; . ./environment; set +a\n'

describe.skipIf(missing.length > 0)('the walk', () => {
  test('serves by TLS on two nodes, and stops one under load without a failed request', async () => {
    await using stack = new AsyncDisposableStack()
    const schema = await makeSchema(testDatabaseUrl ?? '')
    stack.defer(() => schema.drop())
    const certificates = makeCertificates()
    stack.defer(() => certificates.remove())
    const port = await freePort()
    const publicUrl = `https://localhost:${port}`
    const authority = certificates.authorityFile
    const at = machine({ PUBLIC_URL: publicUrl, MODEL: model, CURL_CA_BUNDLE: authority })
    stack.defer(() => rmSync(at.folder, { recursive: true, force: true }))

    await prepare(at, schema.url, publicUrl)
    const nodes = [await startNode(at, schema.url, stack), await startNode(at, schema.url, stack)]
    await startProxy(at, { port, nodes, pem: certificates.valid }, stack)
    await at.run(variables + account)
    const tls = { ca: readFileSync(authority, 'utf8') }
    await answers(() => fetch(`${publicUrl}/readyz`, { tls }))
    const seen = await at.run(variables + look)
    expect(seen).toContain('chat.completion')
    expect(seen).toContain('no difference')

    const { secret } = JSON.parse(readFileSync(at.file('key.json'), 'utf8'))
    const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' }
    for (const { url } of nodes) await answers(() => fetch(`${url}/v1/models`, { headers }))
    await stopUnderLoad(nodes[0], `${publicUrl}/v1/chat/completions`, { tls, headers })
    expect(await at.run(`${variables}tollgate audit`)).toContain('no difference')
  })
})

/** Database and configuration, as the page has them, with the addresses of this machine. */
async function prepare(at: Machine, databaseUrl: string, publicUrl: string): Promise<void> {
  await at.run(
    replaced(environment, {
      'postgres://tollgate:PASSWORD@db.example.com:5432/tollgate?sslmode=verify-full': `'${databaseUrl}'`,
      'rediss://valkey.example.com:6379': valkeyUrl ?? '',
    }),
  )
  // As the page says: such an address refuses a server without TLS.
  const secure = `DATABASE_URL='${databaseUrl}&sslmode=verify-full' tollgate migrate --plan`
  await expect(at.run(secure)).rejects.toThrow('SSL')
  expect(await at.run(migration ?? '')).toMatch(/to apply: 0001-[^]*applied: 0001-/)
  await at.run(variables + configuration)
  const file = at.file('tollgate.yaml')
  const own = replaced(readFileSync(file, 'utf8'), {
    'https://llm.example.com': publicUrl,
    '10.0.0.10': '127.0.0.1',
    'id: openai\n    vendor: openai\n    key: ${OPENAI_API_KEY}':
      'id: sandbox\n    vendor: sandbox',
  })
  writeFileSync(file, own)
}

async function startNode(at: Machine, databaseUrl: string, stack: AsyncDisposableStack) {
  const pairs = readFileSync(at.file('environment'), 'utf8').trim().split('\n')
  const env = Object.fromEntries(
    pairs.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
  )
  const words = ['--config', at.file('tollgate.yaml'), '--host', '127.0.0.1']
  const node = await startServer(undefined, { words, env: { ...env, DATABASE_URL: databaseUrl } })
  stack.defer(async () => {
    await node.kill()
    node.remove()
  })
  return node
}

interface Front {
  readonly port: number
  readonly nodes: readonly ServerProcess[]
  readonly pem: Pair
}

async function startProxy(at: Machine, { port, nodes, pem }: Front, stack: AsyncDisposableStack) {
  const [a = '', b = ''] = nodes.map(({ url }) => new URL(url).host)
  writeFileSync(at.file('tollgate.pem'), pem.cert + pem.key)
  writeFileSync(
    at.file('haproxy.cfg'),
    replaced(readFileSync(join(root, 'deploy/haproxy/haproxy.cfg'), 'utf8'), {
      'bind :443': `bind 127.0.0.1:${port}`,
      '/etc/haproxy/tollgate.pem': at.file('tollgate.pem'),
      '10.0.0.11:8787': a,
      '10.0.0.12:8787': b,
    }),
  )
  await at.run(check ?? '')
  const words = [haproxy ?? '', '-db', '-f', at.file('haproxy.cfg')]
  const proxy = Bun.spawn(words, { stdout: 'ignore', stderr: 'ignore' })
  stack.defer(async () => {
    proxy.kill()
    await proxy.exited
  })
}

/** Resolves once it answers 200. */
async function answers(ask: () => Promise<Response>): Promise<void> {
  await eventually(async () => {
    const reply = await ask().catch(() => null)
    return reply?.status === 200 ? true : undefined
  }, 20_000)
}

async function stopUnderLoad(
  leaving: ServerProcess | undefined,
  url: string,
  options: RequestInit & { readonly tls: object },
): Promise<void> {
  const body = JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello' }] })
  const statuses: number[] = []
  let isOver = false
  const client = async () => {
    while (!isOver) {
      const reply = await fetch(url, { method: 'POST', body, ...options })
      await reply.text()
      statuses.push(reply.status)
    }
  }
  const clients = Promise.all([client(), client(), client(), client()])
  await eventually(() => statuses.length > 50 || undefined, 20_000)
  leaving?.signal('SIGTERM')
  expect(await leaving?.exited).toBe(0)
  const before = statuses.length
  await eventually(() => statuses.length > before + 50 || undefined, 20_000)
  isOver = true
  await clients
  expect(statuses.filter((status) => status !== 200)).toEqual([])
}
