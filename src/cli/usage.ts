// `tollgate usage`: finished requests, newest first.

import type { PriceBook } from '../meter/meter.ts'
import { createPriceBook } from '../meter/price-book.ts'
import { formatUnits } from '../money.ts'
import type { Store, UsageFilter, UsageRow } from '../store/store.ts'
import type { Command, Context } from './command.ts'
import { print, table, timeText } from './output.ts'
import { withStore } from './settings.ts'
import { readSince } from './time.ts'

/** Rows read at once, so that a long list needs no more memory than a short one. */
const pageRows = 5_000

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
    const filter = readFilter(context)
    await withStore(context, (store) =>
      context.json ? printAsJson(store, filter) : printAsTable(store, filter),
    )
    return undefined
  },
}

function readFilter({ flags, nowMs }: Context): UsageFilter {
  const account = flags.text('account')
  const key = flags.text('key')
  const model = flags.text('model')
  const since = flags.text('since')
  return {
    ...(account !== undefined && { account }),
    ...(key !== undefined && { key }),
    ...(model !== undefined && { model }),
    ...(since !== undefined && { since: readSince('since', since, nowMs) }),
    limit: flags.count('limit', 1_000_000) ?? 100,
  }
}

async function* pages(store: Store, filter: UsageFilter): AsyncGenerator<readonly UsageRow[]> {
  let left = filter.limit
  let before: UsageFilter['before']
  while (left > 0) {
    const limit = Math.min(left, pageRows)
    const rows = await store.usage.list({ ...filter, ...(before && { before }), limit })
    if (rows.length > 0) yield rows
    if (rows.length < limit) return
    before = rows.at(-1)
    left -= rows.length
  }
}

async function printAsJson(store: Store, filter: UsageFilter): Promise<void> {
  const book = createPriceBook(await store.prices.all())
  let separator = '[\n'
  for await (const rows of pages(store, filter)) {
    await print(separator + rows.map((row) => JSON.stringify(usageView(row, book))).join(',\n'))
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

async function printAsTable(store: Store, filter: UsageFilter): Promise<void> {
  let shown = headings
  for await (const rows of pages(store, filter)) {
    const cells = rows.map((row) => [
      timeText(row.at),
      row.requestId,
      row.account,
      row.keyName,
      row.modelAsked,
      row.channel,
      row.status,
      promptTokens(row),
      replyTokens(row),
      formatUnits(row.chargeNano),
      row.durationMs,
      row.errorCode,
    ])
    const text = table(headings, cells)
    await print(shown.length > 0 ? text : text.slice(text.indexOf('\n') + 1))
    shown = []
  }
  if (shown.length > 0) await print(table(headings, []))
}

function promptTokens(row: UsageRow): number {
  const cached = row.cachedInput + row.cacheWrite + row.cacheWrite1h
  return row.input + cached + row.audioInput + row.imageInput
}

function replyTokens(row: UsageRow): number {
  return row.output + row.reasoning + row.audioOutput + row.imageOutput
}

/** A request as the outside sees it. */
function usageView(row: UsageRow, book: PriceBook) {
  return {
    requestId: row.requestId,
    at: timeText(row.at),
    account: row.account,
    key: row.key,
    keyName: row.keyName,
    group: row.group,
    operation: row.operation,
    model: row.modelAsked,
    modelServed: row.modelServed,
    channel: row.channel,
    vendor: row.vendor,
    attempts: row.attempts,
    stream: row.stream,
    status: row.status,
    tokens: {
      input: row.input,
      cachedInput: row.cachedInput,
      cacheWrite: row.cacheWrite,
      cacheWrite1h: row.cacheWrite1h,
      audioInput: row.audioInput,
      imageInput: row.imageInput,
      output: row.output,
      reasoning: row.reasoning,
      audioOutput: row.audioOutput,
      imageOutput: row.imageOutput,
    },
    units: row.units,
    usageSource: row.usageSource,
    chargeNano: String(row.chargeNano),
    writeoffNano: String(row.writeoffNano),
    vendorCostNano: String(row.vendorCostNano),
    priceVersion: row.priceVersion,
    multiplier: multiplierText(row.multiplierPpm),
    formula: formulaOf(row, book),
    failedAttempts: row.failedAttempts ?? [],
    ttftMs: row.ttftMs,
    durationMs: row.durationMs,
    errorCode: row.errorCode,
    errorCause: row.errorCause,
  }
}

/** Millionths as a decimal: `1`, `0.85`. */
function multiplierText(ppm: number): string {
  return formatUnits(BigInt(ppm) * 1000n)
}

/** How the charge came about; null where the request was never priced, or by a card made since the list began. */
function formulaOf(row: UsageRow, book: PriceBook): string | null {
  if (row.priceVersion === null) return null
  return book.version(row.priceVersion, row.multiplierPpm)?.explain(row, row.units) ?? null
}
