// What operators did, as they are shown.

import type { OperatorEvent } from '../store/control.ts'
import { cursorAfter, type Page, timePlace } from './page.ts'
import type { Input } from './schema.ts'
import { timeText } from './time.ts'
import type { AdminContext } from './use-case.ts'

type Event = Omit<OperatorEvent, 'at'> & { readonly at: string }

/** Newest first. */
export async function listEvents(
  { store }: AdminContext,
  { actor, action, since, until, limit = 50, cursor }: Input<'listEvents'>,
): Promise<Page<Event>> {
  const before = timePlace(cursor)
  const rows = await store.operatorEvents.list({ actor, action, since, until, before, limit })
  const last = rows.at(-1)
  return {
    items: rows.map((row) => ({ ...row, at: timeText(row.at) })),
    next: last === undefined || rows.length < limit ? null : cursorAfter(`${last.at} ${last.id}`),
  }
}
