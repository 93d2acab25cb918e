// Tests upgrading two nodes one after the other under load, as docs/upgrading.md says: no request fails.

import { afterAll, describe, expect, test } from 'bun:test'
import { cpSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { expectCharged, startLoad } from '../crash/gateway-load.ts'
import { eventually } from '../support/clients.ts'
import { deploy, expectBalances, expectCleanAudit, postgresCases } from '../support/deployment.ts'
import type { ServerProcess } from '../support/server-process.ts'

const root = join(import.meta.dir, '..', '..')
const folders: string[] = []
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

/** This version with one more migration; returns its start script. */
function nextVersion(): string {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-next-'))
  folders.push(folder)
  for (const name of ['bin', 'src', 'package.json'])
    cpSync(join(root, name), join(folder, name), { recursive: true })
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  const migrations = join(folder, 'src/store/migrations')
  const numbers = readdirSync(migrations, { recursive: true }).flatMap(
    (name) => /(\d{4})-[^/]*\.sql$/.exec(String(name))?.[1] ?? [],
  )
  const next = String(Math.max(...numbers.map(Number)) + 1).padStart(4, '0')
  writeFileSync(
    join(migrations, `${next}-of-the-next-version.sql`),
    'ALTER TABLE usage_kept ADD COLUMN next_version BIGINT NOT NULL DEFAULT 7;\n',
  )
  return join(folder, 'bin/tollgate')
}

/**
 * Sends requests in turn to the nodes whose readiness answered last, as a load balancer does, and never resends one.
 */
class Balancer {
  readonly #ready = new Map<ServerProcess, boolean>()
  readonly #looking: ReturnType<typeof setInterval>
  #turn = 0

  constructor() {
    this.#looking = setInterval(() => void this.look(), 100)
  }

  async look(): Promise<void> {
    const nodes = [...this.#ready.keys()]
    await Promise.all(
      nodes.map(async (node) => {
        const isReady = await fetch(`${node.url}/readyz`).then(
          ({ ok }) => ok,
          () => false,
        )
        if (this.#ready.has(node)) this.#ready.set(node, isReady)
      }),
    )
  }

  async add(node: ServerProcess): Promise<void> {
    this.#ready.set(node, false)
    await eventually(async () => {
      await this.look()
      return this.#ready.get(node) === true ? true : undefined
    })
  }

  remove(node: ServerProcess): void {
    this.#ready.delete(node)
  }

  readonly pick = (): string => {
    const ready = [...this.#ready].filter(([, isReady]) => isReady)
    const [node] = ready[this.#turn++ % Math.max(1, ready.length)] ?? []
    if (node === undefined) throw new Error('No node is ready.')
    return node.url
  }

  close(): void {
    clearInterval(this.#looking)
  }
}

const credits = { acme: '100000', bell: '100000' }
/** With fewer cores, as many clients would take the CPU that a node needs to start and the ledger to answer. */
const clients = Math.min(12, 3 * availableParallelism())
const creditsNano = { acme: 100_000_000_000_000n, bell: 100_000_000_000_000n }

describe.each(postgresCases)('two nodes on $engine', ({ databaseUrl }) => {
  test('are upgraded one after the other without a failed request, and the books agree', async () => {
    // Longer than a load balancer takes to notice.
    const deployment = await deploy({
      databaseUrl,
      credits,
      config: { server: { drainDelayMs: 1_500 } },
    })
    const balancer = new Balancer()
    const command = nextVersion()
    try {
      const old = [await deployment.start({ node: 0 }), await deployment.start({ node: 1 })]
      for (const node of old) await balancer.add(node)
      const load = startLoad(balancer.pick, Object.keys(credits), clients)
      const requestsMore = async (count: number) => {
        const until = load.seen.length + count
        await eventually(() => (load.seen.length >= until ? true : undefined), 60_000)
      }
      await requestsMore(100)
      await migrated(command, deployment.databaseUrl ?? '', deployment.configFile)
      // Nodes of the previous version continue on the new schema.
      await requestsMore(100)
      for (const [node, server] of old.entries()) {
        server.signal('SIGTERM')
        expect(await server.exited).toBe(0)
        balancer.remove(server)
        await balancer.add(await deployment.start({ node, command }))
        await requestsMore(100)
      }
      await load.stop()
      // A client that left by itself has not failed.
      const failed = load.seen.filter(
        ({ status, whole, dueNano }) => dueNano !== null && (status !== 200 || !whole),
      )
      expect(failed).toEqual([])
      await eventually(async () => {
        const rows = await deployment.store.usage.list({ limit: 1_000_000 })
        const known = new Set(rows.map(({ requestId }) => requestId))
        return load.seen.every((each) => each.status !== 200 || known.has(each.requestId))
          ? true
          : undefined
      })
      expectCharged(load.seen, await expectBalances(deployment, creditsNano))
      await expectCleanAudit(deployment)
      await expect(deployment.start({ node: 2 })).rejects.toThrow('newer')
    } finally {
      balancer.close()
      await deployment.remove()
    }
  }, 180_000)
})

async function migrated(command: string, url: string, configFile: string): Promise<void> {
  const child = Bun.spawn([command, 'migrate', '--config', configFile, '--json'], {
    env: { PATH: Bun.env['PATH'] ?? '', HOME: Bun.env['HOME'] ?? '', DATABASE_URL: url },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const said = await new Response(child.stdout).text()
  expect([await child.exited, JSON.parse(said).migrations]).toEqual([
    0,
    [expect.stringContaining('of-the-next-version')],
  ])
}
