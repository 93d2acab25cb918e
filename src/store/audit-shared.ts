// Usage rows against their entries in the journal: most have their own, those of one settlement may share one.

import type { Nano } from '../money.ts'
import { house, walletOf } from './ledger.ts'
import type { UsageRow } from './usage-row.ts'

type Charged = Pick<UsageRow, 'requestId' | 'account' | 'chargeNano' | 'writeoffNano'>

/** As the journal has them: `12 from wallet:ann to revenue:usage`; `posting`: the request whose entry a row shares. */
type Entries = Readonly<Record<'posting' | 'paid' | 'lost', string | null>>

interface Shared {
  readonly requestId: string
  readonly account: string
  /** Of all that share it. */
  chargeNano: Nano
  /** Whether the request whose id it has is one of them. */
  isNamed: boolean
  readonly paid: string | null
}

interface SharedEntry {
  readonly requestId: string
  /** Of all rows that share it. */
  readonly chargeNano: Nano
  readonly problems: readonly string[]
}

/** What is wrong with the entries that are this row's alone. */
export function ownProblems(row: Charged, { posting, paid, lost }: Entries): readonly string[] {
  if (posting === null) return entryProblems(row, { paid, lost })
  return entryProblems({ ...row, chargeNano: 0n }, { paid: null, lost })
}

/** Adds up the rows that share an entry; a row that shares none is no part of it. */
export class SharedEntries {
  /** By the request under whose id it stands; more than one account is one too many. */
  readonly #entries = new Map<string, Map<string, Shared>>()

  /** Whether the row's entry is one that no row before it has. */
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

  /** What was added since, and what is wrong with it. */
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

/** An amount above 0 has one entry, between its two accounts; 0 has none. */
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
