// Tests that several nodes together keep to a key's spend limit: real tables, with settlements and lost answers in any
// order.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { KeyBudgets } from '../../src/ledger/key-budgets.ts'
import type { Hold, NoHold } from '../../src/ledger/ledger.ts'
import type { SpendLimit } from '../../src/store/keys.ts'
import type { NodeRef } from '../../src/store/ledger.ts'
import { testDatabaseUrl } from '../contract/databases.ts'
import { finishedRequest } from '../support/finished.ts'
import { eventually, type LedgerScene, ledgerScene } from '../support/ledger-node.ts'

const engines = [
  { engine: 'sqlite', url: null, runs: 30 },
  ...(testDatabaseUrl === null ? [] : [{ engine: 'postgres', url: testDatabaseUrl, runs: 10 }]),
]

const step = fc.record({
  node: fc.nat({ max: 2 }),
  do: fc.constantFrom(
    ...['hold', 'hold', 'hold', 'hold', 'extend', 'extend', 'end', 'end', 'settle', 'settle'],
    ...['look', 'recall', 'lose', 'change'],
  ),
  nano: fc.bigInt(1n, 60n),
})

/** One key on three nodes; its requests end and are settled as the test says. */
class Play {
  readonly #scene: LedgerScene
  readonly #key: string
  readonly #limits: Map<string, SpendLimit & { readonly account: string }>
  readonly nodes: readonly PlayedNode[]
  spentNano = 0n
  limitNano = 200n
  #requests = 0

  constructor(scene: LedgerScene, key: string, refs: readonly NodeRef[]) {
    this.#scene = scene
    this.#key = key
    this.#limits = new Map()
    this.change(this.limitNano)
    this.nodes = refs.map((ref) => this.#node(ref))
  }

  #node(ref: NodeRef): PlayedNode {
    const { keyLeases } = this.#scene.store
    const node: PlayedNode = {
      ref,
      running: [],
      ended: [],
      records: 0,
      reached: 0,
      loses: false,
      idleMs: -1,
    } as never
    const answer = <Answer>(found: Answer): Answer => {
      if (!node.loses) return found
      node.loses = false
      throw new Error('The answer is lost.')
    }
    node.budgets = new KeyBudgets({
      holds: {
        hold: (account, keyId, amountNano) => ({ account, keyId, amountNano }),
        extend: () => true,
        close: () => 0n,
        release: () => undefined,
        covers: () => true,
      },
      limits: () => this.#limits,
      spent: async (ranges) => {
        const { reached } = node
        return answer({ nano: await keyLeases.spent(ranges), reached })
      },
      claim: async (claim) => {
        const { reached } = node
        const claimed = await keyLeases.claim(ref, claim)
        if (claimed === null) throw new Error('The node is not open.')
        return answer({ ...claimed, reached })
      },
      giveBack: async (keyIds) => answer(await keyLeases.giveBack(ref, keyIds)),
      recordNumber: () => node.records,
      get idleMs() {
        return node.idleMs
      },
      onError: () => undefined,
      claimAgainMs: 1,
      longestWaitMs: 20,
    })
    return node
  }

  /** All nodes know of it at once. */
  change(limitNano: bigint): void {
    const limit = { account: 'acme', amountNano: limitNano, timeZone: null } as const
    this.limitNano = limitNano
    this.#limits.set(this.#key, { ...limit, period: 'never' })
  }

  async step({ node: at, do: what, nano }: { node: number; do: string; nano: bigint }) {
    const node = this.nodes[at] as PlayedNode
    const first = node.running[0]
    if (what === 'hold') await this.#hold(node, nano)
    else if (what === 'extend' && first !== undefined) {
      if (await node.budgets.extend(first.hold, nano)) this.#taken(first, nano)
    } else if (what === 'end' && first !== undefined) this.#end(node, nano)
    else if (what === 'settle') await this.#settle(node)
    else if (what === 'change') this.change(nano * 4n)
    else if (what === 'lose') node.loses = true
    else if (what === 'look') node.budgets.refresh()
    else if (what === 'recall') {
      for (const key of await this.#scene.store.keyLeases.recalled(node.ref))
        node.budgets.recall(key)
    }
  }

  async #hold(node: PlayedNode, nano: bigint) {
    const result: Hold | NoHold = await node.budgets.hold('acme', this.#key, nano)
    if ('refused' in result) return
    const running = { hold: result, nano: 0n }
    node.running.push(running)
    this.#taken(running, nano)
  }

  #taken(running: Running, nano: bigint) {
    running.nano += nano
    expect(this.spentNano + this.heldNano).toBeLessThanOrEqual(this.limitNano)
  }

  #end(node: PlayedNode, nano: bigint) {
    const first = node.running.shift() as Running
    const chargeNano = nano < first.nano ? nano : first.nano
    node.records += 1
    node.budgets.close(first.hold, chargeNano)
    node.ended.push({ number: node.records, chargeNano })
    this.spentNano += chargeNano
  }

  async #settle(node: PlayedNode) {
    const { ended, ref, records } = node
    const batch = ended.splice(0).map(({ chargeNano }) => {
      this.#requests += 1
      const requestId = `${this.#key}-${this.#requests}`
      const at = Date.now()
      const { row } = finishedRequest({
        requestId,
        account: 'acme',
        key: this.#key,
        chargeNano,
        at,
      })
      return { ...ref, row, fromLeaseNano: 0n, capNano: null, idempotency: null }
    })
    if (batch.length > 0) await this.#scene.store.settlements.settle(batch)
    node.reached = records
  }

  get heldNano(): bigint {
    return this.nodes.flatMap(({ running }) => running).reduce((sum, { nano }) => sum + nano, 0n)
  }

  /** Ends everything that runs, so that the whole rest of the limit can be spent. */
  async rest(): Promise<void> {
    for (const node of this.nodes) {
      node.loses = false
      // What the ledger grants after a hold has waited long enough is there for the next one.
      node.idleMs = 60_000
      while (node.running.length > 0) this.#end(node, 1n)
      await this.#settle(node)
    }
  }
}

interface Running {
  readonly hold: Hold
  nano: bigint
}

interface PlayedNode {
  readonly ref: NodeRef
  budgets: KeyBudgets
  readonly running: Running[]
  readonly ended: { readonly number: number; readonly chargeNano: bigint }[]
  records: number
  reached: number
  /** The next answer of the ledger does not arrive. */
  loses: boolean
  /** Below 0: every look at a key that has come to rest gives back its lease. */
  idleMs: number
}

describe.each(engines)('the nodes of a deployment on $engine', ({ url, runs }) => {
  let scene: LedgerScene
  beforeAll(async () => {
    scene = await ledgerScene(url)
    await scene.deposit('acme', 1_000_000n)
  })
  afterAll(() => scene.remove())

  test('never pass a key limit together, and can spend all of it', async () => {
    let keys = 0
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 25, maxLength: 45 }), async (steps) => {
        keys += 1
        const open = (name: string) => scene.store.nodes.open(name, 600_000)
        const refs = [await open('one'), await open('two'), await open('three')]
        const play = new Play(scene, `key_${keys}`, refs)
        for (const each of steps) await play.step(each)
        await play.rest()
        const restNano = play.limitNano - play.spentNano
        if (restNano <= 0n) return
        // The other nodes answer recalls as their workers would, until the last node can have all that is left.
        const last = play.nodes[2] as PlayedNode
        await eventually('the last node holds all that is left', async () => {
          // As twice a second in service: until then what was settled a moment ago may count twice.
          last.budgets.refresh()
          const result = await last.budgets.hold('acme', `key_${keys}`, restNano)
          for (const node of [0, 1]) await play.step({ node, do: 'recall', nano: 1n })
          return !('refused' in result)
        })
        expect(last.budgets.hasLeases).toBe(true)
      }),
      { numRuns: runs },
    )
  }, 120_000)
})
