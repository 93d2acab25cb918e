// `tollgate audit`: derives every balance and total again from the journal, and reports differences.

import { type Audit, auditLedger } from '../admin/audit.ts'
import { formatUnits } from '../money.ts'
import type { Command } from './command.ts'
import { print, printJson, table, whoeverReads } from './output.ts'
import { withStore } from './settings.ts'

export const audit: Command = {
  name: 'audit',
  words: [],
  summary: 'check every balance and total against the journal; exit 1 on any difference',
  options: {},
  async run(context) {
    const found = await withStore(context, auditLedger)
    await whoeverReads(context.json ? printJson(found) : print(reportText(found)))
    return found.ok ? 0 : 1
  },
}

function reportText(audit: Audit): string {
  const { findings, setAside, setAsides, transfers, usageRows, wallets } = audit
  const outcome = findings.length === 0 ? 'no difference' : `${findings.length} findings`
  const parts = [
    `${transfers} transfers, ${usageRows} usage rows, ${wallets} wallets: ${outcome}.\n`,
  ]
  if (findings.length > 0) {
    const cells = findings.map(({ kind, subject, message }) => [kind, subject, message])
    parts.push(table(['KIND', 'SUBJECT', 'FINDING'], cells))
  }
  if (setAside > 0) {
    const cells = setAsides.map(({ requestId, account, heldNano, at, reason }) => [
      requestId,
      account,
      formatUnits(BigInt(heldNano)),
      at,
      reason,
    ])
    parts.push(
      `${setAside} set aside: kept unchanged, their money still held. Settle or discard them: tollgate set-aside --help\n`,
      table(['REQUEST', 'ACCOUNT', 'HELD', 'AT', 'REASON'], cells),
    )
  }
  return parts.join('\n')
}
