// The data and table of redemption codes; both engines implement them.

import type { Nano } from '../money.ts'

/** Times in Unix milliseconds. */
export interface RedemptionBatch {
  readonly id: string
  readonly note: string
  /** Value of each code. */
  readonly amountNano: Nano
  readonly codes: number
  readonly actor: string
  readonly createdAt: number
  readonly expiresAt: number | null
  readonly revokedAt: number | null
  readonly redeemed: number
}

export type NewBatch = Omit<RedemptionBatch, 'codes' | 'revokedAt' | 'redeemed'>

export type Redeemed =
  | { readonly outcome: 'redeemed'; readonly amountNano: Nano }
  | { readonly outcome: 'unknown' | 'used' | 'expired' | 'revoked' }

export interface RedemptionTable {
  create(batch: NewBatch, hashes: readonly string[]): Promise<void>
  /** Newest first. */
  list(page: {
    readonly before?: { readonly at: number; readonly id: string } | undefined
    readonly limit: number
  }): Promise<readonly RedemptionBatch[]>
  /** False if there is no such batch, or it was revoked before. */
  revoke(id: string, at: number): Promise<boolean>
  /** Credits the account if the code is valid; the account must have a wallet. */
  redeem(hash: string, account: string, at: number): Promise<Redeemed>
}
