// Exports requests page after page, a line each, as CSV for a spreadsheet or as JSON for a program.

import { promptKinds, replyKinds } from '../config/prices.ts'
import { type Cell, csvLine } from './csv.ts'
import type { Input } from './schema.ts'
import { listOwnUsage, listUsage, type Owned, type OwnUsage, type Usage } from './usage.ts'
import type { AdminContext } from './use-case.ts'

/** Most rows held in memory at once. */
const pageRows = 500

/** Newest first; goes on only as fast as the client reads. */
export async function* exportRequests(
  context: AdminContext,
  { format, owner, ...input }: Input<'exportRequests'> & Owned,
): AsyncGenerator<string> {
  const columns = owner === undefined ? [...ownColumns, ...operatorColumns] : ownColumns
  // Sent with the first rows: a refusal must come before anything is sent.
  let head = format === 'csv' ? csvLine(columns.map(([name]) => name)) : ''
  let cursor: string | undefined
  do {
    const asked = { ...input, limit: pageRows, ...(cursor !== undefined && { cursor }) }
    const { items, next } =
      owner === undefined
        ? await listUsage(context, asked)
        : await listOwnUsage(context, { ...asked, owner })
    const lines = items.map((item) =>
      format === 'json'
        ? `${JSON.stringify(item)}\n`
        : csvLine(columns.map(([, cell]) => cell(item as Usage))),
    )
    if (head !== '' || lines.length > 0) yield head + lines.join('')
    head = ''
    cursor = next ?? undefined
  } while (cursor !== undefined)
}

type Column<Row> = readonly [name: string, cell: (row: Row) => Cell]

const tokenColumns = [...promptKinds, ...replyKinds].map(
  (kind): Column<OwnUsage> => [`${kind}Tokens`, ({ tokens }) => tokens[kind]],
)

const ownColumns: readonly Column<OwnUsage>[] = [
  ['at', ({ at }) => at],
  ['requestId', ({ requestId }) => requestId],
  ['account', ({ account }) => account],
  ['key', ({ key }) => key],
  ['keyName', ({ keyName }) => keyName],
  ['group', ({ group }) => group],
  ['operation', ({ operation }) => operation],
  ['model', ({ model }) => model],
  ['modelServed', ({ modelServed }) => modelServed],
  ['stream', ({ stream }) => String(stream)],
  ['status', ({ status }) => status],
  ['errorCode', ({ errorCode }) => errorCode],
  ...tokenColumns,
  ['units', ({ units }) => (units === null ? null : JSON.stringify(units))],
  ['usageSource', ({ usageSource }) => usageSource],
  ['cost', ({ cost }) => ({ units: cost })],
  ['chargeNano', ({ chargeNano }) => ({ units: chargeNano })],
  ['writeoffNano', ({ writeoffNano }) => ({ units: writeoffNano })],
  ['heldNano', ({ heldNano }) => ({ units: heldNano })],
  ['priceVersion', ({ priceVersion }) => priceVersion],
  ['multiplier', ({ multiplier }) => ({ units: multiplier })],
  ['attempts', ({ attempts }) => attempts],
  ['ttftMs', ({ ttftMs }) => ttftMs],
  ['durationMs', ({ durationMs }) => durationMs],
  ['client', ({ client }) => client],
  ['clientVersion', ({ clientVersion }) => clientVersion],
  ['clientAddress', ({ clientAddress }) => clientAddress ?? null],
  ['clientRequestId', ({ clientRequestId }) => clientRequestId ?? null],
  ['vendorRequestId', ({ vendorRequestId }) => vendorRequestId],
  ['tag', ({ tag }) => tag ?? null],
]

const operatorColumns: readonly Column<Usage>[] = [
  ['channel', ({ channel }) => channel],
  ['vendor', ({ vendor }) => vendor],
  ['vendorCostNano', ({ vendorCostNano }) => ({ units: vendorCostNano })],
  ['errorCause', ({ errorCause }) => errorCause],
]
