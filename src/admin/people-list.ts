// Lists people for operators, with balance, spend and use, sorted by any of these.

import type { KeyConfig } from '../config/types.ts'
import type { ListedPerson } from '../store/people.ts'
import type { PeopleFilter } from '../store/people-list.ts'
import type { Store } from '../store/store.ts'
import { cursorAfter, type Page, placeIn } from './page.ts'
import { type Person, personView } from './people.ts'
import type { Input } from './schema.ts'
import { timeText } from './time.ts'
import { type AdminContext, AdminError } from './use-case.ts'

type Listed = Person & {
  readonly currency: string
  /** In nano-units. */
  readonly balanceNano: string
  /** Spend of the last 30 days. */
  readonly spendNano: string
  readonly keys: number
  readonly lastSeenAt: string | null
}

type Sort = Input<'listPeople'>['sort']

interface Place {
  readonly at: bigint
  readonly id: string
}

const spendMs = 30 * 86_400_000
/** A list sorted by spend covers this many top spenders. */
const mostSpenders = 1_000
const rankedAtOnce = 250

/**
 * Deleted people are listed only where they alone are asked for. `declared`: keys of the configuration file, counted
 * with the others. Throws AdminError.
 */
export async function listPeople(
  context: AdminContext,
  { sort, limit = 100, cursor, ...filter }: Input<'listPeople'>,
  declared: readonly KeyConfig[] = [],
): Promise<Page<Listed>> {
  const { store, currency } = context
  const before = cursor === undefined ? undefined : placeOf(cursor, sort)
  const rows =
    sort === 'spend'
      ? await bySpend(context, filter, { before, limit: limit + 1 })
      : await store.people.list({ ...filter, order: sort, before, limit: limit + 1 })
  const shown = rows.slice(0, limit)
  const ids = shown.map(({ id }) => id)
  const [identities, spent, code] = await Promise.all([
    store.identities.ofAccounts(ids),
    spendOf(context, ids),
    currency(),
  ])
  const items = shown.map((row) => ({
    ...personView(
      row,
      identities.filter(({ account }) => account === row.id),
    ),
    currency: code,
    balanceNano: String(row.balanceNano),
    spendNano: String(spent.get(row.id) ?? 0n),
    keys: row.keys + declared.filter(({ account }) => account === row.id).length,
    lastSeenAt: timeText(row.lastSeenAt),
  }))
  const last = rows.length > limit ? shown.at(-1) : undefined
  if (last === undefined) return { items, next: null }
  const at = sort === 'spend' ? (spent.get(last.id) ?? 0n) : valueOf(last, sort)
  return { items, next: cursorAfter(`${sort} ${at} ${last.id}`) }
}

function valueOf(row: ListedPerson, sort: Exclude<Sort, 'spend'>): bigint {
  if (sort === 'balance') return row.balanceNano
  return BigInt(sort === 'newest' ? row.createdAt : (row.lastSeenAt ?? 0))
}

function placeOf(cursor: string, sort: Sort): Place {
  const [, of, at, id] = /^(\w+) (-?\d{1,19}) ([^]+)$/.exec(placeIn(cursor)) ?? []
  if (of === sort && at !== undefined && id !== undefined) return { at: BigInt(at), id }
  throw new AdminError('invalid', 'cursor', 'is not the `next` of a page of this list')
}

function spendOf(
  { store, nowMs }: Pick<AdminContext, 'store' | 'nowMs'>,
  accounts: readonly string[],
): Promise<ReadonlyMap<string, bigint>> {
  return accounts.length === 0 ? Promise.resolve(new Map()) : spend(store, nowMs, accounts)
}

async function spend(store: Store, nowMs: number, accounts: readonly string[]) {
  const rows = await store.rollups.read({
    cuts: [nowMs - spendMs],
    until: nowMs,
    filter: { account: accounts },
    by: ['account'],
    sums: ['chargeNano'],
    limit: accounts.length,
  })
  return new Map(rows.map(({ by: [account = ''], sums: [nano = 0n] }) => [account, nano]))
}

/** Goes through the top spenders in batches until enough of them match the filter. */
async function bySpend(
  { store, nowMs }: Pick<AdminContext, 'store' | 'nowMs'>,
  filter: Omit<PeopleFilter, 'order' | 'before' | 'limit'>,
  { before, limit }: { readonly before: Place | undefined; readonly limit: number },
): Promise<readonly ListedPerson[]> {
  const { rows } = await store.rollups.top({
    since: nowMs - spendMs,
    until: nowMs,
    filter: {},
    by: ['account'],
    sums: ['chargeNano'],
    order: { plus: ['chargeNano'], descending: true },
    limit: mostSpenders,
  })
  const ranked = rows
    .map(({ by: [id = ''], sums: [at = 0n] }) => ({ id, at }))
    .sort((one, other) => (isAfter(one, other) ? 1 : -1))
    .filter((each) => before === undefined || isAfter(each, before))
  const found: ListedPerson[] = []
  for (let from = 0; from < ranked.length && found.length < limit; from += rankedAtOnce) {
    const among = ranked.slice(from, from + rankedAtOnce).map(({ id }) => id)
    const people = await store.people.list({ ...filter, among, limit: among.length })
    const byId = new Map(people.map((each) => [each.id, each]))
    found.push(...among.flatMap((id) => byId.get(id) ?? []))
  }
  return found.slice(0, limit)
}

/** Highest spend first; equal ones by descending id. */
function isAfter(one: Place, other: Place): boolean {
  return one.at === other.at ? one.id < other.id : one.at < other.at
}
