// Three nodes under load while one thing after another is taken from them: what was answered is charged once, and others serve.

import { describe, expect, test } from 'bun:test'
import { expectCharged, ready, type Seen, startLoad } from '../crash/gateway-load.ts'
import { eventually } from '../support/clients.ts'
import {
  type Deployment,
  deploy,
  expectBalances,
  expectCleanAudit,
  postgresCases,
} from '../support/deployment.ts'
import { repetitions } from '../support/long.ts'
import { type Proxy, startProxy } from '../support/proxy.ts'
import { seeded } from '../support/seeded.ts'
import type { ServerProcess } from '../support/server-process.ts'

/** Printed with the test: `NEMESIS_SEED` asks for the same faults of the same nodes again, at other moments of the load. */
const seed = Number(Bun.env['NEMESIS_SEED'] ?? Date.now() % 0x7fff_ffff)
const faults = repetitions(6, 40)
const clients = 18
/** What the others answer before a fault is over. */
const meanwhile = 60
/** The last is asked for more than it has, so that its money goes round between the nodes. */
const credits = { acme: '100000', bell: '100000', dent: '0.5' }
const creditsNano = {
  acme: 100_000_000_000_000n,
  bell: 100_000_000_000_000n,
  dent: 500_000_000n,
}

/** A node with its own way to the database. */
interface Node {
  readonly proxy: Proxy
  readonly number: number
  server: ServerProcess
  /** Clients are sent to it. */
  isListed: boolean
}

class Stage {
  readonly deployment: Deployment
  readonly nodes: Node[] = []
  readonly #next: () => number

  constructor(deployment: Deployment, next: () => number) {
    this.deployment = deployment
    this.#next = next
  }

  async begin(number: number, proxy: Proxy): Promise<ServerProcess> {
    const { databaseUrl } = this.deployment
    const env = { DATABASE_URL: proxy.through(databaseUrl ?? '') }
    const server = await this.deployment.start({ node: number, env })
    await ready(server)
    return server
  }

  one<Item>(items: readonly Item[]): Item {
    return items[Math.floor(this.#next() * items.length)] as Item
  }

  /** Not of the seed: how many requests there are depends on the machine. */
  readonly url = (): string => {
    const listed = this.nodes.filter(({ isListed }) => isListed)
    return listed[Math.floor(Math.random() * listed.length)]?.server.url ?? ''
  }
}

type Fault = (stage: Stage, node: Node, served: () => Promise<void>) => Promise<void>

const kinds: Readonly<Record<string, Fault>> = {
  async 'a process is killed'(stage, node, served) {
    node.isListed = false
    await node.server.kill()
    await served()
    node.server = await stage.begin(node.number, node.proxy)
    node.isListed = true
  },
  async 'a process stands still'(_, node, served) {
    node.isListed = false
    node.server.signal('SIGSTOP')
    await served()
    node.server.signal('SIGCONT')
    await ready(node.server)
    node.isListed = true
  },
  async 'a node is cut off from the database'(_, node, served) {
    node.proxy.cut()
    await served()
    node.proxy.restore()
    await ready(node.server)
  },
  async 'a node hears nothing of the database'(_, node, served) {
    node.proxy.stall()
    await served()
    node.proxy.restore()
    await ready(node.server)
  },
  async 'connections to the database break'({ nodes }, _, served) {
    for (const { proxy } of nodes) proxy.breakAll()
    await served()
  },
  async 'the database is away from all'({ nodes }, _, served) {
    for (const { proxy } of nodes) proxy.cut()
    // From what is leased to them.
    await served()
    for (const { proxy } of nodes) proxy.restore()
    for (const { server } of nodes) await ready(server)
  },
}

describe.each(postgresCases)('three nodes on $engine', ({ databaseUrl }) => {
  test(`${faults} faults, seed ${seed}: nothing is lost, doubled or overdrawn, and others serve`, async () => {
    const deployment = await deploy({ databaseUrl, credits })
    const stage = new Stage(deployment, seeded(seed))
    try {
      for (const number of [0, 1, 2]) {
        const proxy = await startProxy(deployment.databaseUrl ?? '')
        const server = await stage.begin(number, proxy)
        stage.nodes.push({ proxy, number, server, isListed: true })
      }
      const load = startLoad(stage.url, Object.keys(credits), clients, { goesOn: true })
      const answered = () => load.seen.filter(({ status, whole }) => status === 200 && whole).length
      const served = async () => {
        const until = answered() + meanwhile
        await eventually(() => (answered() >= until ? true : undefined), 30_000)
      }
      await served()
      const names = Object.keys(kinds)
      const tallies = new Map<string, Map<string, number>>()
      for (let at = 0; at < faults; at++) {
        // Each once, then by chance.
        const name = names[at] ?? stage.one(names)
        const before = load.seen.length
        await kinds[name]?.(stage, stage.one(stage.nodes), served)
        count(tallies, name, load.seen.slice(before))
      }
      await load.stop()
      await expectSettled(deployment, load.seen)
      const rows = await expectBalances(deployment, creditsNano)
      const charged = expectCharged(load.seen, rows)
      // Only the account that runs out may have been given anything.
      const given = rows.filter(
        ({ account, writeoffNano }) => account !== 'dent' && writeoffNano > 0n,
      )
      expect(given).toEqual([])
      for (const { server } of stage.nodes) {
        server.signal('SIGTERM')
        expect(await server.exited).toBe(0)
      }
      for (const account of Object.keys(credits))
        expect(await deployment.store.journal.wallet(account)).toMatchObject({
          leasedNano: 0n,
          heldNano: 0n,
        })
      await expectCleanAudit(deployment)
      console.log(`${load.seen.length} requests, ${charged} answered whole`)
      for (const [name, tally] of tallies) console.log(name, Object.fromEntries(tally))
    } finally {
      await deployment.remove()
      for (const { proxy } of stage.nodes) await proxy.close()
    }
  }, 280_000)
})

/** What clients saw while it lasted; those of the account that runs out aside. */
function count(
  tallies: Map<string, Map<string, number>>,
  name: string,
  seen: readonly Pick<Seen, 'account' | 'status' | 'whole' | 'dueNano'>[],
): void {
  const tally = tallies.get(name) ?? new Map<string, number>()
  tallies.set(name, tally)
  for (const { account, status, whole, dueNano } of seen) {
    if (account === 'dent' || dueNano === null) continue
    const what = status === 0 ? 'no reply' : status === 200 && !whole ? 'cut' : String(status)
    tally.set(what, (tally.get(what) ?? 0) + 1)
  }
}

/** Until every reply that ended has its row. */
async function expectSettled(
  { store }: Deployment,
  seen: readonly { readonly status: number; readonly whole: boolean; readonly requestId: string }[],
): Promise<void> {
  await eventually(async () => {
    const rows = await store.usage.list({ limit: 1_000_000 })
    const known = new Set(rows.map(({ requestId }) => requestId))
    return seen.every((each) => each.status !== 200 || !each.whole || known.has(each.requestId))
      ? true
      : undefined
  }, 30_000)
}
