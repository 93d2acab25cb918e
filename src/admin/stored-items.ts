// Channels, groups and models made at run time: create, change, remove, roll back; each change is a version.

import { emptyChannel, emptyGroup, emptyModel } from '../config/build.ts'
import type { ChannelConfig, StoredKind } from '../config/types.ts'
import type { SecretBox } from '../identity/secret-box.ts'
import type { StoredItem, StoredVersion } from '../store/configuration.ts'
import { vendors } from '../vendors/registry.ts'
import {
  decryptSecrets,
  encryptSecrets,
  hideSecrets,
  keepSecrets,
  sharesSecret,
  withoutSecrets,
} from './channel-secrets.ts'
import { readInput } from './input.ts'
import { cursorAfter, type Page, placeIn } from './page.ts'
import type { Input } from './schema.ts'
import { checkAreUnused } from './stored-uses.ts'
import { timeText } from './time.ts'
import { type AdminContext, AdminError } from './use-case.ts'
import { isDeclared, type Stored, type StoredRooms, withStored } from './with-stored.ts'

export type Document = Readonly<Record<string, unknown>>

export interface ItemChange {
  readonly kind: StoredKind
  readonly id: string
  /** The document as in the file, secrets included; null: the item is removed. */
  readonly document: Document | null
  /** The revision that was read; undefined: any. */
  readonly revision?: number | undefined
}

/** A change without secrets, for the list of operator events. */
export interface Changed {
  readonly id: string
  readonly before: Document | null
  readonly after: Document | null
}

/** The default document of each kind. */
const empty: Readonly<Record<StoredKind, Document>> = {
  channel: emptyChannel,
  group: emptyGroup,
  model: emptyModel,
}
const inputOf = { channel: 'storedChannel', group: 'storedGroup', model: 'storedModel' } as const

export async function readStored(
  { store }: Pick<AdminContext, 'store'>,
  rooms: StoredRooms,
): Promise<Stored> {
  // The revision is read first, so that a change between the reads is noticed on writing.
  const readAt = await store.configuration.revision()
  return { ...rooms, readAt, items: await store.configuration.all() }
}

/** Throws AdminError: `conflict` where the name exists already, in the store or in the file. */
export async function createItem(
  context: AdminContext,
  rooms: StoredRooms,
  kind: StoredKind,
  { id, ...document }: Document & { readonly id: string },
): Promise<Changed> {
  const [changed] = await applyChanges(context, rooms, (stored) => {
    if (findItem(stored, kind, id) !== undefined) {
      const message = `there is a stored ${kind} of this name already`
      throw new AdminError('conflict', 'id', message, 'name_taken')
    }
    return [{ kind, id, document }]
  })
  return madeSure(changed)
}

/** Members left out of `changes` keep their values; null returns one to its default. */
export async function updateItem(
  context: AdminContext,
  rooms: StoredRooms,
  kind: StoredKind,
  { id, changes, revision }: Input<'changeItem'>,
): Promise<Changed> {
  if ('id' in changes && changes.id !== id) {
    throw new AdminError('invalid', 'id', 'cannot be changed: create another, and delete this one')
  }
  const [changed] = await applyChanges(context, rooms, (stored) => [
    { kind, id, revision, document: merged(existing(stored, kind, id), changes, rooms.box) },
  ])
  return madeSure(changed)
}

/** Throws AdminError `conflict` where something refers to the item. */
export async function removeItem(
  context: AdminContext,
  rooms: StoredRooms,
  kind: StoredKind,
  { id, revision }: Input<'removeItem'>,
): Promise<Changed> {
  const [changed] = await applyChanges(context, rooms, (stored) => {
    if (existing(stored, kind, id).revision === 0) {
      throw new AdminError('conflict', 'id', 'is built in and cannot be deleted', 'built_in')
    }
    return [{ kind, id, revision, document: null }]
  })
  return madeSure(changed)
}

/** Makes the document of an earlier version the newest one, also for a removed item. */
export async function rollbackItem(
  context: AdminContext,
  rooms: StoredRooms,
  kind: StoredKind,
  { id, version, revision }: Input<'rollbackItem'>,
): Promise<Changed> {
  const { configuration } = context.store
  const [found] = await configuration.versions({ kind, id, before: version + 1, limit: 1 })
  const earlier = found?.revision === version ? found.document : null
  if (earlier === null) {
    const message = `${JSON.stringify(id)} has no version ${version} that could be restored`
    throw new AdminError('not_found', 'version', message)
  }
  const document = plainOf({ kind, id, document: earlier }, rooms.box)
  const [changed] = await applyChanges(context, rooms, () => [{ kind, id, revision, document }])
  return madeSure(changed)
}

interface VersionView {
  readonly version: number
  /** Without secrets; null: the item was removed. */
  readonly document: Document | null
  readonly changedAt: string
  readonly actor: string
}

/** Newest first. Throws AdminError `not_found` where the item never existed. */
export async function listVersions(
  { store }: AdminContext,
  kind: StoredKind,
  { id, limit = 50, cursor }: Input<'listVersions'>,
): Promise<Page<VersionView>> {
  const before = cursor === undefined ? undefined : Number(placeIn(cursor))
  if (before !== undefined && !Number.isSafeInteger(before)) {
    throw new AdminError('invalid', 'cursor', 'is not the `next` of a page of this list')
  }
  const rows = await store.configuration.versions({ kind, id, before, limit: limit + 1 })
  if (rows.length === 0 && before === undefined) throw notFound(kind, id)
  const shown = rows.slice(0, limit)
  const last = rows.length > limit ? shown.at(-1) : undefined
  return {
    items: shown.map((row) => versionView(kind, row)),
    next: last === undefined ? null : cursorAfter(String(last.revision)),
  }
}

function versionView(kind: StoredKind, row: StoredVersion): VersionView {
  return {
    version: row.revision,
    document: row.document === null ? null : shown(kind, row.document),
    changedAt: timeText(row.changedAt),
    actor: row.actor,
  }
}

/**
 * Applies all of the changes or none, checked by the same schema and rules as the file. `plan` makes the changes from
 * the stored state, and is called again where that changed meanwhile. Throws AdminError.
 */
export async function applyChanges(
  context: AdminContext,
  rooms: StoredRooms,
  plan: (stored: Stored) => readonly ItemChange[],
): Promise<readonly Changed[]> {
  const { store, actor, nowMs: changedAt } = context
  for (;;) {
    const stored = await readStored(context, rooms)
    const changes = await Promise.all(plan(stored).map((each) => judged(stored, each)))
    const removed = changes.filter(({ document }) => document === null)
    await checkAreUnused(context, stored, removed)
    checkTogether(stored, changes)
    const rows = changes.map(({ kind, id, document }) => ({ kind, id, document, changedAt, actor }))
    if (await store.configuration.change(rows, stored.readAt)) {
      return changes.map((change) => changedBy(stored, change))
    }
  }
}

/** The channel as it would be if it were stored. Throws AdminError. */
export async function draftChannel(
  context: AdminContext,
  rooms: StoredRooms,
  { id, ...said }: Document & { readonly id: string },
): Promise<ChannelConfig> {
  const stored = await readStored(context, rooms)
  const found = findItem(stored, 'channel', id)
  const document = found === undefined ? said : merged(found, said, rooms.box)
  const change = await judged(stored, { kind: 'channel', id, document })
  checkTogether(stored, [change])
  const kept = { kind: 'channel', id, document: change.document ?? {} } as const
  const item: StoredItem = { ...kept, revision: 0, changedAt: 0, actor: '' }
  const groups = stored.items.filter(({ kind }) => kind === 'group')
  const config = withStored(rooms.declared, [...groups, item], rooms.box)
  const draft = config.channels.find((channel) => channel.id === id)
  if (draft !== undefined) return draft
  throw new AdminError('invalid', 'channel', config.leftOut[0]?.problem ?? 'does not fit')
}

/** What a change would do, without secrets, or why it would be refused. */
export async function foreseen(
  stored: Stored,
  make: () => ItemChange,
): Promise<Changed | { readonly problem: string }> {
  try {
    const change = await judged(stored, make())
    checkTogether(stored, [change])
    return changedBy(stored, change)
  } catch (error) {
    if (!(error instanceof AdminError)) throw error
    return { problem: `${error.field}: ${error.message}` }
  }
}

/** The document to store: checked by the schema, without defaults, with its secrets encrypted. */
async function judged(stored: Stored, change: ItemChange): Promise<ItemChange> {
  const { kind, id, document, revision } = change
  if (isDeclared(stored.declared, change)) {
    throw inFile()
  }
  const found = findItem(stored, kind, id)
  if (revision !== undefined && revision !== (found?.revision ?? 0)) {
    const message = 'it was changed since it was read: read it again, then repeat the change'
    throw new AdminError('stale', 'revision', message)
  }
  if (document === null) return change
  const { id: _, ...read } = await readInput(inputOf[kind], { ...document, id })
  const said = Object.fromEntries(
    Object.entries(read).filter(
      ([name, value]) => JSON.stringify(value) !== JSON.stringify(empty[kind][name]),
    ),
  )
  return { ...change, document: kind === 'channel' ? encryptSecrets(id, said, stored.box) : said }
}

/** Throws AdminError where an item would not fit the changed configuration, unless it did not fit before. */
function checkTogether(stored: Stored, changes: readonly ItemChange[]): void {
  const { declared, box, items } = stored
  const isChanged = ({ kind, id }: StoredItem) =>
    changes.some((change) => change.kind === kind && change.id === id)
  const made = changes.flatMap(({ kind, id, document }) =>
    document === null ? [] : [{ kind, id, document, revision: 0, changedAt: 0, actor: '' }],
  )
  const before = withStored(declared, items, box).leftOut
  const after = [...items.filter((item) => !isChanged(item)), ...made]
  for (const { kind, id, problem } of withStored(declared, after, box).leftOut) {
    if (made.some((each) => each.kind === kind && each.id === id)) {
      const [, field = kind, message = problem] = /^([\w.[\]"]+): ([^]+)$/.exec(problem) ?? []
      throw new AdminError('invalid', field, message)
    }
    if (before.some((each) => each.kind === kind && each.id === id)) continue
    throw new AdminError('conflict', 'id', `${kind} ${id} would no longer be valid: ${problem}`)
  }
}

function changedBy(stored: Stored, { kind, id, document }: ItemChange): Changed {
  const before = findItem(stored, kind, id)?.document ?? null
  return {
    id,
    before: before && shown(kind, before),
    after: document && shown(kind, document),
  }
}

function shown(kind: StoredKind, document: Document): Document {
  return kind === 'channel' ? hideSecrets(document) : document
}

export function findItem(
  { items }: Pick<Stored, 'items'>,
  kind: StoredKind,
  id: string,
): StoredItem | undefined {
  return items.find((item) => item.kind === kind && item.id === id)
}

/** Throws AdminError `conflict` for an item of the file, `not_found` for an unknown one. */
function existing(stored: Stored, kind: StoredKind, id: string): StoredItem {
  const found = findItem(stored, kind, id)
  if (found !== undefined) return found
  // A built-in group can be changed.
  if (kind === 'group' && stored.declared.groups[id]?.origin === 'built-in')
    return { kind, id, document: {}, revision: 0, changedAt: 0, actor: '' }
  if (isDeclared(stored.declared, { kind, id })) {
    throw inFile()
  }
  throw notFound(kind, id)
}

function inFile(): AdminError {
  const message = 'it is declared in the configuration file: change it there'
  return new AdminError('conflict', 'id', message, 'in_configuration_file')
}

function notFound(kind: StoredKind, id: string): AdminError {
  return new AdminError('not_found', 'id', `there is no stored ${kind} ${JSON.stringify(id)}`)
}

/** The document to change: its secrets decrypted, or emptied where they cannot be decrypted. */
export function plainOf(
  { kind, id, document }: Pick<StoredItem, 'kind' | 'id' | 'document'>,
  box: SecretBox,
): Document {
  if (kind !== 'channel') return document
  try {
    return decryptSecrets(id, document, box)
  } catch {
    return withoutSecrets(document)
  }
}

export function merged(item: StoredItem, changes: Document, box: SecretBox): Document {
  const { kind } = item
  const before = plainOf(item, box)
  const after = { ...before, ...changes }
  if (kind !== 'channel') return after
  const whole = keepSecrets(before, changes, after)
  const isElsewhere = ['vendor', 'baseUrl'].some(
    (name) => (whole[name] ?? null) !== (before[name] ?? null),
  )
  if (isElsewhere && sharesSecret(before, whole)) {
    const message = 'enter the secrets again: they are not sent to another address unasked'
    throw new AdminError('invalid', 'keys', message)
  }
  const isOtherProxy = whole.proxy != null && whole.proxy !== before.proxy
  if (isOtherProxy && !isEncrypted(whole) && sharesSecret(before, whole)) {
    const message =
      'the proxy can read requests to a vendor without TLS: enter the secrets again as well'
    throw new AdminError('invalid', 'proxy', message)
  }
  // Both `state` and `disabled` tell whether it takes requests: the one set last counts.
  return changes.state != null && !('disabled' in changes) ? { ...whole, disabled: null } : whole
}

function isEncrypted({ vendor, baseUrl }: Document): boolean {
  const address = baseUrl ?? vendors[String(vendor)]?.baseUrl ?? ''
  return String(address).startsWith('https:')
}

function madeSure(changed: Changed | undefined): Changed {
  if (changed === undefined) throw new Error('a change of one thing has no result')
  return changed
}
