// `tollgate export`: how far the export to a warehouse has come, and the table it needs there.

import { exportStatus, restartExport } from '../admin/export-status.ts'
import { tableOf } from '../store/warehouse-table.ts'
import type { Command } from './command.ts'
import { print, printJson, say, table } from './output.ts'
import { loadFor, withChange, withStore } from './settings.ts'

export const exportStatusCommand: Command = {
  name: 'export status',
  words: [],
  summary: 'show how far the export to each warehouse has come, and how much is waiting',
  options: {},
  async run(context) {
    const all = await withStore(context, ({ store }) => exportStatus(store))
    if (context.json) {
      await printJson(all)
      return undefined
    }
    const cells = all.map((each) => [
      each.destination,
      each.state,
      each.rowsBehind,
      each.waitingSince,
      each.rowsTaken,
      each.takenAt,
      each.failure,
    ])
    const head = ['TO', 'STATE', 'BEHIND', 'SINCE', 'TAKEN', 'LAST', 'FAILURE']
    await print(table(head, cells))
    return undefined
  },
}

export const exportRestart: Command = {
  name: 'export restart',
  words: ['DESTINATION'],
  summary: 'send every kept request again, for example to a new table or after one was lost',
  options: {},
  async run(context) {
    const [destination = ''] = context.words
    const restarted = await withChange(
      context,
      ({ store }) => restartExport(store, destination),
      () => ({ action: 'restartExport', target: { destination } }),
    )
    if (context.json) await printJson(restarted)
    else say(`All kept requests will be sent to ${destination} again.`)
    return undefined
  },
}

export const exportDdl: Command = {
  name: 'export ddl',
  words: [],
  summary: 'print the statement that creates the ClickHouse table',
  options: {},
  async run(context) {
    const { clickhouse } = (await loadFor(context)).usage.export
    const statement = tableOf(clickhouse ?? { database: 'default', table: 'tollgate_usage' })
    if (context.json) await printJson({ statement })
    else await print(statement)
    return undefined
  },
}
