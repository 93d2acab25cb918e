// Tests several nodes on one ledger: in any interleaving, no money is spent twice or lost, and none that is there is
// refused.
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Hold, NoHold } from '../../src/ledger/ledger.ts'
import { Bank } from './bank.ts'
import { Clock, settled } from './clock.ts'
import { Node } from './node.ts'

const accounts = ['a', 'b']
const pollMs = 50

type Command =
  | {
      readonly kind: 'hold'
      readonly node: number
      readonly account: number
      readonly amount: bigint
    }
  | { readonly kind: 'extend'; readonly pick: number; readonly by: bigint }
  | { readonly kind: 'close'; readonly pick: number; readonly permille: bigint }
  | { readonly kind: 'deposit'; readonly account: number; readonly amount: bigint }
  | { readonly kind: Act; readonly node: number }

type Act = 'poll' | 'settle' | 'tick' | 'cut' | 'mend' | 'fence' | 'sweep'

/** Frequent commands, and rare ones. */
const usual = ['poll', 'poll', 'poll', 'settle', 'settle', 'settle', 'tick', 'mend'] as const

const small = fc.bigInt({ min: 0n, max: 60n })
const index = fc.nat({ max: 11 })

function commands(acts: readonly Act[]): fc.Arbitrary<{ command: Command; events: number }[]> {
  const command: fc.Arbitrary<Command> = fc.oneof(
    {
      weight: 5,
      arbitrary: fc.record({
        kind: fc.constant('hold' as const),
        node: index,
        account: index,
        amount: small,
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({ kind: fc.constant('extend' as const), pick: index, by: small }),
    },
    {
      weight: 4,
      arbitrary: fc.record({
        kind: fc.constant('close' as const),
        pick: index,
        permille: fc.bigInt({ min: 0n, max: 2_000n }),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        kind: fc.constant('deposit' as const),
        account: index,
        amount: small,
      }),
    },
    { weight: 4, arbitrary: fc.record({ kind: fc.constantFrom(...acts), node: index }) },
  )
  return fc.array(fc.record({ command, events: fc.nat({ max: 4 }) }), {
    minLength: 10,
    maxLength: 80,
    size: 'max',
  })
}

/** Nodes, their running requests, and what was charged; executes one command at a time. */
class World {
  readonly bank = new Bank()
  readonly nodes: Node[]
  readonly running: { readonly node: Node; readonly hold: Hold }[] = []
  waiting = 0
  charged = 0n
  uncovered = 0n
  #nowMs = 0

  constructor(count: number, scheduler: fc.Scheduler) {
    const soon = (run: () => void) => void scheduler.schedule(Promise.resolve()).then(run)
    for (const account of accounts) this.bank.deposit(account, 100n)
    this.nodes = Array.from({ length: count }, (_, at) => {
      return new Node(`node-${at}`, this.bank, { soon, later: soon })
    })
  }

  check(): void {
    this.bank.check()
    for (const node of this.nodes) node.check(accounts)
  }

  do(command: Command): void {
    if (command.kind === 'hold') {
      const node = this.#node(command.node)
      this.#await(node, node.hold(accountOf(command.account), command.amount))
    } else if (command.kind === 'extend') {
      const request = this.running[command.pick % this.running.length]
      request?.node.leases.extend(request.hold, command.by)
    } else if (command.kind === 'close') {
      this.close(command.pick % this.running.length, command.permille)
    } else if (command.kind === 'deposit') {
      this.bank.deposit(accountOf(command.account), command.amount)
    } else {
      this.#act(command.kind, this.#node(command.node))
    }
  }

  /** Ends a request; ending it a second time must change nothing. */
  close(at: number, permille: bigint): void {
    const [request] = this.running.splice(at, 1)
    if (request === undefined) return
    const { node, hold } = request
    const charge = (hold.amountNano * permille) / 1_000n
    const fromLease = node.close(hold, charge)
    expect(fromLease).toBeLessThanOrEqual(charge)
    this.charged += charge
    this.uncovered += charge - fromLease
    const after = node.leases.state(hold.account)
    expect(node.leases.close(hold, charge)).toBe(0n)
    expect(node.leases.state(hold.account)).toEqual(after)
  }

  #await(node: Node, result: Hold | NoHold | Promise<Hold | NoHold>): void {
    this.waiting += 1
    void Promise.resolve(result).then((settledTo) => {
      this.waiting -= 1
      if (!('refused' in settledTo)) this.running.push({ node, hold: settledTo })
    })
  }

  #act(act: Act, node: Node): void {
    if (act === 'tick') {
      this.#nowMs += 11_000
      for (const each of this.nodes) each.leases.tick(this.#nowMs)
    } else if (act === 'cut') node.isCutOff = true
    else if (act === 'mend') node.isCutOff = false
    else node[act]()
  }

  #node(at: number): Node {
    const node = this.nodes[at % this.nodes.length]
    if (node === undefined) throw new Error('no node')
    return node
  }
}

function accountOf(at: number): string {
  return accounts[at % accounts.length] ?? ''
}

/** Executes the commands in any interleaving, then ends everything, and returns the idle world. */
async function play(
  count: number,
  scheduler: fc.Scheduler,
  steps: readonly { command: Command; events: number }[],
): Promise<World> {
  const world = new World(count, scheduler)
  for (const { command, events } of steps) {
    world.do(command)
    world.check()
    for (let event = 0; event < events && scheduler.count() > 0; event += 1) {
      await scheduler.waitNext(1)
      await settled()
      world.check()
    }
  }
  for (const node of world.nodes) node.isCutOff = false
  await comeToRest(scheduler)
  expect(world.waiting).toBe(0)
  while (world.running.length > 0) world.close(0, 500n)
  await comeToRest(scheduler)
  for (const node of world.nodes) while (node.unsettled.length > 0) node.settle()
  world.check()
  return world
}

async function comeToRest(scheduler: fc.Scheduler): Promise<void> {
  await settled()
  while (scheduler.count() > 0) {
    await scheduler.waitNext(1)
    await settled()
  }
}

/** When idle, nodes believe what they lease, nothing is held, and draining gives all back. */
async function expectNothingLeaks(world: World, scheduler: fc.Scheduler): Promise<void> {
  for (const account of accounts) {
    for (const { leases, ref } of world.nodes) {
      const state = leases.state(account)
      expect(state?.heldNano ?? 0n).toBe(0n)
      expect(state?.holds ?? 0).toBe(0)
      expect(world.bank.leased(account, ref)).toBe(state?.freeNano ?? 0n)
    }
  }
  for (const { leases } of world.nodes) {
    expect(leases.held().size).toBe(0)
    leases.drain()
  }
  await comeToRest(scheduler)
  for (const account of accounts) expect(world.bank.leased(account)).toBe(0n)
  expect(world.bank.charged + world.bank.writtenOff).toBe(world.charged)
}

describe('I12, I14: any interleaving of requests, messages and settlements', () => {
  test('overdraws nothing, leaks nothing, and writes off at most what no lease covered', async () => {
    const acts = [...usual, 'cut', 'mend'] as const
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 3 }),
        fc.scheduler(),
        commands(acts),
        async (count, scheduler, steps) => {
          const world = await play(count, scheduler, steps)
          expect(world.bank.writtenOff).toBeLessThanOrEqual(world.uncovered)
          await expectNothingLeaks(world, scheduler)
        },
      ),
      { numRuns: 150 },
    )
  }, 60_000)

  test('with nodes fenced and swept in it, overdraws nothing and leaks nothing', async () => {
    const acts = [...usual, 'cut', 'mend', 'fence', 'sweep'] as const
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 3 }),
        fc.scheduler(),
        commands(acts),
        async (count, scheduler, steps) => {
          await expectNothingLeaks(await play(count, scheduler, steps), scheduler)
        },
      ),
      { numRuns: 150 },
    )
  }, 60_000)
})

/** Nodes in virtual time that look every 50 ms for requests of others, each at a different moment. */
function town(count: number, latency: () => number) {
  const bank = new Bank()
  const clock = new Clock(latency)
  const nodes = Array.from({ length: count }, (_, at) => new Node(`node-${at}`, bank, clock))
  for (const [at, node] of nodes.entries()) {
    const poll = () => {
      node.poll()
      clock.later(poll, pollMs)
    }
    clock.later(poll, (at * 17) % pollMs)
  }
  return { bank, clock, nodes }
}

type Town = ReturnType<typeof town>

/** Holds at these nodes at once; resolves when all are decided. */
async function holdAtOnce({ clock }: Town, at: readonly Node[], amount: bigint) {
  const results: (Hold | NoHold)[] = []
  const running: { readonly node: Node; readonly hold: Hold }[] = []
  const startMs = clock.nowMs
  for (const node of at) {
    void Promise.resolve(node.hold('a', amount)).then((result) => {
      results.push(result)
      if (!('refused' in result)) running.push({ node, hold: result })
    })
  }
  await clock.runUntil(startMs + 300, () => results.length === at.length)
  return { results, running }
}

const earlier = fc.array(
  fc.record({
    node: index,
    amount: fc.bigInt({ min: 1n, max: 400n }),
    permille: fc.bigInt({ min: 0n, max: 1_200n }),
    isSettled: fc.boolean(),
  }),
  { maxLength: 12, size: 'max' },
)

test('what the wallet has is admitted within 300 ms on any node, wherever the leases are', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 4 }),
      fc.infiniteStream(fc.integer({ min: 0, max: 15 })),
      earlier,
      index,
      fc.bigInt({ min: 0n, max: 100n }),
      async (count, latencies, requests, asker, lessBy) => {
        const place = town(count, () => latencies.next().value)
        const { bank, clock, nodes } = place
        bank.deposit('a', 1_000n)
        const nodeAt = (at: number): Node => nodes[at % count] as Node
        for (const { node, amount, permille, isSettled } of requests) {
          const { running } = await holdAtOnce(place, [nodeAt(node)], amount)
          for (const { hold } of running) nodeAt(node).close(hold, (amount * permille) / 1_000n)
          if (isSettled) nodeAt(node).settle()
        }
        const unsettled = nodes.flatMap(({ unsettled }) => unsettled)
        const balance = unsettled.reduce((sum, { charge }) => sum - charge, bank.posted('a'))
        const amount = balance > lessBy ? balance - lessBy : 0n
        const { results } = await holdAtOnce(place, [nodeAt(asker)], amount)
        expect(results).toEqual([expect.objectContaining({ amountNano: amount })])
        await clock.runUntil(clock.nowMs + 100)
        for (const node of nodes) node.check(accounts)
        bank.check()
      },
    ),
    { numRuns: 300 },
  )
}, 60_000)

for (const count of [1, 3]) {
  test(`B1: 1,000 at once against 37 affordable: exactly 37, on ${count} of ${count} nodes`, async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.infiniteStream(fc.integer({ min: 0, max: 15 })),
        fc.bigInt({ min: 0n, max: 99n }),
        async (latencies, rest) => {
          const place = town(count, () => latencies.next().value)
          const { bank, clock, nodes } = place
          bank.deposit('a', 3_700n + rest)
          const at = Array.from({ length: 1_000 }, (_, request) => nodes[request % count] as Node)
          const { results, running } = await holdAtOnce(place, at, 100n)
          expect(results).toHaveLength(1_000)
          expect(running).toHaveLength(37)
          bank.check()
          for (const { node, hold } of running) expect(node.close(hold, 100n)).toBe(100n)
          for (const node of nodes) while (node.unsettled.length > 0) node.settle()
          for (const { leases } of nodes) leases.drain()
          await clock.runUntil(clock.nowMs + 100)
          expect(bank.charged).toBe(3_700n)
          expect(bank.leased('a')).toBe(0n)
        },
      ),
      { numRuns: 20 },
    )
  }, 60_000)
}
