// `tollgate balance`: what an account has, and what its running requests hold of it.

import type { Command } from './command.ts'
import { print, printJson, table } from './output.ts'
import { withStore } from './settings.ts'
import { currencyOf, findWallet, walletCells, walletHeadings, walletView } from './wallet.ts'

export const balance: Command = {
  name: 'balance',
  words: ['ACCOUNT'],
  summary: 'show what an account has',
  options: {},
  async run(context) {
    const [account = ''] = context.words
    const view = await withStore(context, async (store) =>
      walletView(await findWallet(store, account), await currencyOf(store, context)),
    )
    if (context.json) await printJson(view)
    else await print(table(['ACCOUNT', ...walletHeadings], [[view.account, ...walletCells(view)]]))
    return undefined
  },
}
