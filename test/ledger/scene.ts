// Leases on a ledger that the test plays by hand: every answer and every timer comes when the test says so.

import type { LeaseSettings } from '../../src/ledger/lease.ts'
import type { Leases } from '../../src/ledger/leases.ts'
import { createLeases } from '../../src/ledger/leases.ts'
import type { Hold, NoHold } from '../../src/ledger/ledger.ts'
import type { Grant } from '../../src/store/ledger.ts'
import { settled } from './clock.ts'

interface Asked {
  readonly account: string
  readonly needNano: bigint
  readonly wantNano: bigint
  readonly spareNano?: bigint
  answer(grant: Partial<Grant>): Promise<void>
  reject(error: Error): Promise<void>
}

export interface Scene {
  readonly leases: Leases
  /** Grants not answered yet. */
  readonly asked: Asked[]
  readonly givenBack: [account: string, amountNano: bigint][]
  readonly recalls: string[]
  readonly errors: unknown[]
  /** The next callback, and its time. */
  readonly timers: { run: () => void; delayMs: number }[]
  /** Fires the next timer. */
  pulse(): Promise<void>
  /** Takes the oldest requested grant. */
  next(): Asked
}

const uncapped: LeaseSettings = { maxHeldPerKeyNano: null, maxHeldPerAccountNano: null }

export function scene(settings: Partial<LeaseSettings> = {}): Scene {
  const asked: Asked[] = []
  const givenBack: [string, bigint][] = []
  const recalls: string[] = []
  const errors: unknown[] = []
  const timers: { run: () => void; delayMs: number }[] = []
  const leases = createLeases({
    authority: {
      grant: (account, size) => {
        const { promise, resolve, reject } = Promise.withResolvers<Grant>()
        const answer = async (grant: Partial<Grant>) => {
          resolve({
            grantedNano: 0n,
            fenced: false,
            leasedElsewhereNano: 0n,
            postedNano: 0n,
            ...grant,
          })
          await settled()
        }
        const fail = async (error: Error) => {
          reject(error)
          await settled()
        }
        asked.push({ account, ...size, answer, reject: fail })
        return promise
      },
      giveBack: (account, amountNano) => givenBack.push([account, amountNano]),
      recall: (account) => recalls.push(account),
      forget: () => undefined,
    },
    settings: { ...uncapped, ...settings },
    onError: (error) => errors.push(error),
    schedule: (run, delayMs) => timers.push({ run, delayMs }),
  })
  leases.open()
  const pulse = async () => {
    const timer = timers.shift()
    if (timer === undefined) throw new Error('no timer is set')
    timer.run()
    await settled()
  }
  const next = () => {
    const first = asked.shift()
    if (first === undefined) throw new Error('no grant is asked for')
    return first
  }
  return { leases, asked, givenBack, recalls, errors, timers, pulse, next }
}

export function admitted(result: Hold | NoHold | Promise<Hold | NoHold>): Hold {
  if (result instanceof Promise) throw new Error('the hold waits')
  if ('refused' in result) throw new Error(`refused: ${result.refused}`)
  return result
}

/** A lease of this amount, without holds. */
export async function leased(stage: Scene, amountNano: bigint, account = 'a'): Promise<void> {
  const hold = stage.leases.hold(account, 'k', 1n)
  await stage.next().answer({ grantedNano: amountNano, postedNano: amountNano })
  stage.leases.release(admitted(await hold))
  await stage.pulse()
}
