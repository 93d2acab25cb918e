// `tollgate stats`: sums up usage by dimension or over time.

import { type Breakdown, type BreakdownFigures, readBreakdown } from '../admin/breakdown.ts'
import { readInput } from '../admin/input.ts'
import { readStatistics, type Statistics } from '../admin/statistics.ts'
import { breakdownCsv, keyNames, nameOf, pointText, seriesCsv } from '../admin/statistics-export.ts'
import { localOf, zoneIn } from '../admin/zone.ts'
import { promptTokens, replyTokens } from '../config/prices.ts'
import { formatUnits } from '../money.ts'
import type { Command, Context } from './command.ts'
import { type Cell, print, printJson, table } from './output.ts'
import { withStore } from './settings.ts'

export const stats: Command = {
  name: 'stats',
  words: [],
  summary: 'add up usage: by model, key and so on, or with --metric over time',
  options: {
    by: {
      type: 'string',
      value: 'A[,B]',
      help: 'up to two of model, key, group, operation, statusClass, tag, channel, account; model by default',
    },
    metric: {
      type: 'string',
      value: 'M',
      help: 'over time: spend, requests, tokens, errors, errorRate, cacheRate, ttftP50, ttftP95, latencyP50, latencyP95, throughput',
    },
    interval: {
      type: 'string',
      value: 'I',
      help: 'with --metric: quarter, hour, day, week, month; by default one that suits the range',
    },
    since: {
      type: 'string',
      value: 'T',
      help: 'from this time on: 24h (ago), 7d (default), 2027-01-31',
    },
    until: { type: 'string', value: 'T', help: 'up to this time; now by default' },
    zone: {
      type: 'string',
      value: 'Z',
      help: "time zone of the days: Asia/Kolkata; by default this machine's",
    },
    account: { type: 'string', value: 'A', help: 'only of this account' },
    key: { type: 'string', value: 'ID', help: 'only of this key' },
    model: { type: 'string', value: 'M', help: 'only of this model' },
    tag: { type: 'string', value: 'T', help: 'only of requests labelled so' },
    limit: {
      type: 'string',
      value: 'N',
      help: 'list this many groups separately, the rest together',
    },
    csv: { type: 'boolean', help: 'print CSV for a spreadsheet' },
  },
  fields: { timeZone: 'zone' },
  async run(context) {
    if (context.flags.has('metric')) await showSeries(context)
    else await showBreakdown(context)
    return undefined
  },
}

function given({ flags }: Context) {
  const named = ['since', 'until', 'account', 'key', 'model', 'tag'] as const
  return {
    ...Object.fromEntries(
      named.flatMap((name) => (flags.has(name) ? [[name, flags.text(name)]] : [])),
    ),
    ...(flags.has('limit') && { limit: flags.number('limit') }),
    timeZone: flags.text('zone') ?? Intl.DateTimeFormat().resolvedOptions().timeZone,
  }
}

async function showBreakdown(context: Context): Promise<void> {
  const by = context.flags.text('by') ?? 'model'
  const input = await readInput('readBreakdown', { ...given(context), by })
  const { found, names } = await withStore(context, async (admin) => {
    const found = await readBreakdown(admin, input)
    return { found, names: await keyNames(admin, found, {}) }
  })
  if (context.json) await printJson(found)
  else if (context.flags.has('csv')) await print([...breakdownCsv(found, names)].join(''))
  else await print(breakdownTable(found))
}

function breakdownTable({ by, currency, rows, totals }: Breakdown): string {
  const heading = by.join(' / ').toUpperCase()
  const lines = rows.map((row) => [nameOf(row.group, by, row.otherGroups), ...cellsOf(row)])
  return table(
    [heading, 'REQUESTS', 'FAILED', 'IN', 'CACHED', 'OUT', `SPEND ${currency}`, 'SHARE'],
    [...lines, ['all', ...cellsOf(totals)]],
  )
}

function cellsOf({ requests, failed, tokens, spendNano, share }: BreakdownFigures): Cell[] {
  return [
    requests,
    failed,
    promptTokens(tokens),
    tokens.cachedInput,
    replyTokens(tokens),
    formatUnits(BigInt(spendNano)),
    share === null ? null : `${(share * 100).toFixed(1)}%`,
  ]
}

async function showSeries(context: Context): Promise<void> {
  const { flags } = context
  const input = await readInput('readStatistics', {
    ...given(context),
    metric: flags.text('metric'),
    ...(flags.has('by') && { by: flags.text('by') }),
    ...(flags.has('interval') && { interval: flags.text('interval') }),
  })
  const { found, names } = await withStore(context, async (admin) => {
    const found = await readStatistics(admin, input)
    return { found, names: await keyNames(admin, found, {}) }
  })
  if (context.json) await printJson(found)
  else if (flags.has('csv')) await print([...seriesCsv(found, names)].join(''))
  else await print(seriesTable(found))
}

function seriesTable(found: Statistics): string {
  const { metric, unit, currency, timeZone, intervals, by, series, total } = found
  const zone = zoneIn(timeZone, Date.parse(found.since), Date.parse(found.until))
  const shown = [...series, total]
  const names = series.map(({ group, otherGroups }) => nameOf(group, by, otherGroups))
  const lines = intervals.map((from, place): Cell[] => {
    const local = new Date(localOf(zone, Date.parse(from))).toISOString().slice(0, 16)
    return [local.replace('T', ' '), ...shown.map((points) => pointText(points, place))]
  })
  const heading = `${metric} ${unit === 'nano' ? currency : unit}`.toUpperCase()
  return table(
    [`FROM (${timeZone})`, ...names, heading],
    [...lines, ['all', ...shown.map((points) => pointText(points, null))]],
  )
}
