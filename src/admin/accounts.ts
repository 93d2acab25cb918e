// Accounts, their balances, and journal entries that an operator makes.

import { randomUUID } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { formatUnits, maxNano, type Nano } from '../money.ts'
import { house, type Transfer, type Wallet, walletOf } from '../store/ledger.ts'
import { RowRefused, type Store } from '../store/store.ts'
import { checkNotDeleted } from './key-group.ts'
import { type Page, pageOf } from './page.ts'
import type { Input } from './schema.ts'
import { timeText } from './time.ts'
import { type AdminContext, AdminError } from './use-case.ts'

/** Amounts in nano-units; `availableNano + heldNano = postedNano`. */
export interface Balance {
  readonly account: string
  readonly currency: string
  readonly availableNano: string
  readonly heldNano: string
  readonly postedNano: string
}

interface Account extends Balance {
  readonly createdAt: string
}

/** Sorted by name. */
export async function listAccounts(
  { store, currency }: AdminContext,
  input: Input<'listAccounts'>,
): Promise<Page<Account>> {
  const { items, next } = pageOf(await store.accounts.all(), ({ id }) => id, input)
  const wallets = new Map((await store.journal.wallets()).map((each) => [each.account, each]))
  const code = await currency()
  const shown = items.map(({ id, createdAt }) => {
    const empty = { account: id, postedNano: 0n, leasedNano: 0n, heldNano: 0n }
    return { ...balanceOf(wallets.get(id) ?? empty, code), createdAt: timeText(createdAt) }
  })
  return { items: shown, next }
}

export async function readBalance(
  { store, currency }: AdminContext,
  { account }: Input<'account'>,
): Promise<Balance> {
  return balanceOf(await findWallet(store, account), await currency())
}

interface Adjustment extends Balance {
  /** `adjust:REFERENCE`. */
  readonly id: string
  /** False where the same adjustment was posted before: nothing has changed. */
  readonly posted: boolean
  /** Negative for a debit. */
  readonly amountNano: string
}

/**
 * Credits or debits an account, once for each reference; refuses a credit to a deleted one. A debit is posted whole or
 * not at all: money held for running requests is not touched, and leases that servers do not need are recalled for up to
 * 3 s.
 */
export async function adjustBalance(
  { store, actor, nowMs, currency }: AdminContext,
  input: Input<'adjustBalance'>,
): Promise<Adjustment> {
  const { account, amount, direction, reason, createAccount } = input
  if (createAccount) await store.accounts.ensure(account, nowMs)
  await findWallet(store, account)
  // What a deleted account still has may be taken.
  if (direction === 'credit')
    checkNotDeleted(account, await store.people.find(account), 'new credit')
  const wallet = walletOf(account)
  const transfer: Transfer = {
    id: `adjust:${input.reference ?? randomUUID()}`,
    code: 'adjust',
    debit: direction === 'credit' ? house.adjust : wallet,
    credit: direction === 'credit' ? wallet : house.adjust,
    amountNano: amount,
    actor,
    reason,
    at: nowMs,
  }
  const code = await currency()
  const posted = await post(store, account, transfer, code)
  const { id, amountNano } = transfer
  return {
    id,
    posted,
    amountNano: String(direction === 'credit' ? amountNano : -amountNano),
    ...balanceOf(await findWallet(store, account), code),
  }
}

function balanceOf({ account, postedNano, heldNano }: Wallet, currency: string): Balance {
  return {
    account,
    currency,
    availableNano: String(postedNano - heldNano),
    heldNano: String(heldNano),
    postedNano: String(postedNano),
  }
}

/** Throws AdminError `not_found`. */
export async function findWallet(store: Pick<Store, 'journal'>, account: string): Promise<Wallet> {
  const wallet = await store.journal.wallet(account)
  if (wallet !== null) return wallet
  throw new AdminError('not_found', 'account', `there is no account ${JSON.stringify(account)}`)
}

/** Returns false where the same was posted before. */
async function post(
  store: Store,
  account: string,
  transfer: Transfer,
  currency: string,
): Promise<boolean> {
  const outcome = await postWhenFree(store, account, transfer).catch((error: unknown) =>
    refuseTooMuch(error, store, account),
  )
  if (outcome === 'insufficient') {
    const { postedNano, heldNano } = await findWallet(store, account)
    throw new AdminError(
      'conflict',
      'amount',
      `${account} has ${formatUnits(postedNano - heldNano)} ${currency} that no running request holds: ${formatUnits(transfer.amountNano)} cannot be taken`,
    )
  }
  if (outcome === 'known') await checkSame(store, account, transfer)
  return outcome === 'posted'
}

const patienceMs = 3_000
const pauseMs = 50

/** Servers lease money ahead of need: leases without a hold are recalled, and the debit waits for them. */
async function postWhenFree(store: Store, account: string, transfer: Transfer) {
  let outcome = await store.journal.post([transfer])
  const until = performance.now() + patienceMs
  while (outcome === 'insufficient' && performance.now() < until) {
    const { postedNano, heldNano } = await findWallet(store, account)
    if (postedNano - heldNano < transfer.amountNano) break
    // No node's own name, so that every node gives back what it leases.
    await store.leases.recall(account, { node: 'admin', epoch: 0 })
    await setTimeout(pauseMs)
    outcome = await store.journal.post([transfer])
  }
  return outcome
}

/** All that an account, the operator's too, was ever credited or debited must fit into the database's integers. */
async function refuseTooMuch(error: unknown, store: Store, account: string): Promise<never> {
  if (!(error instanceof RowRefused)) throw error
  await findWallet(store, account)
  throw new AdminError(
    'conflict',
    'amount',
    `the credits, or the debits, of an account or of all adjustments would add up to more than ${formatUnits(maxNano)}`,
  )
}

const mostTransfers = 1_000_000

/** A known reference with other accounts or another amount is a mistake, not a repetition. */
async function checkSame(store: Store, account: string, transfer: Transfer): Promise<void> {
  const transfers = await store.journal.transfers({ account, limit: mostTransfers })
  const known = transfers.find(({ id }) => id === transfer.id)
  const { debit, credit, amountNano } = transfer
  const same = known?.debit === debit && known.credit === credit && known.amountNano === amountNano
  if (same) return
  const what = known === undefined ? 'another account' : `${signed(known, account)} for ${account}`
  throw new AdminError('conflict', 'reference', `${transfer.id} was posted before, for ${what}`)
}

function signed({ credit, amountNano }: Transfer, account: string): string {
  const effect: Nano = credit === walletOf(account) ? amountNano : -amountNano
  return formatUnits(effect)
}
