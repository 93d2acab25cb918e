// Groups and models as operators see them: what the file and the store define, and which of both is in force.

import { emptyGroup, emptyModel } from '../config/build.ts'
import type { StoredItem } from '../store/configuration.ts'
import { type Page, pageOf } from './page.ts'
import type { Input } from './schema.ts'
import { type Document, readStored } from './stored-items.ts'
import { timeText } from './time.ts'
import { type AdminContext, AdminError } from './use-case.ts'
import type { Stored, StoredRooms } from './with-stored.ts'

type Kind = 'group' | 'model'

interface ItemView {
  readonly id: string
  /** The source of the definition in force. */
  readonly origin: 'file' | 'built-in' | 'stored'
  /** The item as the file would write it, with every default. */
  readonly document: Document
  /** The store defines this name too, but the file takes precedence. */
  readonly overridden: boolean
  /** Revision of the stored item; 0: it is not stored. */
  readonly revision: number
  readonly changedAt: string | null
  readonly actor: string | null
}

/** Items of the file and of the store, sorted by name. */
export async function listItems(
  context: AdminContext,
  rooms: StoredRooms,
  kind: Kind,
  page: Input<'listGroups'>,
): Promise<Page<ItemView>> {
  return pageOf(viewsOf(await readStored(context, rooms), kind), ({ id }) => id, page)
}

export async function showItem(
  context: AdminContext,
  rooms: StoredRooms,
  kind: Kind,
  id: string,
): Promise<ItemView> {
  const found = viewsOf(await readStored(context, rooms), kind).find((view) => view.id === id)
  if (found !== undefined) return found
  throw new AdminError('not_found', 'id', `there is no ${kind} ${JSON.stringify(id)}`)
}

function viewsOf({ items, declared }: Stored, kind: Kind): readonly ItemView[] {
  const stored = new Map(
    items.flatMap((item) => (item.kind === kind ? [[item.id, item] as const] : [])),
  )
  const said = kind === 'group' ? declared.groups : declared.models
  const declaredViews = Object.entries(said).flatMap(([id, { origin = 'file', ...document }]) => {
    const item = stored.get(id)
    // A stored item replaces a built-in one.
    if (item !== undefined && origin !== 'file') return []
    return viewOf(id, origin, withoutId(document), item)
  })
  const empty = kind === 'group' ? emptyGroup : emptyModel
  const others = [...stored.values()].filter(({ id }) =>
    declaredViews.every((view) => view.id !== id),
  )
  const storedViews = others.map((item) =>
    viewOf(item.id, 'stored', { ...empty, ...item.document }, item),
  )
  return [...declaredViews, ...storedViews]
}

function withoutId({ id: _, ...document }: Document): Document {
  return document
}

function viewOf(
  id: string,
  origin: ItemView['origin'],
  document: Document,
  item: StoredItem | undefined,
): ItemView {
  return {
    id,
    origin,
    document,
    overridden: item !== undefined && origin !== 'stored',
    revision: item?.revision ?? 0,
    changedAt: timeText(item?.changedAt ?? null),
    actor: item?.actor ?? null,
  }
}
