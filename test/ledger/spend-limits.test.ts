// Tests keys with a spend limit on real nodes and databases: spend that one node has settled limits the other.

import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import type { Hold, NoHold } from '../../src/ledger/ledger.ts'
import type { LedgerNode } from '../../src/ledger/ledger-node.ts'
import type { SpendLimits } from '../../src/store/keys.ts'
import { testDatabaseUrl } from '../contract/databases.ts'
import { finishedRequest } from '../support/finished.ts'
import { eventually, type LedgerScene, ledgerScene } from '../support/ledger-node.ts'

const engines = [
  { engine: 'sqlite', url: null },
  ...(testDatabaseUrl === null ? [] : [{ engine: 'postgres', url: testDatabaseUrl }]),
]

const limits: SpendLimits = new Map([
  ['key_1', { account: 'acme', amountNano: 1_000n, period: 'day', timeZone: null }],
])

describe.each(engines)('a key with a spend limit on $engine', ({ url }) => {
  let scene: LedgerScene
  const nodes: LedgerNode[] = []
  const start = async (slot: number) => {
    const node = await scene.start({ slot, spendLimits: () => limits })
    nodes.push(node)
    return node
  }

  beforeEach(async () => {
    scene = await ledgerScene(url)
    await scene.deposit('acme', 1_000_000_000n)
  })

  afterEach(async () => {
    await Promise.all(nodes.splice(0).map((node) => node.drain()))
    await scene.remove()
  })

  /** Asks again, as clients do, where the ledger did not answer in time, as on a busy machine. */
  async function ask(node: LedgerNode, nano: bigint): Promise<Hold | NoHold> {
    let held: Hold | NoHold = { refused: 'closed' }
    await eventually('the ledger answers', async () => {
      held = await node.hold('acme', 'key_1', nano)
      return !('refused' in held && held.refused === 'closed')
    })
    return held
  }

  async function spend(node: LedgerNode, requestId: string, nano: bigint): Promise<void> {
    const held = await ask(node, nano)
    if ('refused' in held) throw new Error(`refused: ${held.refused}`)
    const row = { requestId, account: 'acme', key: 'key_1', chargeNano: nano, at: Date.now() }
    await new Promise<void>((resolve) => node.finish(held, finishedRequest(row), resolve))
  }

  test('is held to it by what two nodes and the runs before them have spent', async () => {
    const one = await start(0)
    await spend(one, 'req_1', 400n)
    const two = await start(1)
    await spend(one, 'req_2', 300n)
    await eventually('the other node sees it', async () => {
      const held = await ask(two, 301n)
      if ('refused' in held) return held.refused === 'spend-limit'
      two.release(held)
      return false
    })
    await spend(two, 'req_3', 300n)
    expect(await ask(two, 1n)).toMatchObject({ refused: 'spend-limit', leftNano: 0n })
    await eventually('so does the first', async () => {
      const held = await ask(one, 1n)
      if ('refused' in held) return held.refused === 'spend-limit'
      one.release(held)
      return false
    })
    await Promise.all(nodes.splice(0).map((node) => node.drain()))
    const again = await start(0)
    expect(await ask(again, 1n)).toMatchObject({ refused: 'spend-limit', leftNano: 0n })
    expect(await again.hold('acme', 'key_2', 5_000n)).toMatchObject({ amountNano: 5_000n })
  })

  test('is held to it by requests that run on three nodes at once, and all of it can be spent', async () => {
    const three = [await start(0), await start(1), await start(2)]
    const asked = three.flatMap((node) =>
      Array.from({ length: 30 }, async () => ({ node, held: await ask(node, 50n) })),
    )
    const results = await Promise.all(asked)
    const served = results.filter(({ held }) => !('refused' in held))
    expect(served.length).toBeLessThanOrEqual(20)
    expect(served.length).toBeGreaterThan(10)
    for (const { node, held } of served) node.release(held as Hold)
    for (let turn = 0; turn < 20; turn += 1) {
      const node = three[turn % 3] as LedgerNode
      await eventually('the others give back what they do not need', async () => {
        const held = await ask(node, 50n)
        if ('refused' in held) return false
        node.release(held)
        await spend(node, `req_${turn}`, 50n)
        return true
      })
    }
    for (const node of three) expect(await ask(node, 1n)).toMatchObject({ refused: 'spend-limit' })
  })

  test('is served on another node as soon as the one that leased it has ended', async () => {
    const one = await start(0)
    const held = await ask(one, 900n)
    const two = await start(1)
    expect(await ask(two, 200n)).toMatchObject({ refused: 'spend-limit', isHeld: true })
    one.release(held as Hold)
    nodes.shift()
    await one.drain()
    expect(await ask(two, 1_000n)).toMatchObject({ amountNano: 1_000n })
  })
})
