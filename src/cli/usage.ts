// `tollgate usage`: lists finished requests, newest first, on the screen or in a file.

import { writeFile } from 'node:fs/promises'
import { readInput } from '../admin/input.ts'
import type { Input } from '../admin/schema.ts'
import { listUsage, type Usage } from '../admin/usage.ts'
import { exportRequests } from '../admin/usage-export.ts'
import type { AdminContext } from '../admin/use-case.ts'
import { promptTokens, replyTokens } from '../config/prices.ts'
import { type Command, type Context, type Flags, UsageError } from './command.ts'
import { print, printJson, say, table } from './output.ts'
import { withStore } from './settings.ts'

/** Rows read at once, so that a long list takes no more memory than a short one. */
const pageRows = 5_000
const mostRows = 1_000_000

const filters = {
  account: { type: 'string', value: 'A', help: 'only of this account' },
  key: { type: 'string', value: 'ID', help: 'only of this key' },
  model: { type: 'string', value: 'M', help: 'only requests for this model' },
  served: { type: 'string', value: 'M', help: "only requests answered by this vendor's model" },
  group: { type: 'string', value: 'G', help: 'only requests with keys of this group' },
  operation: {
    type: 'string',
    value: 'O',
    help: 'only this kind of request: chat, embedding, ...',
  },
  channel: {
    type: 'string',
    value: 'C',
    help: 'only requests whose last attempt used this channel',
  },
  client: {
    type: 'string',
    value: 'C',
    help: 'only from this client application: codex, openai-python, ...',
  },
  status: { type: 'string', value: 'N', help: 'only with this status' },
  class: { type: 'string', value: 'NXX', help: 'only with a status of this class: 2xx, 4xx, 5xx' },
  outcome: {
    type: 'string',
    value: 'O',
    help: 'ok: answered in full; failed: not; interrupted: failed after the status was sent',
  },
  error: { type: 'string', value: 'CODE', help: 'only with this error code' },
  stream: {
    type: 'string',
    value: 'true|false',
    help: 'true: only streamed replies; false: only whole ones',
  },
  tag: { type: 'string', value: 'T', help: 'only requests labelled so (x-tollgate-tag)' },
  'min-cost': { type: 'string', value: 'AMOUNT', help: 'only requests that cost at least this' },
  'min-latency': {
    type: 'string',
    value: 'MS',
    help: 'only requests that took at least this long',
  },
  id: { type: 'string', value: 'ID', help: 'the request whose reply had this x-request-id' },
  'vendor-id': { type: 'string', value: 'ID', help: 'only requests with this id at the vendor' },
  since: {
    type: 'string',
    value: 'T',
    help: 'only from this time on: 1h (ago), 2d, 2027-01-31T08:00:00Z',
  },
  until: { type: 'string', value: 'T', help: 'only before this time' },
} as const

const fields = {
  modelServed: 'served',
  statusClass: 'class',
  errorCode: 'error',
  minCost: 'min-cost',
  minLatencyMs: 'min-latency',
  vendorRequestId: 'vendor-id',
} as const

export const usage: Command = {
  name: 'usage',
  words: [],
  summary: 'list finished requests, newest first, or write them to a file',
  options: {
    ...filters,
    limit: { type: 'string', value: 'N', help: 'at most this many; 100 by default, up to 1000000' },
    export: {
      type: 'string',
      value: 'FILE',
      help: 'write all matching requests to this file; --export=- for standard output',
    },
    format: {
      type: 'string',
      value: 'csv|json',
      help: 'format of the file: csv (default), or json (a line for each request)',
    },
  },
  fields,
  async run(context) {
    const { flags } = context
    const file = flags.text('export')
    if (file !== undefined) return exportTo(context, file)
    if (flags.has('format')) throw new UsageError('--format is for --export')
    const total = flags.number('limit') ?? 100
    if (!(total >= 1 && total <= mostRows)) {
      throw new UsageError(
        `--limit ${flags.text('limit')}: expected a whole number from 1 to ${mostRows}`,
      )
    }
    const input = await readInput('listUsage', asked(flags))
    await withStore(context, (admin) => {
      const found = pages(admin, input, total)
      return context.json ? printAsJson(found) : printAsTable(found)
    })
    return undefined
  },
}

/** The filters by the field names of the use case's input. */
function asked(flags: Flags): Readonly<Record<string, string | undefined>> {
  const named = Object.fromEntries(Object.entries(fields).map(([field, flag]) => [flag, field]))
  return Object.fromEntries(
    Object.keys(filters).map((flag) => [named[flag] ?? flag, flags.text(flag)]),
  )
}

async function exportTo(context: Context, file: string): Promise<undefined> {
  const { flags } = context
  if (flags.has('limit'))
    throw new UsageError('--limit cannot be combined with --export, which writes all requests')
  const given = { ...asked(flags), format: flags.text('format') }
  const input = await readInput('exportRequests', given)
  await withStore(context, async (admin) => {
    const pieces = exportRequests(admin, input)
    if (file === '-') for await (const piece of pieces) await print(piece)
    else await writeFile(file, pieces)
  })
  if (file === '-') return undefined
  if (context.json) await printJson({ file, format: input.format })
  else say(`Written to ${file}.`)
  return undefined
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
