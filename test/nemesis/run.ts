// Load on all nodes during one fault after another, and the checks of the books at the end.

import { expect } from 'bun:test'
import { expectCharged, type Seen, startLoad } from '../crash/gateway-load.ts'
import { eventually } from '../support/clients.ts'
import { expectBalances, expectCleanAudit, type Outcome } from '../support/deployment.ts'
import type { Fault } from './faults.ts'
import { expectNothingGiven, expectOnlyAnswered, expectSettled } from './history.ts'
import { credits, creditsNano, type Stage } from './stage.ts'
import { type Asked, expectVendorCharged, startVendorLoad } from './vendor.ts'

const accounts = Object.keys(credits)
/** More than may ever wait at once for a suspended node. */
const vendorClients = 12
/** The number of requests that the others answer before a fault is over. */
const meanwhile = 60
/** The number of requests at the vendor that end before the fault is over, whatever their result. */
const meanwhileAsked = 24
/** This many complete ones in a row: all nodes call the vendor again. */
const wellAgain = 24

type Tallies = Map<string, Map<string, number>>

export interface History {
  readonly seen: readonly Seen[]
  readonly asked: readonly Asked[]
  readonly tallies: Tallies
}

/** One fault after another under load; what clients received, by the fault at that time. */
export async function breakAgainAndAgain(
  stage: Stage,
  faults: readonly (readonly [name: string, fault: Fault])[],
): Promise<History> {
  const load = startLoad(stage.url, accounts, 18, { goesOn: true })
  const vendors = startVendorLoad(stage.url, ['acme', 'bell'], vendorClients)
  const answered = () => load.seen.filter(isWhole).length
  const served = async () => {
    const [until, untilAsked] = [answered() + meanwhile, vendors.asked.length + meanwhileAsked]
    await eventually(
      () => (answered() >= until && vendors.asked.length >= untilAsked ? true : undefined),
      60_000,
    )
  }
  const isWell = () => {
    const last = vendors.asked.slice(-wellAgain)
    return last.length === wellAgain && last.every(isWhole)
  }
  const tallies: Tallies = new Map()
  try {
    await served()
    for (const [name, fault] of faults) {
      vendors.fault = name
      const [before, beforeVendor] = [load.seen.length, vendors.asked.length]
      await during(name, fault(stage, stage.one(stage.nodes), served))
      count(tallies, name, load.seen.slice(before).filter(isOfInterest))
      count(tallies, name, vendors.asked.slice(beforeVendor))
      // Failed channels are not used for a while, which must not count towards the next fault.
      await during(
        `${name}, and is over`,
        eventually(() => isWell() || undefined, 60_000),
      )
    }
  } catch (error) {
    // Not awaited, since a node may be suspended.
    void load.stop()
    void vendors.stop()
    throw error
  }
  await Promise.all([load.stop(), vendors.stop()])
  return { seen: load.seen, asked: vendors.asked, tallies }
}

function during<Result>(name: string, work: Promise<Result>): Promise<Result> {
  return work.catch((cause: unknown) => {
    throw new Error(`while ${name}: ${cause}`, { cause })
  })
}

function isWhole({ status, whole }: Outcome): boolean {
  return status === 200 && whole
}

/** Without the account that runs out, and without clients that leave by themselves. */
function isOfInterest({ account, dueNano }: Seen): boolean {
  return account !== 'dent' && dueNano !== null
}

function count(tallies: Tallies, name: string, outcomes: readonly Outcome[]): void {
  const tally = tallies.get(name) ?? new Map<string, number>()
  tallies.set(name, tally)
  for (const { status, whole } of outcomes) {
    const what = status === 0 ? 'no reply' : status === 200 && !whole ? 'cut' : String(status)
    tally.set(what, (tally.get(what) ?? 0) + 1)
  }
}

/**
 * Every request is charged as it was answered, nothing is leased or held once all nodes have ended, and the audit is
 * clean.
 */
export async function expectBooks(stage: Stage, { seen, asked, tallies }: History): Promise<void> {
  await expectSettled(stage.deployment, [...seen, ...asked])
  for (const { server } of stage.nodes) {
    expect(server.stderr).not.toContain('internal error')
    server.signal('SIGTERM')
    expect(await server.exited).toBe(0)
  }
  // The wait above ignores replies that were cut: a node that has ended has settled those too.
  const rows = await expectBalances(stage.deployment, creditsNano)
  const charged = expectCharged(seen, rows)
  const vendors = expectVendorCharged(asked, rows)
  expectOnlyAnswered([...seen, ...asked], rows)
  expectNothingGiven(rows)
  for (const account of accounts)
    expect(await stage.deployment.store.journal.wallet(account)).toMatchObject({
      leasedNano: 0n,
      heldNano: 0n,
    })
  await expectCleanAudit(stage.deployment)
  console.log(`${seen.length} requests, ${charged} answered whole`)
  console.log(`${asked.length} of the vendor`, vendors)
  for (const [name, tally] of tallies) console.log(name, Object.fromEntries(tally))
}
