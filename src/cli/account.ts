// `tollgate account` and `tollgate balance`: accounts, their balances, and journal entries that an operator makes.

import { adjustBalance, type Balance, listAccounts, readBalance } from '../admin/accounts.ts'
import { readInput } from '../admin/input.ts'
import { formatUnits } from '../money.ts'
import type { Command, Context, Option } from './command.ts'
import { type Cell, print, printJson, say, table } from './output.ts'
import { withChange, withStore } from './settings.ts'

const headings = ['CURRENCY', 'AVAILABLE', 'HELD', 'POSTED']
const hints = { 'not_found account': '; `tollgate account list` lists them' }

/** Amounts in units of the currency, exact to the last digit. */
function cells(balance: Balance): Cell[] {
  const amounts = [balance.availableNano, balance.heldNano, balance.postedNano]
  return [balance.currency, ...amounts.map((nano) => formatUnits(BigInt(nano)))]
}

export const accountList: Command = {
  name: 'account list',
  words: [],
  summary: 'list the accounts and their balances',
  options: {},
  async run(context) {
    const { items } = await withStore(context, (admin) => listAccounts(admin, {}))
    if (context.json) await printJson(items)
    else {
      const rows = items.map((each) => [each.account, ...cells(each), each.createdAt])
      await print(table(['ACCOUNT', ...headings, 'CREATED'], rows))
    }
    return undefined
  },
}

export const balance: Command = {
  name: 'balance',
  words: ['ACCOUNT'],
  summary: "show an account's balance",
  options: {},
  hints,
  async run(context) {
    const [account = ''] = context.words
    const found = await withStore(context, (admin) => readBalance(admin, { account }))
    if (context.json) await printJson(found)
    else await print(table(['ACCOUNT', ...headings], [[found.account, ...cells(found)]]))
    return undefined
  },
}

const adjusting = {
  words: ['ACCOUNT', 'AMOUNT'],
  fields: { account: 'ACCOUNT', amount: 'AMOUNT' },
  hints: { ...hints, 'conflict reference': ': choose another --reference' },
}

const options: Readonly<Record<string, Option>> = {
  reason: { type: 'string', value: 'TEXT', help: 'why; kept with the entry' },
  reference: {
    type: 'string',
    value: 'ID',
    help: 'posted only once, however often the command is run with the same one',
  },
  actor: { type: 'string', value: 'NAME', help: 'who does it; by default the user running this' },
}

export const accountCredit: Command = {
  ...adjusting,
  hints: {
    ...adjusting.hints,
    'not_found account': `${hints['not_found account']}, --create creates it`,
  },
  name: 'account credit',
  summary: 'credit an account',
  options: {
    ...options,
    create: { type: 'boolean', help: 'create the account if it does not exist' },
  },
  run: (context) => adjust(context, 'credit'),
}

export const accountDebit: Command = {
  ...adjusting,
  name: 'account debit',
  summary: 'debit an account; money held for running requests cannot be taken',
  options,
  run: (context) => adjust(context, 'debit'),
}

async function adjust(context: Context, direction: 'credit' | 'debit'): Promise<undefined> {
  const { flags, words } = context
  const createAccount = flags.has('create')
  const input = await readInput('adjustBalance', {
    account: words[0],
    amount: words[1],
    direction,
    reference: flags.text('reference'),
    reason: flags.text('reason'),
    createAccount,
  })
  const { account: target, ...detail } = input
  const done = await withChange(
    context,
    (admin) => adjustBalance(admin, input),
    ({ posted }) => (posted ? { action: 'adjustBalance', target: { id: target }, detail } : null),
    createAccount ? 'make' : undefined,
  )
  if (context.json) {
    await printJson(done)
    return undefined
  }
  const { account, currency, id, posted, availableNano } = done
  const amount = `${formatUnits(input.amount)} ${currency}`
  const what = direction === 'credit' ? `Credited ${amount} to` : `Debited ${amount} from`
  const available = formatUnits(BigInt(availableNano))
  say(
    `${posted ? what : 'Posted before, nothing changed for'} ${account}: ${available} ${currency} available (${id}).`,
  )
  return undefined
}
