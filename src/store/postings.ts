// The entries of the journal for what a batch charges: one for all requests of an account in a quarter of an hour.

import type { Nano } from '../money.ts'
import type { Divided } from './divide.ts'
import type { Value } from './engine.ts'
import { house, type Settlement, walletOf } from './ledger.ts'
import { quarterOf } from './rollup-table.ts'
import { cleanText } from './text.ts'

interface Shared {
  /** The first request: the entry stands under its id, and has its time. */
  readonly requestId: string
  readonly account: string
  readonly at: number
  amountNano: Nano
  requests: number
}

interface Posted {
  /** By place in the batch: the request whose entry it shares; null where it shares none. */
  readonly postings: readonly (string | null)[]
  /** As `insertTransfers` takes them. */
  readonly entries: readonly Value[][]
}

/**
 * Of a batch and how it was divided, both in the same order. Only requests of numbered records share an entry: the
 * number tells that one has come before, also when its row was removed. Those of one quarter, so that the totals of any
 * quarters are what the entries of their time make.
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

/** At the time of its first request, so that the journal of a wallet is in the order of its usage. */
function entry(
  code: string,
  requestId: string,
  debit: string,
  amountNano: Nano,
  at: number,
): Value[] {
  return [`${code}:${requestId}`, code, debit, house.revenue, amountNano, null, null, at]
}
