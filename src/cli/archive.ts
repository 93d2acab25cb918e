// `tollgate archive`: lists the archive files of old usage rows, and checks that they are unchanged.

import { checkArchive, listArchive } from '../admin/archive-check.ts'
import { archiveFiles } from '../blobs/archive-files.ts'
import { formatUnits } from '../money.ts'
import type { Command, Context } from './command.ts'
import { print, printJson, say, table, whoeverReads } from './output.ts'
import { loadFor, storeSettings, withStore } from './settings.ts'

export const archiveList: Command = {
  name: 'archive list',
  words: [],
  summary: 'list the files that old requests were written to before they were removed',
  options: {},
  async run(context) {
    const files = await withStore(context, ({ store }) => listArchive(store))
    if (context.json) {
      await printJson(files)
      return undefined
    }
    const cells = files.map((each) => [
      each.name,
      each.firstAt,
      each.requests,
      formatUnits(BigInt(each.chargeNano)),
      each.bytes,
      each.removedAt,
    ])
    await print(table(['FILE', 'SINCE', 'REQUESTS', 'COST', 'BYTES', 'REMOVED'], cells))
    return undefined
  },
}

export const archiveVerify: Command = {
  name: 'archive verify',
  words: [],
  summary:
    'read every file of the archive and compare it with the totals; exit 1 on any difference',
  options: {},
  async run(context) {
    const files = await filesFor(context)
    const checked = await withStore(context, ({ store }) => checkArchive(store, files))
    if (context.json) await whoeverReads(printJson(checked))
    else {
      const cells = checked.days.map((each) => [
        each.day,
        each.files,
        each.requests,
        formatUnits(BigInt(each.chargeNano)),
        each.problems.join('; ') || null,
      ])
      await whoeverReads(print(table(['DAY', 'FILES', 'REQUESTS', 'COST', 'PROBLEM'], cells)))
      say(`${checked.files} files, ${checked.requests} requests.`)
    }
    return checked.ok ? 0 : 1
  },
}

/** A bucket is known only from the configuration. */
async function filesFor(context: Context) {
  const { dataDir } = await storeSettings(context)
  const isConfigured = context.flags.has('config') || Boolean(context.env.TOLLGATE_CONFIG)
  return archiveFiles(dataDir, isConfigured ? (await loadFor(context)).media.s3 : null)
}
