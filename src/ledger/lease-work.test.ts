// Tests lease work against a ledger that answers when the test says: order, and the state after an unclear end.

import { expect, test } from 'bun:test'
import type { Grant, NodeRef } from '../store/ledger.ts'
import { LeaseWork } from './lease-work.ts'

/** The amount of each grant here. */
const size = { needNano: 5n, wantNano: 5n }
const ref: NodeRef = { node: 'n', epoch: 3 }
const granted: Grant = {
  grantedNano: 5n,
  fenced: false,
  leasedElsewhereNano: 0n,
  postedNano: 9n,
}

interface Call {
  readonly what: string
  answer(): void
  fail(): void
}

function stage() {
  const calls: Call[] = []
  const failures: string[] = []
  const fenced: NodeRef[] = []
  let settle: (done: boolean) => void = () => undefined
  let open: NodeRef | null = ref
  const call = <Result>(what: string, result: Result): Promise<Result> => {
    const { promise, resolve, reject } = Promise.withResolvers<Result>()
    calls.push({ what, answer: () => resolve(result), fail: () => reject(new Error('away')) })
    return promise
  }
  const work = new LeaseWork({
    leases: {
      grantAll: (_ref, requests) =>
        call(
          `grant ${requests.map(({ account, needNano }) => `${account} ${needNano}`).join(', ')}`,
          requests.map(({ account }) => ({ ...granted, fenced: account === 'swept' })),
        ),
      giveBack: (_ref, account, amountNano) => call(`giveBack ${account} ${amountNano}`, undefined),
      returnExcess: (_ref, kept) =>
        call(
          `keep ${[...kept].map(([account, nano]) => `${account} ${nano}`).join(', ')}`,
          undefined,
        ),
      recall: (account) => call(`recall ${account}`, undefined),
    },
    ref: () => open,
    settled: () =>
      new Promise((resolve) => {
        settle = resolve
      }),
    onFenced: (dead) => fenced.push(dead),
    onFailure: (what) => failures.push(what),
    onRecovered: (what) => failures.splice(0, failures.length, `${what} works`),
  })
  const turn = () => new Promise<void>((resolve) => setImmediate(resolve))
  const next = async () => {
    await turn()
    const last = calls.shift()
    if (last === undefined) throw new Error('nothing was asked of the ledger')
    return last
  }
  return {
    work,
    calls,
    failures,
    fenced,
    next,
    turn,
    settle: (done = true) => settle(done),
    close: () => {
      open = null
    },
  }
}

test('a grant waits for what was given back before it', async () => {
  const { work, calls, next, turn } = stage()
  const back = work.giveBack(3, 'ann', 7n)
  const grant = work.grant(3, 'ann', size)
  const first = await next()
  expect(first.what).toBe('giveBack ann 7')
  await turn()
  expect(calls).toEqual([])
  first.answer()
  const second = await next()
  expect(second.what).toBe('grant ann 5')
  second.answer()
  expect(await grant).toEqual(granted)
  await back
})

test('grants that wait are asked together, but not past other work, nor twice for an account', async () => {
  const { work, calls, next, turn } = stage()
  const grants = ['ann', 'bob', 'cyd'].map((account) => work.grant(3, account, size))
  const first = await next()
  const back = work.giveBack(3, 'ann', 7n)
  const later = ['bob', 'ann', 'bob'].map((account) => work.grant(3, account, size))
  await turn()
  expect([first.what, calls.length]).toEqual(['grant ann 5, bob 5, cyd 5', 0])
  first.answer()
  expect(await Promise.all(grants)).toEqual([granted, granted, granted])
  for (const what of ['giveBack ann 7', 'grant bob 5, ann 5', 'grant bob 5']) {
    const call = await next()
    expect(call.what).toBe(what)
    call.answer()
  }
  expect(await Promise.all(later)).toEqual([granted, granted, granted])
  await back
})

test('at most 64 grants are asked together', async () => {
  const { work, next } = stage()
  const grants = Array.from({ length: 70 }, (_, index) => work.grant(3, `a${index}`, size))
  const counts: number[] = []
  for (let group = 0; group < 2; group += 1) {
    const call = await next()
    counts.push(call.what.split(', ').length)
    call.answer()
  }
  await Promise.all(grants)
  expect(counts).toEqual([64, 6])
})

test('of each kind, what works again is reported, so that its next failure is as well', async () => {
  const { work, failures, next } = stage()
  const back = work.giveBack(3, 'ann', 7n)
  ;(await next()).fail()
  await back
  expect(failures).toEqual(['give back'])
  const again = work.giveBack(3, 'ann', 7n)
  ;(await next()).answer()
  await again
  expect(failures).toEqual(['give back works'])
})

/** What the serving thread would answer: it has this much of each account. */
function counted(...accounts: (readonly [account: string, nano: bigint])[]) {
  return new Map(accounts)
}

test('of grants that failed together, all that nobody counts on goes back in one call', async () => {
  const { work, next, turn, settle } = stage()
  const grants = Promise.allSettled(['ann', 'bob'].map((account) => work.grant(3, account, size)))
  ;(await next()).fail()
  expect((await grants).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  expect(work.unclear()).toEqual(['ann', 'bob'])
  const returned = work.returnExcess(3, counted(['ann', 0n], ['bob', 7n]))
  await turn()
  settle()
  const back = await next()
  expect(back.what).toBe('keep ann 0, bob 7')
  back.answer()
  await returned
  expect(work.unclear()).toEqual([])
})

test('what failed is not tried again; the rest goes back when ended requests are settled', async () => {
  const { work, calls, failures, next, turn, settle } = stage()
  const back = work.giveBack(3, 'ann', 7n)
  ;(await next()).fail()
  await back
  await turn()
  expect({ calls, failures }).toEqual({ calls: [], failures: ['give back'] })
  const returned = work.returnExcess(3, counted(['ann', 3n]))
  await turn()
  expect(calls).toEqual([])
  settle()
  ;(await next()).fail()
  await returned
  expect(work.unclear()).toEqual(['ann'])
  const again = work.returnExcess(3, counted(['ann', 2n]))
  await turn()
  settle()
  const rest = await next()
  expect(rest.what).toBe('keep ann 2')
  rest.answer()
  await again
  expect(work.unclear()).toEqual([])
})

test('a grant does not wait until ended requests are settled', async () => {
  const { work, next, turn } = stage()
  const back = work.giveBack(3, 'ann', 7n)
  ;(await next()).fail()
  await back
  void work.returnExcess(3, counted(['ann', 0n]))
  await turn()
  const grant = work.grant(3, 'bob', size)
  ;(await next()).answer()
  expect(await grant).toEqual(granted)
})

test('a lease that is to change meanwhile is left for the next time', async () => {
  const { work, calls, next, settle } = stage()
  const failing = Promise.allSettled(
    ['ann', 'bob', 'cyd'].map((account) => work.grant(3, account, size)),
  )
  ;(await next()).fail()
  await failing
  const returned = work.returnExcess(3, counted(['ann', 0n], ['bob', 0n], ['cyd', 0n]))
  const grant = work.grant(3, 'ann', size)
  const taken = work.take(3, 'bob', () => Promise.resolve('taken'))
  ;(await next()).answer()
  await Promise.all([grant, taken])
  settle()
  const back = await next()
  expect(back.what).toBe('keep cyd 0')
  back.answer()
  await returned
  expect(work.unclear()).toEqual(['ann', 'bob'])
  expect(calls).toEqual([])
})

test('nothing goes back if the worker stops first, or for accounts whose every call was answered', async () => {
  const { work, calls, next, turn, settle } = stage()
  const grant = work.grant(3, 'ann', size)
  ;(await next()).answer()
  await grant
  expect(work.unclear()).toEqual([])
  const clear = work.returnExcess(3, counted(['ann', 0n]))
  settle()
  await clear
  const back = work.giveBack(3, 'ann', 7n)
  ;(await next()).fail()
  await back
  const stopped = work.returnExcess(3, counted(['ann', 0n]))
  settle(false)
  await stopped
  await turn()
  expect(calls).toEqual([])
})

test('calls of an epoch that is over reach no ledger', async () => {
  const { work, calls, fenced, next, close } = stage()
  expect(await work.grant(2, 'ann', size)).toMatchObject({ grantedNano: 0n, fenced: true })
  await work.giveBack(2, 'ann', 5n)
  await work.recall(2, 'ann')
  expect(calls).toEqual([])
  const grant = work.grant(3, 'swept', size)
  ;(await next()).answer()
  await grant
  expect(fenced).toEqual([ref])
  close()
  expect(await work.grant(3, 'ann', size)).toMatchObject({ fenced: true })
})

test('leases of an epoch that is over are not compared', async () => {
  const { work, calls, next, close, settle } = stage()
  const back = work.giveBack(3, 'ann', 7n)
  ;(await next()).fail()
  await back
  close()
  expect(work.unclear()).toEqual([])
  const returned = work.returnExcess(3, counted(['ann', 0n]))
  settle()
  await returned
  expect(calls).toEqual([])
})
