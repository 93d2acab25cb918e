// `tollgate usage`: finished requests, newest first.

import { readInput } from '../admin/input.ts'
import type { Input } from '../admin/schema.ts'
import { listUsage, type Usage } from '../admin/usage.ts'
import type { AdminContext } from '../admin/use-case.ts'
import { promptTokens, replyTokens } from '../config/prices.ts'
import { type Command, UsageError } from './command.ts'
import { print, table } from './output.ts'
import { withStore } from './settings.ts'

/** Rows read at once, so that a long list needs no more memory than a short one. */
const pageRows = 5_000
const mostRows = 1_000_000

export const usage: Command = {
  name: 'usage',
  words: [],
  summary: 'list finished requests, newest first',
  options: {
    account: { type: 'string', value: 'A', help: 'only of this account' },
    key: { type: 'string', value: 'ID', help: 'only of this key' },
    model: { type: 'string', value: 'M', help: 'only those that asked for this model' },
    limit: { type: 'string', value: 'N', help: 'at most so many; 100 unless said, up to 1000000' },
    since: { type: 'string', value: 'T', help: 'only since then: 1h, 2d, 2027-01-31T08:00:00Z' },
  },
  async run(context) {
    const { flags } = context
    const total = flags.number('limit') ?? 100
    if (!(total >= 1 && total <= mostRows)) {
      throw new UsageError(
        `--limit ${flags.text('limit')}: expected a whole number from 1 to ${mostRows}`,
      )
    }
    const input = await readInput('listUsage', {
      account: flags.text('account'),
      key: flags.text('key'),
      model: flags.text('model'),
      since: flags.text('since'),
    })
    await withStore(context, (admin) => {
      const found = pages(admin, input, total)
      return context.json ? printAsJson(found) : printAsTable(found)
    })
    return undefined
  },
}

type Pages = AsyncIterable<readonly Usage[]>

async function* pages(
  admin: AdminContext,
  input: Input<'listUsage'>,
  total: number,
): AsyncGenerator<readonly Usage[]> {
  let cursor: string | null | undefined
  for (let left = total; left > 0 && cursor !== null; left -= pageRows) {
    const limit = Math.min(left, pageRows)
    const { items, next } = await listUsage(admin, { ...input, limit, cursor })
    if (items.length > 0) yield items
    cursor = next
  }
}

async function printAsJson(found: Pages): Promise<void> {
  let separator = '[\n'
  for await (const rows of found) {
    await print(separator + rows.map((row) => JSON.stringify(row)).join(',\n'))
    separator = ',\n'
  }
  await print(separator === '[\n' ? '[]\n' : '\n]\n')
}

const headings = [
  'AT',
  'REQUEST',
  'ACCOUNT',
  'KEY',
  'MODEL',
  'CHANNEL',
  'STATUS',
  'IN',
  'OUT',
  'COST',
  'MS',
  'ERROR',
]

async function printAsTable(found: Pages): Promise<void> {
  let shown = headings
  for await (const rows of found) {
    const cells = rows.map((row) => [
      row.at,
      row.requestId,
      row.account,
      row.keyName,
      row.model,
      row.channel,
      row.status,
      promptTokens(row.tokens),
      replyTokens(row.tokens),
      row.cost,
      row.durationMs,
      row.errorCode,
    ])
    const text = table(headings, cells)
    await print(shown.length > 0 ? text : text.slice(text.indexOf('\n') + 1))
    shown = []
  }
  if (shown.length > 0) await print(table(headings, []))
}
