// Journal entries for the charges of a batch: one entry for all requests of an account in a quarter-hour.

import type { Nano } from '../money.ts'
import type { Divided } from './divide.ts'
import type { Value } from './engine.ts'
import { house, type Settlement, walletOf } from './ledger.ts'
import { quarterOf } from './rollup-table.ts'
import { cleanText } from './text.ts'

interface Shared {
  /** The first request, whose id and time the entry has. */
  readonly requestId: string
  readonly account: string
  readonly at: number
  amountNano: Nano
  requests: number
}

interface Posted {
  /** By index in the batch: the request whose entry is shared; null if the request has its own entry or none. */
  readonly postings: readonly (string | null)[]
  /** In the form of `insertTransfers`. */
  readonly entries: readonly Value[][]
}

/**
 * Takes a batch and its division, in the same order. Only requests with numbered records share an entry: the number
 * shows that a record has been settled before, even after its row was removed. Shared entries stay within one
 * quarter-hour, so that the totals of any quarter-hours equal the entries of that time.
 */
export function postingsOf(batch: readonly Settlement[], divided: readonly Divided[]): Posted {
  const shared = new Map<string, Shared>()
  const of = divided.map(({ row, chargeNano }, place) => {
    if (chargeNano === 0n) return null
    const at = Math.round(row.at)
    const account = cleanText(row.account)
    const isNumbered = batch[place]?.place !== undefined
    const name = isNumbered ? `${quarterOf(at)} ${account}` : `\0${row.requestId}`
    const found = shared.get(name)
    if (found === undefined) {
      const made = { requestId: row.requestId, account, at, amountNano: chargeNano, requests: 1 }
      shared.set(name, made)
      return made
    }
    found.amountNano += chargeNano
    found.requests += 1
    return found
  })
  const entries = [...shared.values()].map(({ requestId, account, at, amountNano }) =>
    entry('usage', requestId, walletOf(account), amountNano, at),
  )
  for (const { row, writeoffNano } of divided) {
    if (writeoffNano === 0n) continue
    const at = Math.round(row.at)
    entries.push(entry('writeoff', row.requestId, house.writeoff, writeoffNano, at))
  }
  const postings = of.map((each) => (each && each.requests > 1 ? each.requestId : null))
  return { postings, entries }
}

/** An entry has the time of its first request, so that a wallet's journal is in the order of its usage. */
function entry(
  code: string,
  requestId: string,
  debit: string,
  amountNano: Nano,
  at: number,
): Value[] {
  return [`${code}:${requestId}`, code, debit, house.revenue, amountNano, null, null, at]
}
