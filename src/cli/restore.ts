// `tollgate restore`: puts a backup into a data directory that no server has, checked before it takes its place.

import { randomUUID } from 'node:crypto'
import { join, resolve } from 'node:path'
import { lockData } from '../store/lock.ts'
import { databaseFile } from '../store/sqlite.ts'
import {
  copyDatabase,
  dataFiles,
  finishCopy,
  moveAside,
  openCopy,
  placeCopy,
  removeCopy,
} from '../store/sqlite-copy.ts'
import { examine } from './audit.ts'
import type { Command } from './command.ts'
import { print, printJson } from './output.ts'
import { storeSettings } from './settings.ts'

export const restore: Command = {
  name: 'restore',
  words: ['FILE'],
  summary: 'put a backup into the data directory; the server must not run',
  options: {
    force: { type: 'boolean', help: 'move what is there aside, into a folder beside it' },
  },
  async run(context) {
    const [word = ''] = context.words
    const file = resolve(word)
    const { dataDir, databaseUrl } = await storeSettings(context)
    if (databaseUrl !== null) {
      throw new Error('the ledger is kept in PostgreSQL: restore it with pg_restore or psql')
    }
    const lock = lockData(dataDir)
    try {
      const force = context.flags.has('force')
      const replaced = await putBack(file, dataDir, force, context.nowMs)
      const { transfers, usageRows, wallets, findings, aside } = replaced
      const ok = findings === 0
      if (context.json) await printJson({ ok, file, dataDir, ...replaced })
      else {
        const verdict = ok ? 'no difference' : `${findings} findings, as in the ledger backed up`
        const moved = aside === null ? '' : ` What was there is in ${aside}.`
        await print(
          `${dataDir}: ${transfers} transfers, ${usageRows} usage rows, ${wallets} wallets: ${verdict}.${moved}\n`,
        )
      }
      return ok ? 0 : 1
    } finally {
      lock.release()
    }
  },
}

async function putBack(file: string, dataDir: string, force: boolean, nowMs: number) {
  if (!force && dataFiles(dataDir).length > 0) {
    throw new Error(`there is data in ${dataDir} already: name another directory, or say --force`)
  }
  const folder = join(dataDir, `restore-${randomUUID()}`)
  try {
    copyDatabase(file, folder)
    const { transfers, usageRows, wallets, findings } = await check(folder)
    // Before anything is moved: what was there must not be gone where there is no room.
    const finished = finishCopy(folder)
    const stamp = new Date(nowMs).toISOString().replaceAll(/[:.]/g, '-')
    const aside = dataFiles(dataDir).length === 0 ? null : join(dataDir, `replaced-${stamp}`)
    if (aside !== null) moveAside(dataDir, aside)
    placeCopy(finished, join(dataDir, databaseFile))
    return { transfers, usageRows, wallets, findings: findings.length, aside }
  } finally {
    removeCopy(folder)
  }
}

/** Nothing is replaced by what is damaged; what else the audit finds was in the ledger, and is told. */
async function check(folder: string) {
  const copy = await openCopy(folder)
  try {
    await copy.endNodes()
    const { report } = await examine(copy)
    const damaged = report.findings.find(({ kind }) => kind === 'integrity')
    if (damaged === undefined) return report
    throw new Error(`the backup is damaged, and nothing was changed: ${damaged.message}`)
  } finally {
    await copy.close()
  }
}
