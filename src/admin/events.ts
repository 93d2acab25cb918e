// Adds operator events, lists them, and exports them as a file.

import { newRequestId } from '../history/caller.ts'
import type { OperatorEvent } from '../store/control.ts'
import { csvLine } from './csv.ts'
import { cursorAfter, type Page, timePlace } from './page.ts'
import type { Input } from './schema.ts'
import { timeText } from './time.ts'
import { type AdminContext, AdminError } from './use-case.ts'

type Event = Omit<OperatorEvent, 'at'> & { readonly at: string }

/** Fields whose values are never recorded, at any depth. Numbers of tokens are no secret. */
const secret = /secret|password|token(?!s)|private|authorization/i
const shown = '(not kept)'
const deepest = 8

/** Leaves secrets out of the detail and the changes. */
export async function addEvent(
  { operatorEvents }: Pick<AdminContext['store'], 'operatorEvents'>,
  event: Omit<OperatorEvent, 'id' | 'at'>,
): Promise<void> {
  const at = Date.now()
  await operatorEvents.add({
    ...event,
    // Lists sort by this id: it keeps the order also within a millisecond.
    id: newRequestId(at).replace('req_', 'evt_'),
    at,
    detail: withoutSecrets(event.detail, 0) as OperatorEvent['detail'],
    changes: withoutSecrets(event.changes, 0) as OperatorEvent['changes'],
  })
}

function withoutSecrets(value: unknown, depth: number): unknown {
  if (typeof value === 'bigint') return String(value)
  if (typeof value !== 'object' || value === null) return value
  if (depth >= deepest) return shown
  if (Array.isArray(value)) return value.map((item) => withoutSecrets(item, depth + 1))
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [
      name,
      secret.test(name) ? shown : withoutSecrets(item, depth + 1),
    ]),
  )
}

/** The id of what a use case made, where it answers with one. */
export function madeBy(result: unknown): { readonly id?: string } {
  if (typeof result !== 'object' || result === null || !('id' in result)) return {}
  return typeof result.id === 'string' ? { id: result.id } : {}
}

/** Most rows held in memory at once. */
const pageRows = 500

/** Newest first. */
export async function listEvents(
  { store }: Pick<AdminContext, 'store'>,
  { limit = 50, cursor, ...filter }: Input<'listEvents'>,
): Promise<Page<Event>> {
  const before = timePlace(cursor)
  const rows = await store.operatorEvents.list({ ...filter, before, limit })
  const last = rows.at(-1)
  return {
    items: rows.map(viewOf),
    next: last === undefined || rows.length < limit ? null : cursorAfter(`${last.at} ${last.id}`),
  }
}

/** Throws AdminError `not_found`. */
export async function showEvent(
  { store }: Pick<AdminContext, 'store'>,
  { id }: { readonly id: string },
): Promise<Event> {
  const [row] = await store.operatorEvents.list({ id, limit: 1 })
  if (row !== undefined) return viewOf(row)
  throw new AdminError('not_found', 'id', `there is no event ${JSON.stringify(id)}`)
}

function viewOf(row: OperatorEvent): Event {
  return { ...row, at: timeText(row.at) }
}

const columns = ['at', 'id', 'actor', 'role', 'action', 'address'] as const

/** As lines of CSV or JSON, newest first; reads page after page. */
export async function* exportEvents(
  context: Pick<AdminContext, 'store'>,
  { format, ...filter }: Input<'exportEvents'>,
): AsyncGenerator<string> {
  if (format === 'csv') yield csvLine([...columns, 'target', 'detail', 'changes'])
  let cursor: string | undefined
  do {
    const page = await listEvents(context, { ...filter, limit: pageRows, cursor })
    const lines = page.items.map((item) =>
      format === 'json' ? `${JSON.stringify(item)}\n` : lineOf(item),
    )
    if (lines.length > 0) yield lines.join('')
    cursor = page.next ?? undefined
  } while (cursor !== undefined)
}

function lineOf(event: Event): string {
  const { target, detail, changes } = event
  return csvLine([
    ...columns.map((name) => event[name]),
    JSON.stringify(target),
    JSON.stringify(detail),
    changes === null ? null : JSON.stringify(changes),
  ])
}
