// Three nodes on one PostgreSQL and one Valkey, each with separate connections to its dependencies, so that these can
// be cut.

import { startValkey } from '../../scripts/services.mjs'
import { ready } from '../crash/gateway-load.ts'
import { type Deployment, deploy } from '../support/deployment.ts'
import { type Proxy, startProxy } from '../support/proxy.ts'
import { type ServerClock, serverClock } from '../support/server-clock.ts'
import type { ServerProcess } from '../support/server-process.ts'
import { model, startVendor, type Vendor } from './vendor.ts'

/** The last is asked for more than it has, so that its money moves between the nodes. */
export const credits = { acme: '100000', bell: '100000', dent: '0.5' }
export const creditsNano = {
  acme: 100_000_000_000_000n,
  bell: 100_000_000_000_000n,
  dent: 500_000_000n,
}

export interface Node {
  readonly number: number
  /** Its connection to the database, and its clients' connection to it. */
  readonly database: Proxy
  readonly clients: Proxy
  readonly clock: ServerClock
  server: ServerProcess
  /** Clients are sent to it. */
  isListed: boolean
}

export interface Valkey {
  readonly url: string
  readonly way: Proxy
  /** Another server without any data, in place of the previous one. */
  restart(): Promise<void>
  stop(): Promise<void>
}

export class Stage {
  readonly deployment: Deployment
  readonly vendor: Vendor
  readonly vendorWay: Proxy
  readonly valkey: Valkey
  readonly nodes: Node[] = []
  readonly #next: () => number

  constructor(
    parts: Pick<Stage, 'deployment' | 'vendor' | 'vendorWay' | 'valkey'>,
    next: () => number,
  ) {
    this.deployment = parts.deployment
    this.vendor = parts.vendor
    this.vendorWay = parts.vendorWay
    this.valkey = parts.valkey
    this.#next = next
  }

  /** Starts the process of a node, for the first time or again; resolves when it is ready. */
  async begin({
    number,
    database,
    clock,
  }: Pick<Node, 'number' | 'database' | 'clock'>): Promise<ServerProcess> {
    const { databaseUrl } = this.deployment
    const server = await this.deployment.start({
      node: number,
      env: {
        DATABASE_URL: database.through(databaseUrl ?? ''),
        VALKEY_URL: this.valkey.way.through(this.valkey.url),
        ...clock.env,
      },
    })
    await ready(server)
    return server
  }

  one<Item>(items: readonly Item[]): Item {
    return items[Math.floor(this.#next() * items.length)] as Item
  }

  /** Independent of the seed: the number of requests depends on the machine. */
  readonly url = (): string => {
    const listed = this.nodes.filter(({ isListed }) => isListed)
    const node = listed[Math.floor(Math.random() * listed.length)]
    return node === undefined ? '' : node.clients.through(node.server.url).slice(0, -1)
  }

  async close(): Promise<void> {
    await this.deployment.remove()
    for (const { database, clients } of this.nodes) {
      await database.close()
      await clients.close()
    }
    await this.vendorWay.close()
    await this.vendor.upstream.close()
    await this.valkey.stop()
  }
}

export async function openStage(databaseUrl: string | null, next: () => number): Promise<Stage> {
  const vendor = await startVendor()
  const vendorWay = await startProxy(vendor.upstream.url)
  const channel = {
    vendor: 'openai',
    baseUrl: vendorWay.through(vendor.upstream.url),
    key: 'sk-vendor-0123456789',
    models: [model],
    timeouts: { idleMs: 1_000, firstEventMs: 2_000, replyMs: 2_000 },
  }
  const deployment = await deploy({
    databaseUrl,
    credits,
    config: {
      channels: [
        { id: 'sandbox', vendor: 'sandbox', models: ['sandbox/*'] },
        { id: 'east', ...channel },
        { id: 'west', ...channel },
      ],
      groups: { default: { models: ['*'], limits: { requestsPerMinute: 1_000_000 } } },
    },
  })
  const stage = new Stage({ deployment, vendor, vendorWay, valkey: await openValkey() }, next)
  for (const number of [0, 1, 2]) {
    const database = await startProxy(deployment.databaseUrl ?? '')
    const clock = serverClock(`${deployment.configFile}.clock-${number}`)
    const server = await stage.begin({ number, database, clock })
    const clients = await startProxy(server.url)
    stage.nodes.push({ number, database, clients, clock, server, isListed: true })
  }
  return stage
}

async function openValkey(): Promise<Valkey> {
  let server = await startValkey()
  const { url } = server
  const way = await startProxy(url)
  return {
    url,
    way,
    async restart() {
      way.cut()
      await server.stop()
      server = await startValkey()
      way.restore(server.url)
    },
    async stop() {
      await way.close()
      await server.stop()
    },
  }
}
