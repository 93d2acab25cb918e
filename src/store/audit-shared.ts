// Compares usage rows with their journal entries: most rows have their own, rows of one settlement may share one.

import type { Nano } from '../money.ts'
import { house, walletOf } from './ledger.ts'
import type { UsageRow } from './usage-row.ts'

type Charged = Pick<UsageRow, 'requestId' | 'account' | 'chargeNano' | 'writeoffNano'>

/** Entries in the form `12 from wallet:ann to revenue:usage`; `posting`: the request whose entry a row shares. */
type Entries = Readonly<Record<'posting' | 'paid' | 'lost', string | null>>

interface Shared {
  readonly requestId: string
  readonly account: string
  /** Sum over all rows that share the entry. */
  chargeNano: Nano
  /** Whether the request whose id the entry has is one of these rows. */
  isNamed: boolean
  readonly paid: string | null
}

interface SharedEntry {
  readonly requestId: string
  /** Sum over all rows that share the entry. */
  readonly chargeNano: Nano
  readonly problems: readonly string[]
}

/** What is wrong with the entries that belong to this row alone. */
export function ownProblems(row: Charged, { posting, paid, lost }: Entries): readonly string[] {
  if (posting === null) return entryProblems(row, { paid, lost })
  return entryProblems({ ...row, chargeNano: 0n }, { paid: null, lost })
}

/** Sums the rows that share an entry; ignores rows with their own. */
export class SharedEntries {
  /** By the request id in the entry's id, then by account; more than one account for an entry is an error. */
  readonly #entries = new Map<string, Map<string, Shared>>()

  /** Whether no earlier row has this row's entry. */
  add({ requestId, account, chargeNano }: Charged, { posting, paid }: Entries): boolean {
    if (posting === null) return true
    const accounts = this.#entries.get(posting) ?? new Map<string, Shared>()
    const isFirst = accounts.size === 0
    this.#entries.set(posting, accounts)
    const none = { requestId: posting, account, chargeNano: 0n, isNamed: false, paid }
    const shared = accounts.get(account) ?? none
    accounts.set(account, shared)
    shared.chargeNano += chargeNano
    shared.isNamed ||= requestId === posting
    return isFirst
  }

  /** Returns the entries added since the last call with their problems, and starts again. */
  take(): SharedEntry[] {
    const all = [...this.#entries.values()].flatMap((accounts) => [...accounts.values()])
    this.#entries.clear()
    return all.map((shared) => {
      const { requestId, chargeNano, isNamed, paid } = shared
      const problems = entryProblems({ ...shared, writeoffNano: 0n }, { paid, lost: null })
      const unnamed = `usage:${requestId} is shared by ${shared.account} without that request`
      return { requestId, chargeNano, problems: isNamed ? problems : [...problems, unnamed] }
    })
  }
}

/** An amount above 0 needs one entry between its two accounts; an amount of 0 must have none. */
function entryProblems(
  { requestId, account, chargeNano, writeoffNano }: Charged,
  { paid, lost }: Pick<Entries, 'paid' | 'lost'>,
): readonly string[] {
  const check = (code: string, debit: string, amount: Nano, found: string | null) => {
    const expected = amount === 0n ? null : `${amount} from ${debit} to ${house.revenue}`
    if (found === expected) return []
    return [`${code}:${requestId} should be ${expected ?? 'missing'}, and is ${found ?? 'missing'}`]
  }
  return [
    ...check('usage', walletOf(account), chargeNano, paid),
    ...check('writeoff', house.writeoff, writeoffNano, lost),
  ]
}
