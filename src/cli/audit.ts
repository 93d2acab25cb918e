// `tollgate audit`: derives every balance and total again from the journal, and says what differs.

import { createPriceBook } from '../meter/price-book.ts'
import { formatUnits } from '../money.ts'
import type { AuditReport, SetAside } from '../store/ledger.ts'
import type { Store } from '../store/store.ts'
import type { Command } from './command.ts'
import { print, printJson, table, timeText } from './output.ts'
import { withStore } from './settings.ts'

/** So many set-aside rows are shown; their number is told in any case. */
const mostShown = 1_000

export const audit: Command = {
  name: 'audit',
  words: [],
  summary: 'check every balance and total against the journal; exit 1 on any difference',
  options: {},
  async run(context) {
    const { report, setAsides } = await withStore(context, examine)
    if (context.json) await printJson(view(report, setAsides))
    else await print(tell(report, setAsides))
    return report.findings.length > 0 ? 1 : 0
  },
}

export interface Examined {
  readonly report: AuditReport
  readonly setAsides: readonly SetAside[]
}

/** What `tollgate audit` finds in this store. */
export async function examine(store: Store): Promise<Examined> {
  const report = await store.audit.run((cards) => {
    const book = createPriceBook(cards)
    return (row) => {
      const { priceVersion, multiplierPpm, units } = row
      const rate = priceVersion === null ? null : book.version(priceVersion, multiplierPpm)
      return rate?.charge(row, units) ?? null
    }
  })
  const isDamaged = report.findings.some(({ kind }) => kind === 'integrity')
  return { report, setAsides: isDamaged ? [] : await store.settlements.setAsides(mostShown) }
}

function view({ setAside, findings, ...counts }: AuditReport, setAsides: readonly SetAside[]) {
  return {
    ok: findings.length === 0,
    ...counts,
    findings,
    setAside,
    setAsides: setAsides.map(({ heldNano, at, ...kept }) => ({
      ...kept,
      heldNano: String(heldNano),
      at: timeText(at),
    })),
  }
}

function tell(report: AuditReport, setAsides: readonly SetAside[]): string {
  const { findings, setAside, transfers, usageRows, wallets } = report
  const parts = [
    `${transfers} transfers, ${usageRows} usage rows, ${wallets} wallets: ${findings.length === 0 ? 'no difference' : `${findings.length} findings`}.\n`,
  ]
  if (findings.length > 0) {
    const cells = findings.map(({ kind, subject, message }) => [kind, subject, message])
    parts.push(table(['KIND', 'SUBJECT', 'FINDING'], cells))
  }
  if (setAside > 0) {
    const cells = setAsides.map((each) => [
      each.requestId,
      each.account,
      formatUnits(each.heldNano),
      timeText(each.at),
      each.reason,
    ])
    parts.push(
      `${setAside} set aside: kept as they came, their money held.\n`,
      table(['REQUEST', 'ACCOUNT', 'HELD', 'AT', 'REASON'], cells),
    )
  }
  return parts.join('\n')
}
