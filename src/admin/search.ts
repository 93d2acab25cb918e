// Searches everything the caller may see for an id or a text.

import type { Config } from '../config/types.ts'
import { startOf } from '../identity/secret.ts'
import { minorText } from '../payments/amount.ts'
import type { PaymentOrder } from '../store/payment-tables.ts'
import { isDeclared, rowOfDeclared } from './key-view.ts'
import type { Input } from './schema.ts'
import { timeText } from './time.ts'
import type { AdminContext } from './use-case.ts'

interface Found {
  readonly kind: 'request' | 'key' | 'model' | 'account' | 'channel' | 'group' | 'order'
  readonly id: string
  readonly title: string
  readonly detail: string
  /** When a request ended or an order was made. */
  readonly at: string | null
  readonly account: string | null
}

interface Searched {
  /** The account whose items are searched; undefined: all accounts', and channels, groups and accounts too. */
  readonly owner: string | undefined
  readonly config: Pick<Config, 'keys' | 'channels' | 'groups'>
  /** Names of the models that the caller may see. */
  readonly models: readonly string[]
}

const mostOfKind = 6
const mostItems = 20
/** The form of ids made by others, such as vendors: at least 8 characters with a digit. */
const foreignId = /^(?=.*\d)[\w.:-]{8,}$/

/** Exact matches of ids first. At most 20 items, a few of each kind. */
export async function search(
  { store }: AdminContext,
  { q }: Input<'search'>,
  searched: Searched,
): Promise<{ readonly items: readonly Found[] }> {
  const { owner, config, models } = searched
  const [request, keys, accounts, orders] = await Promise.all([
    store.usage.find(owner ?? null, q),
    store.search.keys({ account: owner ?? null, text: q, start: startOf(q), limit: mostOfKind }),
    owner === undefined ? store.people.list({ search: q, limit: mostOfKind }) : [],
    store.paymentOrders.list({ account: owner, number: q, limit: mostOfKind }),
  ])
  const found: Found[] = [
    ...(request === null ? [] : [requestItem({ ...request, model: request.modelAsked })]),
    ...declaredKeys(config, q, owner),
    ...orders.map(orderItem),
    ...keys.map(keyItem),
    ...like(q, models).map((id) => item({ kind: 'model', id })),
    ...accounts.map(({ id, name, email }) =>
      item({ kind: 'account', id, title: name || id, detail: email ?? '', account: id }),
    ),
    ...(owner === undefined ? [...channelsLike(config, q), ...groupsLike(config, q)] : []),
  ]
  if (found.length === 0 && foreignId.test(q)) {
    const late = await store.search.request(owner ?? null, q)
    if (late !== null) found.push(requestItem(late))
  }
  const isExact = ({ id }: Found) => id === q
  const items = [...found.filter(isExact), ...found.filter((each) => !isExact(each))]
  return { items: items.slice(0, mostItems) }
}

function item(given: Pick<Found, 'kind' | 'id'> & Partial<Found>): Found {
  return { title: given.id, detail: '', at: null, account: null, ...given }
}

type FoundKey = Parameters<typeof keyItem>[0]

function keyItem(key: {
  readonly id: string
  readonly name: string
  readonly account: string
  readonly hint: string
}): Found {
  return item({ kind: 'key', id: key.id, title: key.name, detail: key.hint, account: key.account })
}

function requestItem(row: {
  readonly requestId: string
  readonly account: string
  readonly at: number
  readonly model: string
  readonly status: number
}): Found {
  const { requestId: id, account, model, status } = row
  return item({
    kind: 'request',
    id,
    title: model === '' ? id : model,
    detail: String(status),
    at: timeText(row.at),
    account,
  })
}

function orderItem(order: PaymentOrder): Found {
  const { id, account, amountMinor, currency, transactionId, createdAt } = order
  return item({
    kind: 'order',
    id,
    title: `${minorText(amountMinor)} ${currency}`,
    detail: transactionId ?? '',
    at: timeText(createdAt),
    account,
  })
}

function like(q: string, names: readonly string[]): readonly string[] {
  const sought = q.toLowerCase()
  return names.filter((name) => name.toLowerCase().includes(sought)).slice(0, mostOfKind)
}

function declaredKeys(
  { keys }: Pick<Config, 'keys'>,
  q: string,
  owner: string | undefined,
): readonly Found[] {
  const isIt = ({ id, name, hint }: FoundKey) =>
    id === q || name.toLowerCase().includes(q.toLowerCase()) || (q.length === 4 && hint.endsWith(q))
  return keys
    .filter(({ account }) => owner === undefined || account === owner)
    .map(rowOfDeclared)
    .filter((row) => isDeclared(row) && isIt(row))
    .slice(0, mostOfKind)
    .map(keyItem)
}

function channelsLike({ channels }: Pick<Config, 'channels'>, q: string): readonly Found[] {
  const ids = like(
    q,
    channels.map(({ id }) => id),
  )
  return ids.map((id) => {
    const vendor = channels.find((channel) => channel.id === id)?.vendor ?? ''
    return item({ kind: 'channel', id, detail: vendor })
  })
}

function groupsLike({ groups }: Pick<Config, 'groups'>, q: string): readonly Found[] {
  return like(q, Object.keys(groups)).map((id) => item({ kind: 'group', id }))
}
