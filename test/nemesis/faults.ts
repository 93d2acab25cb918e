// The faults that are applied to the nodes and ended again: each lasts until others have served.

import { RedisClient } from 'bun'
import { ready } from '../crash/gateway-load.ts'
import type { Slowness } from '../support/proxy.ts'
import { clockCases } from '../support/server-clock.ts'
import type { Node, Stage } from './stage.ts'
import { broken, killed } from './vendor.ts'

/** `served` resolves when some more requests have been answered whole, and some of the vendor's ended. */
export type Fault = (stage: Stage, node: Node, served: () => Promise<void>) => Promise<void>

/** A slow long-distance link that divides messages at any place. */
const slow: Slowness = {
  latencyMs: 60,
  jitterMs: 120,
  pieceBytes: 700,
  bytesPerSecond: 100_000,
}

const processes: Readonly<Record<string, Fault>> = {
  async [killed](stage, node, served) {
    node.isListed = false
    await node.server.kill()
    await served()
    node.server = await stage.begin(node)
    node.clients.restore(node.server.url)
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
}

const database: Readonly<Record<string, Fault>> = {
  async 'a node is cut off from the database'(_, node, served) {
    node.database.cut()
    await served()
    node.database.restore()
    await ready(node.server)
  },
  async 'a node hears nothing of the database'(_, node, served) {
    node.database.stall()
    await served()
    node.database.restore()
    await ready(node.server)
  },
  async 'a node has a slow way to the database'(_, node, served) {
    node.database.slow(slow)
    await served()
    node.database.restore()
  },
  async 'connections to the database break'({ nodes }, _, served) {
    for (const { database } of nodes) database.breakAll()
    await served()
  },
  async 'the database is away from all'({ nodes }, _, served) {
    for (const { database } of nodes) database.cut()
    // From what is leased to them.
    await served()
    for (const { database } of nodes) database.restore()
    for (const { server } of nodes) await ready(server)
  },
}

const others: Readonly<Record<string, Fault>> = {
  async 'the way to the vendor is slow'({ vendorWay }, _, served) {
    vendorWay.slow(slow)
    await served()
    vendorWay.restore()
  },
  async 'the vendor is cut off'({ vendorWay }, _, served) {
    vendorWay.cut()
    await served()
    vendorWay.restore()
  },
  async 'clients of a node read slowly'(_, node, served) {
    node.clients.slow(slow)
    await served()
    node.clients.restore()
  },
  async 'clients of a node break off'(_, node, served) {
    node.clients.breakAll()
    await served()
  },
  async 'Valkey forgets all it knows'({ valkey }, _, served) {
    const client = new RedisClient(valkey.way.through(valkey.url))
    await client.send('FLUSHALL', [])
    client.close()
    await served()
  },
  async 'Valkey is started anew'({ valkey }, _, served) {
    await valkey.restart()
    await served()
  },
}

/** Each way in which a vendor breaks its format. */
const vendors: Readonly<Record<string, Fault>> = Object.fromEntries(
  broken.map((behaviour) => [
    `the vendor answers ${behaviour}`,
    async ({ vendor }, _, served) => {
      vendor.behaviour = behaviour
      await served()
      vendor.behaviour = 'well'
    },
  ]),
)

/** Ten minutes, a day, and a second: behind and ahead. */
const offsets = [-86_400, -600, -1, 1, 600, 86_400]

const clocks: Readonly<Record<string, Fault>> = {
  async "a node's clock is wrong"(stage, node, served) {
    node.clock.set(stage.one(offsets))
    await served()
    node.clock.set(0)
    await served()
  },
}

export const kinds: Readonly<Record<string, Fault>> = {
  ...processes,
  ...database,
  ...others,
  ...vendors,
  ...(clockCases.length === 0 ? {} : clocks),
}
