// Lists operator events, and exports them as a file.

import type { OperatorEvent } from '../store/control.ts'
import { csvLine } from './csv.ts'
import { cursorAfter, type Page, timePlace } from './page.ts'
import type { Input } from './schema.ts'
import { timeText } from './time.ts'
import { type AdminContext, AdminError } from './use-case.ts'

type Event = Omit<OperatorEvent, 'at'> & { readonly at: string }

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
