// Keys that call models: create, list, edit, rotate, disable, remove.

import type { KeyConfig } from '../config/types.ts'
import { createSecret, hashSecret, hintOf, randomBase62, startOf } from '../identity/secret.ts'
import { type KeyRow, unrestrictedKey } from '../store/keys.ts'
import type { Store } from '../store/store.ts'
import {
  allowedGroup,
  checkGroup,
  checkNotDeleted,
  checkOwnGroup,
  checkRoom,
  groupsOf,
} from './key-group.ts'
import {
  dayBefore,
  isDeclared,
  type Key,
  rowOfDeclared,
  spendingOf,
  startsOf,
  statusOf,
  viewsOf,
} from './key-view.ts'
import { cursorAfter, type Page, placeIn } from './page.ts'
import { isOfPlayground } from './playground-key.ts'
import type { Input } from './schema.ts'
import { timeText } from './time.ts'
import { type AdminContext, AdminError } from './use-case.ts'

type KeyWithSecret = Key & { readonly secret: string }

/**
 * Creates the account where it is missing; refuses a deleted one, and one that has `most` keys or more. The secret is
 * shown in this reply only.
 */
export async function createKey(
  admin: AdminContext,
  input: Input<'createKey'>,
  most = Number.POSITIVE_INFINITY,
): Promise<KeyWithSecret> {
  const { store, nowMs } = admin
  const { account, name, showCost } = input
  checkNotDeleted(account, await store.people.find(account))
  const group = await allowedGroup(store, account, input.group)
  await checkRoom(store, account, most)
  const secret = createSecret()
  const row: KeyRow = {
    ...narrowed(unrestrictedKey, input),
    id: `key_${randomBase62(16)}`,
    name,
    account,
    group,
    hash: hashSecret(secret),
    hint: hintOf(secret),
    start: startOf(secret),
    createdAt: nowMs,
    showCost,
  }
  await store.accounts.ensure(account, nowMs)
  await store.keys.insert(row)
  return { ...(await viewOf(admin, row)), secret }
}

/** `declared`: keys of the configuration file, listed with the others. Oldest first by default. */
export async function listKeys(
  admin: AdminContext,
  input: Input<'listKeys'>,
  declared: readonly KeyConfig[] = [],
): Promise<Page<Key>> {
  const { sort = 'created', order = 'asc', limit, cursor } = input
  const stored = await storedKeys(admin.store, input)
  const found = [...declared.map(rowOfDeclared), ...stored].filter((row) =>
    isWanted(row, input, admin.nowMs),
  )
  const placeOf = await placesBy(sort, found, admin)
  const forward = order === 'asc' ? 1 : -1
  const sorted = found
    .map((row) => ({ row, place: `${placeOf(row)}\0${row.id}` }))
    .sort((one, other) => (one.place < other.place ? -forward : forward))
  const after = cursor === undefined ? null : placeAfter(cursor, `${sort} ${order}`)
  const left = sorted.filter(
    ({ place }) => after === null || (forward > 0 ? place > after : place < after),
  )
  const shown = left.slice(0, limit)
  const last = shown.at(-1)
  return {
    items: await viewsOf(
      admin,
      shown.map(({ row }) => row),
    ),
    next:
      last === undefined || shown.length === left.length
        ? null
        : cursorAfter(`${sort} ${order}\0${last.place}`),
  }
}

/** Those that were asked for by id are read one by one, so that few of many keys are found quickly. */
async function storedKeys({ keys }: Store, { ids, account }: Input<'listKeys'>) {
  if (ids === undefined) return keys.all(account)
  const found = await Promise.all([...new Set(ids)].map((id) => keys.find(id)))
  return found.filter((row) => row !== null)
}

/** Counts keys by state and sums their spend; removed keys and those of the playground are left out. */
export async function summarizeKeys(
  { store, nowMs, currency }: AdminContext,
  { account }: Pick<Input<'listKeys'>, 'account'>,
  declared: readonly KeyConfig[] = [],
) {
  const own = declared.filter((key) => account === undefined || key.account === account)
  const stored = (await store.keys.all(account)).filter((row) => !isOfPlayground(row))
  const rows = [...own.map(rowOfDeclared), ...stored]
  const countOf = (status: Key['status']) =>
    rows.filter((row) => statusOf(row, nowMs) === status).length
  const starts = startsOf(nowMs)
  return {
    active: countOf('active'),
    disabled: countOf('disabled'),
    expired: countOf('expired'),
    currency: await currency(),
    today: await spentTogether(store, rows, starts.today),
    month: await spentTogether(store, rows, starts.month),
  }
}

async function spentTogether(store: Store, rows: readonly KeyRow[], since: number) {
  const each = [...(await spendingOf(store, rows, since)).values()]
  return {
    requests: each.reduce((sum, { requests }) => sum + requests, 0),
    chargeNano: each.reduce((sum, { chargeNano }) => sum + chargeNano, 0n).toString(),
  }
}

export async function showKey(
  admin: AdminContext,
  { id, owner }: Input<'key'>,
  declared: readonly KeyConfig[] = [],
): Promise<Key> {
  return viewOf(admin, await keyAt(admin.store, { id, owner }, declared))
}

/** Fields left out keep their values; null removes a limit. */
export async function updateKey(admin: AdminContext, input: Input<'updateKey'>): Promise<Key> {
  const { store } = admin
  const row = await edit(store, input, async (before) => {
    const { name = before.name, group = before.group, showCost = before.showCost } = input
    if (group !== before.group) await checkGroup(store, before.account, group)
    return { ...narrowed(before, input), name, group, showCost }
  })
  return viewOf(admin, row)
}

/** The new secret is shown in this reply only. The previous one works for `overlapSeconds` more; older ones stop. */
export async function rotateKey(
  admin: AdminContext,
  input: Input<'rotateKey'>,
): Promise<KeyWithSecret> {
  const { overlapSeconds } = input
  const secret = createSecret()
  const row = await edit(admin.store, input, async (before) => ({
    ...before,
    hash: hashSecret(secret),
    hint: hintOf(secret),
    start: startOf(secret),
    previous:
      overlapSeconds === 0
        ? null
        : { hash: before.hash, until: admin.nowMs + overlapSeconds * 1_000 },
  }))
  return { ...(await viewOf(admin, row)), secret }
}

/** Stops a key within a second; it stays in the list. */
export async function disableKey(admin: AdminContext, input: Input<'key'>): Promise<Key> {
  const { store, nowMs } = admin
  const { id } = await storedKey(store, input)
  if (!(await store.keys.disable(id, nowMs))) throw noKey(id)
  return showKey(admin, input)
}

/** Undoes `disableKey` within a second. */
export async function enableKey(admin: AdminContext, input: Input<'key'>): Promise<Key> {
  const row = await edit(admin.store, input, async (before) => ({ ...before, disabledAt: null }))
  return viewOf(admin, row)
}

/** Stops a key within a second and deletes it; its usage records stay. */
export async function removeKey({ store }: AdminContext, input: Input<'key'>): Promise<void> {
  const { id } = await storedKey(store, input)
  if (!(await store.keys.remove(id))) throw noKey(id)
}

/** What depends on the key: shown before it is removed. */
export async function keyImpact(
  admin: AdminContext,
  { id, owner }: Input<'key'>,
  declared: readonly KeyConfig[] = [],
) {
  const { store, nowMs } = admin
  const row = await keyAt(store, { id, owner }, declared)
  const lately = await spendingOf(store, [row], dayBefore(nowMs))
  const { lastUsed, month, currency } = await viewOf(admin, row)
  return {
    id: row.id,
    /** Counted from 24 hours ago, rounded down to a quarter of an hour. */
    requestsLastDay: lately.get(row.id)?.requests ?? 0,
    since: timeText(dayBefore(nowMs)),
    lastUsed,
    currency,
    month,
  }
}

async function viewOf(admin: AdminContext, row: KeyRow): Promise<Key> {
  const [view] = await viewsOf(admin, [row])
  if (view === undefined) throw new Error('A key has no view.')
  return view
}

type Narrowing = Partial<Pick<Input<'updateKey'>, keyof Input<'updateKey'> & keyof KeyRow>>
type Limits = Omit<typeof unrestrictedKey, 'showCost'>

/** The row with the given limits; limits left out keep their values. */
function narrowed<Row extends Pick<KeyRow, keyof Limits>>(row: Row, input: Narrowing): Row {
  const { spendLimit } = input
  const kept = <Value>(given: Value | undefined, before: Value): Value =>
    given === undefined ? before : given
  return {
    ...row,
    expiresAt: kept(input.expiresAt, row.expiresAt),
    models: kept(input.models, row.models),
    deniedModels: kept(input.deniedModels, row.deniedModels),
    addresses: kept(input.addresses, row.addresses),
    requestsPerMinute: kept(input.requestsPerMinute, row.requestsPerMinute),
    tokensPerMinute: kept(input.tokensPerMinute, row.tokensPerMinute),
    concurrentRequests: kept(input.concurrentRequests, row.concurrentRequests),
    historyMode: kept(input.historyMode, row.historyMode),
    spendLimit:
      spendLimit == null
        ? kept(spendLimit, row.spendLimit)
        : {
            amountNano: spendLimit.amountNano,
            period: spendLimit.period,
            timeZone: spendLimit.timeZone ?? null,
          },
  }
}

interface Edit {
  readonly id: string
  readonly owner?: string | undefined
  readonly revision?: number | undefined
}

/** Applies the change to the key's latest revision. Throws AdminError `not_found`, `conflict`, `stale`. */
async function edit(
  store: Store,
  given: Edit,
  change: (before: KeyRow) => Promise<KeyRow>,
): Promise<KeyRow> {
  for (;;) {
    const before = await storedKey(store, given)
    const after = await change(before)
    // Checked again: the key may be older than the account's present groups.
    checkOwnGroup(await groupsOf(store, after.account), after)
    // Another process changed the key meanwhile: read it again.
    if (await store.keys.update(after)) return { ...after, revision: before.revision + 1 }
  }
}

async function storedKey(store: Store, { id, owner, revision }: Edit): Promise<KeyRow> {
  if (isDeclared({ id })) {
    const message = `key ${id} is declared in the configuration: change it there`
    throw new AdminError('conflict', 'id', message, 'in_configuration_file')
  }
  const row = await keyAt(store, { id, owner }, [])
  if (revision === undefined || row.revision === revision) return row
  throw new AdminError('stale', 'revision', `key ${id} was changed since it was read`)
}

/** Throws AdminError `not_found`, also for a key of another account. */
export async function keyAt(
  store: Store,
  { id, owner }: Edit,
  declared: readonly KeyConfig[],
): Promise<KeyRow> {
  const row = isDeclared({ id })
    ? (declared.map(rowOfDeclared).find((each) => each.id === id) ?? null)
    : await store.keys.find(id)
  if (row === null || (owner !== undefined && row.account !== owner)) throw noKey(id)
  return row
}

function noKey(id: string): AdminError {
  return new AdminError('not_found', 'id', `there is no key ${JSON.stringify(id)}`)
}

function isWanted(row: KeyRow, input: Input<'listKeys'>, nowMs: number): boolean {
  const { account, ids, group, status, search, playground = 'without' } = input
  const sought = search?.toLowerCase()
  return (
    (playground === 'with' || isOfPlayground(row) === (playground === 'only')) &&
    (account === undefined || row.account === account) &&
    (ids === undefined || ids.includes(row.id)) &&
    (group === undefined || row.group === group) &&
    (status === undefined || statusOf(row, nowMs) === status) &&
    (sought === undefined || `${row.name}\0${row.hint}`.toLowerCase().includes(sought))
  )
}

const padded = (value: number | bigint) => String(value).padStart(20, '0')

/** The sort keys, as text that sorts in the same order. */
async function placesBy(
  sort: NonNullable<Input<'listKeys'>['sort']>,
  keys: readonly KeyRow[],
  { store, nowMs }: AdminContext,
): Promise<(row: KeyRow) => string> {
  switch (sort) {
    case 'created':
      return ({ createdAt }) => padded(createdAt)
    case 'name':
      return ({ name }) => name
    case 'expiry':
      return ({ expiresAt }) => padded(expiresAt ?? Number.MAX_SAFE_INTEGER)
    case 'lastUsed': {
      const uses = await store.keyUses.of(keys.map(({ id }) => id))
      const atOf = new Map(uses.map(({ keyId, at }) => [keyId, at]))
      return ({ id }) => padded(atOf.get(id) ?? 0)
    }
    case 'spend': {
      const spent = await spendingOf(store, keys, startsOf(nowMs).month)
      return ({ id }) => padded(spent.get(id)?.chargeNano ?? 0n)
    }
  }
}

/** Throws AdminError where the cursor is from a list with another order. */
function placeAfter(cursor: string, list: string): string {
  const text = placeIn(cursor)
  if (text.startsWith(`${list}\0`)) return text.slice(list.length + 1)
  throw new AdminError('invalid', 'cursor', 'is not the `next` of a page of this list')
}
