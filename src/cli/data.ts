// `tollgate data copy`: copies a deployment from SQLite to PostgreSQL.

import { resolve } from 'node:path'
import { copyData } from '../admin/data-copy.ts'
import { readInput } from '../admin/input.ts'
import { storedSecretsPurpose } from '../admin/with-stored.ts'
import { encryptionKey } from '../identity/encryption-key.ts'
import { createSecretBox } from '../identity/secret-box.ts'
import { type Command, type Context, UsageError } from './command.ts'
import { print, printJson, say, whoeverReads } from './output.ts'
import { requireData, storeSettings } from './settings.ts'

export const dataCopy: Command = {
  name: 'data copy',
  words: [],
  summary:
    'copy all data from SQLite to an empty PostgreSQL and verify it; continues where it was interrupted',
  options: {
    to: { type: 'string', value: 'URL', help: 'postgres://... (DATABASE_URL)' },
    from: { type: 'string', value: 'DIR', help: 'data directory to copy from, as --data' },
    resume: {
      type: 'boolean',
      help: 'continue an interrupted copy although the deployment has changed since',
    },
    restart: { type: 'boolean', help: 'start again from the current state' },
  },
  hints: { 'conflict begun': ': add --resume or --restart', 'conflict to': '' },
  async run(context) {
    const { flags, env, nowMs, json } = context
    if (flags.has('resume') && flags.has('restart')) {
      throw new UsageError('--resume and --restart cannot be combined')
    }
    const dataDir = await folderOf(context)
    requireData(dataDir)
    const begun = flags.has('resume') ? 'resume' : flags.has('restart') ? 'restart' : undefined
    const to = flags.text('to') ?? (env.DATABASE_URL || undefined)
    if (to === undefined) throw new UsageError('--to is missing')
    const key = encryptionKey({ encryptionKey: env.ENCRYPTION_KEY || null, dataDir })
    const made = await copyData(
      {
        dataDir,
        box: createSecretBox(key, storedSecretsPurpose),
        nowMs,
        onTable: ({ table, rows }) => {
          if (!json && rows > 0) say(`${table}: ${rows} rows, verified`)
        },
      },
      await readInput('copyData', { to, begun }),
    )
    const text = () => reportText(made, Boolean(env.ENCRYPTION_KEY), dataDir)
    await whoeverReads(json ? printJson(made) : print(text()))
    return made.ok ? 0 : 1
  },
}

async function folderOf(context: Context): Promise<string> {
  const from = context.flags.text('from')
  return from === undefined ? (await storeSettings(context)).dataDir : resolve(from)
}

function reportText(
  made: Awaited<ReturnType<typeof copyData>>,
  hasKey: boolean,
  dataDir: string,
): string {
  const { at, rows, tables, transfers, usageRows, settled, wallets, findings, closedSecrets } = made
  const outcome = findings === 0 ? 'no difference' : `${findings} findings, as in the ledger`
  const lines = [
    `${rows} rows of ${tables} tables as of ${at}: ${transfers} transfers, ${usageRows} usage rows (${settled} of them from outboxes), ${wallets} wallets: ${outcome}.`,
    'Changes after that time are not in the copy. Stop the server before the final copy.',
    hasKey
      ? 'Secrets stay as they are encrypted: give every node the same ENCRYPTION_KEY.'
      : `Secrets stay as they are encrypted: put ${dataDir}/encryption.key into every node's data directory.`,
  ]
  if (closedSecrets > 0) {
    lines.push(
      `${closedSecrets} channels have secrets that do not open with ${hasKey ? 'this ENCRYPTION_KEY' : 'that key'}: they were encrypted under another one, which the nodes need.`,
    )
  }
  return `${lines.join('\n')}\n`
}
