// What holds cost the serving thread: `npx bun bench/holds.ts` prints medians of rounds. The ledger answers from memory.

import type { LeaseSettings } from '../src/ledger/lease.ts'
import { createLeases, type Leases } from '../src/ledger/leases.ts'
import type { Hold } from '../src/ledger/ledger.ts'

const rounds = 15
const uncapped: LeaseSettings = { maxHeldPerKeyNano: null, maxHeldPerAccountNano: null }
const capped: LeaseSettings = { maxHeldPerKeyNano: 1n << 60n, maxHeldPerAccountNano: 1n << 60n }
const amountNano = 12_345_678n

function leasesOf(grantedNano: bigint, settings: LeaseSettings): Leases {
  const leases = createLeases({
    authority: {
      grant: async () => ({
        grantedNano,
        fenced: false,
        leasedElsewhereNano: 0n,
        postedNano: 1n << 61n,
      }),
      giveBack: () => undefined,
      recall: () => undefined,
      forget: () => undefined,
    },
    settings,
    onError: (error) => {
      throw error
    },
  })
  leases.open()
  return leases
}

async function admitted(leases: Leases, account: string): Promise<Hold> {
  const hold = await leases.hold(account, 'key', amountNano)
  if ('refused' in hold) throw new Error(hold.refused)
  return hold
}

function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
}

/** Nanoseconds for one of the `count` operations that a pass of `work` does. */
function measure(count: number, work: () => void): number {
  const taken = Array.from({ length: rounds }, () => {
    const startNs = process.hrtime.bigint()
    work()
    return Number(process.hrtime.bigint() - startNs) / count
  })
  return median(taken)
}

function report(what: string, ns: number): void {
  console.log(`${what.padEnd(58)} ${(ns / 1_000).toFixed(2).padStart(9)} us`)
}

async function holdAndClose(settings: LeaseSettings): Promise<number> {
  const accounts = Array.from({ length: 1_000 }, (_, at) => `account-${at}`)
  const leases = leasesOf(1n << 60n, settings)
  for (const account of accounts) leases.release(await admitted(leases, account))
  const perAccount = 200
  return measure(accounts.length * perAccount, () => {
    for (let turn = 0; turn < perAccount; turn += 1) {
      for (const account of accounts) {
        const hold = leases.hold(account, 'key', amountNano)
        if (hold instanceof Promise || 'refused' in hold) throw new Error('not at once')
        leases.close(hold, 9_876_543n)
      }
    }
  })
}

async function tickOf(accounts: number): Promise<number> {
  const leases = leasesOf(1n << 60n, uncapped)
  for (let at = 0; at < accounts; at += 1) leases.release(await admitted(leases, `account-${at}`))
  let nowMs = 0
  return measure(1, () => {
    nowMs += 1_000
    leases.tick(nowMs)
  })
}

/** A request ends while others wait for more than it frees. */
async function closeBefore(waiting: number): Promise<number> {
  const leases = leasesOf(amountNano, uncapped)
  const holds = [await admitted(leases, 'a')]
  for (let at = 1; at < rounds; at += 1) holds.push(await admitted(leases, 'a'))
  for (let at = 0; at < waiting; at += 1) void leases.hold('a', 'key', 1n << 61n)
  return measure(1, () => {
    const hold = holds.pop()
    if (hold !== undefined) leases.close(hold, 1n)
  })
}

report('a hold and its close, 1,000 accounts', await holdAndClose(uncapped))
report('the same with bounds per key and account', await holdAndClose(capped))
report('a tick, 100,000 accounts', await tickOf(100_000))
report('a close while 1,000 wait', await closeBefore(1_000))
report('a close while 10,000 wait', await closeBefore(10_000))
process.exit(0)
