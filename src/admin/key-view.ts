// Keys as callers see them: limits, spend, and last use.

import type { KeyConfig } from '../config/types.ts'
import { configuredKeyId } from '../identity/keyring.ts'
import { hintOf } from '../identity/secret.ts'
import { periodAt } from '../ledger/spend-period.ts'
import { parseUnits } from '../money.ts'
import type { KeyRow, KeyUse, SpendLimit } from '../store/keys.ts'
import { unrestrictedKey } from '../store/keys.ts'
import type { Store } from '../store/store.ts'
import { timeText } from './time.ts'
import type { AdminContext } from './use-case.ts'

export type Key = ReturnType<typeof keyView>

/** With more keys than this, the query does not list their ids. */
const mostNamed = 1_000
const quarterMs = 900_000
const always = Number.MAX_SAFE_INTEGER

interface Spending {
  readonly requests: number
  readonly chargeNano: bigint
}

const nothing: Spending = { requests: 0, chargeNano: 0n }

/** Spending for each key id, of requests that began at `since` or later. Keys without requests are left out. */
export async function spendingOf(
  { rollups }: Pick<Store, 'rollups'>,
  keys: readonly KeyRow[],
  since: number,
): Promise<ReadonlyMap<string, Spending>> {
  if (keys.length === 0) return new Map()
  const accounts = [...new Set(keys.map(({ account }) => account))]
  const rows = await rollups.read({
    cuts: [since],
    until: always,
    filter: {
      ...(accounts.length <= mostNamed && { account: accounts }),
      ...(keys.length <= mostNamed && { key: keys.map(({ id }) => id) }),
    },
    by: ['key'],
    sums: ['requests', 'chargeNano'],
    limit: always,
  })
  return new Map(
    rows.map(({ by: [id = ''], sums: [requests = 0n, chargeNano = 0n] }) => [
      id,
      { requests: Number(requests), chargeNano },
    ]),
  )
}

/** The first moments of the current day and month, in UTC. */
export function startsOf(nowMs: number): { readonly today: number; readonly month: number } {
  const at = (period: 'day' | 'month') => periodAt({ period, timeZone: null }, nowMs).startMs
  return { today: at('day'), month: at('month') }
}

/** Views in the order of `keys`. */
export async function viewsOf(
  { store, nowMs, currency }: AdminContext,
  keys: readonly KeyRow[],
): Promise<readonly Key[]> {
  const starts = startsOf(nowMs)
  const uses = await store.keyUses.of(keys.map(({ id }) => id))
  const facts = {
    nowMs,
    currency: await currency(),
    uses: new Map(uses.map((use) => [use.keyId, use])),
    today: await spendingOf(store, keys, starts.today),
    month: await spendingOf(store, keys, starts.month),
    inPeriod: await spentInPeriods(store, keys, nowMs),
  }
  return keys.map((row) => keyView(row, facts))
}

/** For keys with a spend limit: what they have spent in its present period. */
export async function spentInPeriods(store: Store, keys: readonly KeyRow[], nowMs: number) {
  const byStart = new Map<number, KeyRow[]>()
  for (const key of keys) {
    if (key.spendLimit === null) continue
    const { startMs } = periodAt(key.spendLimit, nowMs)
    byStart.set(startMs, [...(byStart.get(startMs) ?? []), key])
  }
  const spent = new Map<string, Spending>()
  for (const [startMs, limited] of byStart) {
    for (const [id, spending] of await spendingOf(store, limited, startMs)) spent.set(id, spending)
  }
  return spent
}

/** 24 hours ago, rounded down to a quarter of an hour. */
export function dayBefore(nowMs: number): number {
  return Math.floor((nowMs - 86_400_000) / quarterMs) * quarterMs
}

type Status = 'active' | 'disabled' | 'expired'

export function statusOf({ disabledAt, expiresAt }: KeyRow, nowMs: number): Status {
  if (disabledAt !== null) return 'disabled'
  return expiresAt !== null && expiresAt <= nowMs ? 'expired' : 'active'
}

export function isDeclared({ id }: Pick<KeyRow, 'id'>): boolean {
  return id.startsWith(configuredKeyId(''))
}

/** Gives a key of the configuration file the form of a stored key. */
export function rowOfDeclared(key: KeyConfig): KeyRow {
  const { name, account, group, secret, expiresAt, models, deniedModels, addresses } = key
  const { limits, spendLimit, historyMode, showCost, disabled } = key
  return {
    ...unrestrictedKey,
    id: configuredKeyId(name),
    name,
    account,
    group,
    hash: '',
    hint: hintOf(secret),
    createdAt: 0,
    expiresAt,
    disabledAt: disabled ? 0 : null,
    models,
    deniedModels,
    addresses,
    requestsPerMinute: limits.requestsPerMinute ?? null,
    tokensPerMinute: limits.tokensPerMinute ?? null,
    concurrentRequests: limits.concurrentRequests ?? null,
    spendLimit:
      spendLimit === null
        ? null
        : { ...spendLimit, amountNano: parseUnits(spendLimit.amount) ?? 0n },
    historyMode,
    showCost,
  }
}

interface Facts {
  readonly nowMs: number
  readonly currency: string
  readonly uses: ReadonlyMap<string, KeyUse>
  readonly today: ReadonlyMap<string, Spending>
  readonly month: ReadonlyMap<string, Spending>
  readonly inPeriod: ReadonlyMap<string, Spending>
}

function keyView(row: KeyRow, facts: Facts) {
  const { nowMs, currency, uses, today, month, inPeriod } = facts
  const { id, previous, spendLimit } = row
  const declared = isDeclared(row)
  const use = uses.get(id)
  return {
    id,
    name: row.name,
    account: row.account,
    group: row.group,
    hint: row.hint,
    status: statusOf(row, nowMs),
    /** Whether the key is in the configuration file, where alone it can be changed. */
    declared,
    createdAt: declared ? null : timeText(row.createdAt),
    expiresAt: timeText(row.expiresAt),
    disabledAt: declared ? null : timeText(row.disabledAt),
    /** How long the secret before the last rotation remains valid. */
    previousUntil: previous !== null && previous.until > nowMs ? timeText(previous.until) : null,
    models: row.models,
    deniedModels: row.deniedModels,
    addresses: row.addresses,
    historyMode: row.historyMode,
    showCost: row.showCost,
    limits: {
      requestsPerMinute: row.requestsPerMinute,
      tokensPerMinute: row.tokensPerMinute,
      concurrentRequests: row.concurrentRequests,
    },
    spendLimit:
      spendLimit === null
        ? null
        : limitView(spendLimit, (inPeriod.get(id) ?? nothing).chargeNano, nowMs),
    currency,
    today: spendingView(today.get(id)),
    month: spendingView(month.get(id)),
    lastUsed:
      use === undefined ? null : { at: timeText(use.at), address: use.address, client: use.client },
    revision: row.revision,
  }
}

function limitView(limit: SpendLimit, spentNano: bigint, nowMs: number) {
  const { amountNano, period, timeZone } = limit
  const resetsAt = timeText(periodAt(limit, nowMs).endMs)
  const nano = { amountNano: String(amountNano), spentNano: String(spentNano) }
  return { ...nano, period, timeZone: timeZone ?? 'UTC', resetsAt }
}

function spendingView({ requests, chargeNano }: Spending = nothing) {
  return { requests, chargeNano: String(chargeNano) }
}
