// Tests the program that `bin/tollgate serve` builds from the sources: when it is built, what it is used for, and what
// runs without it.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import {
  appendFileSync,
  cpSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { eventually } from '../support/clients.ts'
import { type ServerOptions, type ServerProcess, startServer } from '../support/server-process.ts'

const root = join(import.meta.dir, '../..')
const parts = ['bin', 'scripts', 'src', 'package.json', 'package-lock.json']
const making = 'tollgate: making the program'

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'tollgate-program-'))
  for (const part of parts) {
    // With the same file times as in the checkout, as an archive would extract them.
    cpSync(join(root, part), join(folder, part), { recursive: true, preserveTimestamps: true })
  }
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const program = () => join(folder, 'dist/tollgate')
const runs = (pid: number) => readlinkSync(`/proc/${pid}/exe`)
const childrenOf = (pid: number) =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number)

async function withServer(
  options: ServerOptions,
  work: (server: ServerProcess) => Promise<void> | void,
): Promise<void> {
  const server = await startServer(undefined, { ...options, command: join(folder, 'bin/tollgate') })
  try {
    await work(server)
  } finally {
    await server.kill()
    server.remove()
  }
}

async function answers({ url, stdout }: ServerProcess): Promise<void> {
  const key = /Key +(\S+)/.exec(stdout)?.[1] ?? ''
  const reply = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'sandbox/chat', messages: [{ role: 'user', content: 'Hello' }] }),
  })
  expect(reply.status).toBe(200)
  const { choices } = (await reply.json()) as { choices: unknown[] }
  expect(choices).toHaveLength(1)
}

function commandLine(...words: readonly string[]) {
  const run = Bun.spawnSync([join(folder, 'bin/tollgate'), ...words])
  return { code: run.exitCode, out: run.stdout.toString(), errors: run.stderr.toString() }
}

describe('the program', () => {
  test('has every module inside that is started by its address', async () => {
    const started: string[] = []
    for await (const path of new Bun.Glob('**/*.ts').scan(join(root, 'src'))) {
      const text = readFileSync(join(root, 'src', path), 'utf8')
      for (const [, file = ''] of text.matchAll(/moduleAt\(new URL\('([^']+)'/g))
        started.push(join(dirname(path), file))
    }
    expect(started).toContain('ledger/worker-main.ts')
    const making = readFileSync(join(root, 'scripts/program.mjs'), 'utf8')
    const naming = readFileSync(join(root, 'src/installation.ts'), 'utf8')
    for (const path of started) {
      expect(making).toContain(`'${path}'`)
      expect(naming).toContain(`'${basename(path)}': '${path.replace(/ts$/, 'js')}'`)
    }
  })

  test('is made by the first start, and run by it and the next', async () => {
    await withServer({}, async (server) => {
      expect(server.stderr).toContain(making)
      expect(runs(server.pid)).toBe(program())
      await answers(server)
      const balance = commandLine('balance', 'default', '--data', server.dataDir)
      expect([balance.code, balance.errors]).toEqual([0, ''])
      expect(balance.out).toContain('default')
      server.signal('SIGTERM')
      expect(await server.exited).toBe(0)
    })
    await withServer({}, (server) => {
      expect(server.stderr).not.toContain(making)
      expect(runs(server.pid)).toBe(program())
    })
  }, 60_000)

  test('runs the workers, and checks a configuration', async () => {
    const file = join(folder, 'tollgate.yaml')
    writeFileSync(file, 'models:\n  sandbox/chat: { bogus: 1 }\n')
    const wrong = commandLine('serve', '--config', file, '--data', join(folder, 'data'))
    expect([wrong.code, wrong.errors]).toEqual([1, expect.stringContaining('bogus: unknown key')])
    await withServer({ words: ['--workers', '2'] }, async (server) => {
      await answers(server)
      const workers = await eventually(() => {
        const children = childrenOf(server.pid)
        return children.length === 2 ? children : undefined
      })
      expect(workers.map(runs)).toEqual([program(), program()])
      server.signal('SIGTERM')
      expect(await server.exited).toBe(0)
    })
  }, 60_000)

  test('is made again where a source is newer, and never run instead of it', async () => {
    const said = 'said by the source that changed'
    appendFileSync(join(folder, 'src/cli/main.ts'), `\nprocess.stderr.write('${said}\\n')\n`)
    expect(commandLine('version').errors).toContain(said)
    await withServer({}, (server) => {
      expect(server.stderr).toContain(making)
      expect(runs(server.pid)).toBe(program())
    })
    expect(commandLine('version').errors).toContain(said)
  }, 60_000)

  test('is done without where it is not wanted, and where it cannot be made', async () => {
    await withServer({ env: { TOLLGATE_SOURCES: '1' } }, async (server) => {
      expect(runs(server.pid)).not.toBe(program())
      await answers(server)
    })
    rmSync(join(folder, 'dist'), { recursive: true })
    writeFileSync(join(folder, 'dist'), 'no folder')
    await withServer({}, async (server) => {
      expect(server.stderr).toContain('tollgate: the program could not be made')
      expect(runs(server.pid)).not.toBe(program())
      await answers(server)
    })
  }, 60_000)
})
