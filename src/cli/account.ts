// `tollgate account list`: the accounts in the store, and what they have.

import type { Command, Context } from './command.ts'
import { print, printJson, table, timeText } from './output.ts'
import { withStore } from './settings.ts'
import { currencyOf, walletCells, walletHeadings, walletView } from './wallet.ts'

export const accountList: Command = {
  name: 'account list',
  words: [],
  summary: 'list the accounts and what they have',
  options: {},
  async run(context) {
    const views = await readViews(context)
    if (context.json) {
      await printJson(views)
      return undefined
    }
    const cells = views.map((view) => [view.account, ...walletCells(view), view.createdAt])
    await print(table(['ACCOUNT', ...walletHeadings, 'CREATED'], cells))
    return undefined
  },
}

function readViews(context: Context) {
  return withStore(context, async (store) => {
    const currency = await currencyOf(store, context)
    const accounts = await store.accounts.all()
    const wallets = new Map((await store.journal.wallets()).map((each) => [each.account, each]))
    return accounts.map(({ id, createdAt }) => {
      const empty = { account: id, postedNano: 0n, leasedNano: 0n, heldNano: 0n }
      const wallet = wallets.get(id) ?? empty
      return { ...walletView(wallet, currency), createdAt: timeText(createdAt) }
    })
  })
}
