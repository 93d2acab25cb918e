// `tollgate account credit` and `account debit`: an operator's own entries in the journal.

import { randomUUID } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { formatUnits, type Nano, parseUnits } from '../money.ts'
import { house, type Transfer, walletOf } from '../store/ledger.ts'
import type { Store } from '../store/store.ts'
import { type Command, type Context, type Option, UsageError } from './command.ts'
import { readName } from './name.ts'
import { printJson, say } from './output.ts'
import { withStore } from './settings.ts'
import { currencyOf, findWallet, walletView } from './wallet.ts'

const options: Readonly<Record<string, Option>> = {
  reason: { type: 'string', value: 'TEXT', help: 'why; kept with the entry' },
  reference: {
    type: 'string',
    value: 'ID',
    help: 'posts once however often it is run with the same one',
  },
  actor: { type: 'string', value: 'NAME', help: 'who does it; the user running this unless said' },
}

export const accountCredit: Command = {
  name: 'account credit',
  words: ['ACCOUNT', 'AMOUNT'],
  summary: 'give an account money',
  options: {
    ...options,
    create: { type: 'boolean', help: 'make the account where it is missing' },
  },
  run: (context) => adjust(context, 'credit'),
}

export const accountDebit: Command = {
  name: 'account debit',
  words: ['ACCOUNT', 'AMOUNT'],
  summary: 'take money from an account, as far as running requests leave it free',
  options,
  run: (context) => adjust(context, 'debit'),
}

async function adjust(context: Context, direction: 'credit' | 'debit'): Promise<undefined> {
  const account = readName(context.words[0] ?? '', 'ACCOUNT')
  const transfer = readTransfer(context, account, direction)
  const make = context.flags.has('create')
  const view = await withStore(
    context,
    async (store) => {
      if (make) await store.accounts.ensure(account, context.nowMs)
      await findWallet(store, account)
      const currency = await currencyOf(store, context)
      const posted = await post(store, account, transfer, currency)
      const wallet = walletView(await findWallet(store, account), currency)
      const sign = direction === 'credit' ? '' : '-'
      return { id: transfer.id, posted, amountNano: `${sign}${transfer.amountNano}`, ...wallet }
    },
    make ? 'make' : undefined,
  )
  if (context.json) {
    await printJson(view)
    return undefined
  }
  const amount = `${formatUnits(transfer.amountNano)} ${view.currency}`
  const done = direction === 'credit' ? `Credited ${amount} to` : `Debited ${amount} from`
  const available = formatUnits(BigInt(view.availableNano))
  say(
    `${view.posted ? done : 'Posted before, nothing changed for'} ${account}: ${available} ${view.currency} available (${view.id}).`,
  )
  return undefined
}

function readTransfer(
  { flags, words, env, nowMs }: Context,
  account: string,
  direction: 'credit' | 'debit',
): Transfer {
  const [, amount = ''] = words
  const amountNano = parseUnits(amount)
  if (amountNano === null || amountNano === 0n) {
    throw new UsageError(
      `AMOUNT ${amount}: expected a decimal above 0 with at most nine places, such as 12.50`,
    )
  }
  const wallet = walletOf(account)
  const reference = readName(flags.text('reference') ?? randomUUID(), '--reference')
  return {
    id: `adjust:${reference}`,
    code: 'adjust',
    debit: direction === 'credit' ? house.adjust : wallet,
    credit: direction === 'credit' ? wallet : house.adjust,
    amountNano,
    actor: flags.text('actor') ?? env.USER ?? env.LOGNAME ?? 'command line',
    reason: flags.required('reason'),
    at: nowMs,
  }
}

/** Returns false where the same was posted before. */
async function post(
  store: Store,
  account: string,
  transfer: Transfer,
  currency: string,
): Promise<boolean> {
  const outcome = await postWhenFree(store, account, transfer)
  if (outcome === 'insufficient') {
    const wallet = await findWallet(store, account)
    const available = formatUnits(wallet.postedNano - wallet.heldNano)
    throw new Error(
      `${account} has ${available} ${currency} that no running request holds: ${formatUnits(transfer.amountNano)} cannot be taken`,
    )
  }
  if (outcome === 'known') await checkSame(store, account, transfer)
  return outcome === 'posted'
}

const patienceMs = 3_000
const pauseMs = 50

/** Servers lease money ahead of need: what no request holds is asked back, and waited for. */
async function postWhenFree(store: Store, account: string, transfer: Transfer) {
  let outcome = await store.journal.post([transfer])
  const until = performance.now() + patienceMs
  while (outcome === 'insufficient' && performance.now() < until) {
    const { postedNano, heldNano } = await findWallet(store, account)
    if (postedNano - heldNano < transfer.amountNano) break
    await store.leases.recall(account, { node: 'command line', epoch: 0 })
    await setTimeout(pauseMs)
    outcome = await store.journal.post([transfer])
  }
  return outcome
}

const mostTransfers = 1_000_000

/** The same reference for something else is a mistake, not a repetition. */
async function checkSame(store: Store, account: string, transfer: Transfer): Promise<void> {
  const transfers = await store.journal.transfers({ account, limit: mostTransfers })
  const known = transfers.find(({ id }) => id === transfer.id)
  const { debit, credit, amountNano } = transfer
  const same = known?.debit === debit && known.credit === credit && known.amountNano === amountNano
  if (same) return
  const what = known === undefined ? 'another account' : `${signed(known, account)} for ${account}`
  throw new Error(`${transfer.id} was posted before, for ${what}: choose another --reference`)
}

function signed({ credit, amountNano }: Transfer, account: string): string {
  const effect: Nano = credit === walletOf(account) ? amountNano : -amountNano
  return formatUnits(effect)
}
