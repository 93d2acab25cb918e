// `tollgate account`: the accounts in the store.

import type { Command } from './command.ts'
import { print, printJson, table, timeText } from './output.ts'
import { withStore } from './settings.ts'

export const accountList: Command = {
  name: 'account list',
  words: [],
  summary: 'list the accounts',
  options: {},
  async run(context) {
    const rows = await withStore(context, (store) => store.accounts.all())
    const views = rows.map(({ id, createdAt }) => ({ account: id, createdAt: timeText(createdAt) }))
    if (context.json) await printJson(views)
    else
      await print(
        table(
          ['ACCOUNT', 'CREATED'],
          views.map((view) => [view.account, view.createdAt]),
        ),
      )
    return undefined
  },
}
