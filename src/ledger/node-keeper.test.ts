// Tests the states of a node in the ledger: open, renewed, fenced, opened again.
import { expect, test } from 'bun:test'
import type { NodeRef } from '../store/ledger.ts'
import { NodeKeeper } from './node-keeper.ts'

interface Play {
  /** What each call of the ledger does, in order; later calls succeed. */
  readonly open?: (() => void)[]
  readonly renew?: (boolean | (() => never))[]
}

const away = (): never => {
  throw new Error('database is away')
}

function makeKeeper({ open = [], renew = [] }: Play) {
  const events: string[] = []
  let epoch = 0
  let nowMs = 100
  const keeper = new NodeKeeper({
    nodes: {
      async open(node): Promise<NodeRef> {
        open.shift()?.()
        epoch += 1
        // The lease already runs while the ledger answers.
        nowMs += 7
        return { node, epoch }
      },
      async renew() {
        const answer = renew.shift() ?? true
        return typeof answer === 'function' ? answer() : answer
      },
      close: async ({ epoch }) => void events.push(`closed ${epoch}`),
      sweep: async () => [],
    },
    recalled: async () => ({ accounts: ['acme'], keys: ['key_1'] }),
    node: 'n',
    leaseMs: 60_000,
    clock: {
      nowMs: () => nowMs,
      delay: async () => {
        nowMs += 500
      },
    },
    onRenewed: (sinceMs) => events.push(`renewed ${sinceMs}`),
    onOpened: (ref) => events.push(`opened ${ref.epoch}`),
    onFenced: (ref) => events.push(`fenced ${ref.epoch}`),
    onSwept: () => undefined,
    onFailure: (what) => events.push(`failed ${what}`),
    onRecovered: () => undefined,
  })
  return { keeper, events }
}

test('opens however often that must be tried, and counts from before it asked', async () => {
  const { keeper, events } = makeKeeper({ open: [away, away] })
  await Promise.all([keeper.open(), keeper.open()])
  expect(events).toEqual(['failed open', 'failed open', 'renewed 1100', 'opened 1'])
})

test('a renewal that fails is tried again; the node stays as it was', async () => {
  const { keeper, events } = makeKeeper({ renew: [away] })
  await keeper.open()
  const ref = keeper.ref
  await keeper.renew()
  expect(events.slice(2)).toEqual(['failed renew', 'renewed 607'])
  expect(keeper.ref).toBe(ref)
})

test('a node that was closed by another is fenced before it is open anew', async () => {
  const { keeper, events } = makeKeeper({ renew: [false] })
  await keeper.open()
  const old = keeper.ref
  await keeper.renew()
  expect(events.slice(2)).toEqual(['fenced 1', 'renewed 107', 'opened 2'])
  // A message for the old epoch does not change the new one.
  if (old !== null) await keeper.fence(old)
  expect(keeper.ref?.epoch).toBe(2)
})

test('a closed node asks nothing more', async () => {
  const { keeper, events } = makeKeeper({})
  await keeper.open()
  expect(await keeper.recalled()).toEqual({ accounts: ['acme'], keys: ['key_1'] })
  await keeper.close()
  expect(await keeper.recalled()).toBe(null)
  await keeper.renew()
  expect(events.slice(2)).toEqual(['closed 1'])
})
