// Tests the single program and the npm package, made as for a release: each is started in an empty folder, signed in
// to, called by the official SDK and killed. Takes minutes and needs the registry, so it runs only at length.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import OpenAI from 'openai'
import { repetitions } from '../support/long.ts'
import { startServer } from '../support/server-process.ts'

const root = join(import.meta.dir, '../..')
const made = mkdtempSync(join(tmpdir(), 'tollgate-made-'))
const program = join(made, 'tollgate')
const installed = join(made, 'installed')

function run(cwd: string, ...words: string[]): string {
  const { exitCode, stdout, stderr } = Bun.spawnSync(words, { cwd })
  if (exitCode !== 0) throw new Error(`${words.join(' ')}: ${stderr}`)
  return stdout.toString()
}

/** By the command that npm installed, without a script of any package. */
function installPackage(): string {
  run(root, 'node', 'scripts/package.mjs', 'npm', made)
  const archive = readdirSync(made).find((name) => name.endsWith('.tgz')) ?? ''
  mkdirSync(installed)
  writeFileSync(join(installed, 'package.json'), '{"private":true}')
  run(installed, 'npm', 'install', '--ignore-scripts', '--no-audit', join(made, archive))
  return join(installed, 'node_modules/.bin/tollgate')
}

/**
 * Starts it on an empty folder, does what a new user does, and kills it; after a second start everything is still
 * there.
 */
async function serves(command: string): Promise<void> {
  const env = { TOLLGATE_CONSOLE: 'on', XDG_CACHE_HOME: join(made, 'cache') }
  const server = await startServer(undefined, { command, env })
  try {
    const link = /http\S+\/api\/auth\/link\S+/.exec(server.stdout)?.[0] ?? ''
    const signedIn = await fetch(link, { redirect: 'manual' })
    expect(signedIn.status).toBe(303)
    const cookie = signedIn.headers.getSetCookie()[0]?.split(';', 1)[0] ?? ''
    const me = await fetch(`${server.url}/api/me`, { headers: { cookie } })
    expect(await me.json()).toMatchObject({ id: 'default', role: 'admin' })
    const page = await fetch(server.url, { headers: { accept: 'text/html' } })
    expect(await page.text()).toContain('<div id="root">')

    const apiKey = /sk-\S+/.exec(server.stdout)?.[0] ?? ''
    const client = new OpenAI({ apiKey, baseURL: `${server.url}/v1` })
    const messages = [{ role: 'user' as const, content: 'Hello' }]
    const reply = await client.chat.completions.create({ model: 'sandbox/chat', messages })
    expect(reply.usage?.total_tokens).toBeGreaterThan(0)
    await server.kill()

    // The next start settles the outbox of the killed process, and prints no second key.
    const again = await startServer(server.dataDir, { command, env })
    expect(again.stdout).not.toContain('shown this once')
    again.signal('SIGTERM')
    expect(await again.exited).toBe(0)
    const [row] = JSON.parse(
      run(server.dataDir, command, 'usage', '--data', server.dataDir, '--json'),
    )
    expect(row).toMatchObject({ model: 'sandbox/chat', status: 200 })
  } finally {
    server.remove()
  }
}

describe.if(repetitions(false, true))('packages', () => {
  beforeAll(() => run(root, 'node', 'scripts/package.mjs', 'binary', program))
  afterAll(() => rmSync(made, { recursive: true, force: true }))

  test('the single program serves from a folder without anything else', () => serves(program))

  test('the npm package serves where it was installed, and runs no script at that', async () => {
    const command = installPackage()
    const manifest = readFileSync(join(installed, 'node_modules/tollgate/package.json'), 'utf8')
    expect(JSON.parse(manifest)).not.toContainAnyKeys(['scripts', 'devDependencies', 'private'])
    const files = readdirSync(join(installed, 'node_modules/tollgate'), { recursive: true })
    expect(files.filter((name) => String(name).endsWith('.test.ts'))).toEqual([])
    await serves(command)
  })
})
