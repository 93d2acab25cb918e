// Monthly statements of an account: balances before and after, journal entries, and requests by key and model.

import { buyerOf } from './buyer.ts'
import { cursorAfter, type Page, placeIn } from './page.ts'
import type { Input } from './schema.ts'
import { timeText } from './time.ts'
import { type AdminContext, AdminError } from './use-case.ts'
import { dayMs, momentOf, zoneIn } from './zone.ts'

export type StatementView = Awaited<ReturnType<typeof readStatement>>

/** Most journal entries of a month besides requests. */
const mostEntries = 5_000

/** Months since the account was created, newest first. */
export async function listStatements(
  { store, nowMs }: AdminContext,
  { account, timeZone, limit, cursor }: Input<'listStatements'>,
): Promise<Page<{ readonly month: string; readonly open: boolean }>> {
  const { createdAt } = await accountAt(store, account)
  const current = monthAt(nowMs, timeZone)
  const first = monthAt(createdAt, timeZone)
  let month = cursor === undefined ? current : monthAfter(placeIn(cursor), -1)
  const items: { month: string; open: boolean }[] = []
  // The cursor comes from the client and may be any text.
  if (!/^\d{4}-\d{2}$/.test(month) || month > current) return { items, next: null }
  for (; month >= first && items.length < limit; month = monthAfter(month, -1))
    items.push({ month, open: month === current })
  const last = items.at(-1)
  return { items, next: last === undefined || month < first ? null : cursorAfter(last.month) }
}

/** Throws AdminError `not_found`. The current month ends now. */
export async function readStatement(
  admin: AdminContext,
  { account, month, timeZone }: Input<'readStatement'>,
) {
  const { store, nowMs, currency } = admin
  const { name } = await accountAt(store, account)
  const current = monthAt(nowMs, timeZone)
  if (month > current) throw new AdminError('not_found', 'month', 'has not begun')
  const since = beginOf(month, timeZone)
  const until = beginOf(monthAfter(month, 1), timeZone)
  const found = await store.statements.read({ account, since, until, limit: mostEntries + 1 })
  if (found === null) throw new Error(`The account ${account} has no wallet.`)
  const { openingNano, closingNano, entries, charges } = found
  if (entries.length > mostEntries) {
    const message = `has more than ${mostEntries} entries: read them at /api/ledger`
    throw new AdminError('conflict', 'month', message)
  }
  const names = new Map((await store.keys.all(account)).map((key) => [key.id, key.name]))
  const sum = (amounts: readonly bigint[]) => amounts.reduce((total, each) => total + each, 0n)
  return {
    account,
    name,
    buyer: await buyerOf(admin, account),
    month,
    timeZone,
    since: timeText(since),
    until: timeText(until),
    open: month === current,
    asOf: timeText(nowMs),
    currency: await currency(),
    openingNano: String(openingNano),
    closingNano: String(closingNano),
    /** Sums of the listed entries and charges; negative where more was taken than given. */
    entriesNano: String(sum(entries.map(({ effectNano }) => effectNano))),
    chargesNano: String(sum(charges.map(({ chargeNano }) => chargeNano))),
    entries: entries.map((entry) => ({
      id: entry.id,
      code: entry.code,
      at: timeText(entry.at),
      effectNano: String(entry.effectNano),
      reason: entry.reason,
    })),
    charges: charges.map(({ key, model, requests, chargeNano }) => ({
      key,
      keyName: names.get(key) ?? nameOf(key),
      model,
      requests,
      chargeNano: String(chargeNano),
    })),
  }
}

/** The name of a key of the configuration file; null: the key was deleted. */
function nameOf(key: string): string | null {
  return key.startsWith('config:') ? key.slice('config:'.length) : null
}

async function accountAt(store: AdminContext['store'], account: string) {
  const person = await store.people.find(account)
  if (person !== null) return person
  throw new AdminError('not_found', 'account', `there is no account ${JSON.stringify(account)}`)
}

/** The month in the time zone: `2027-01`. */
function monthAt(ms: number, timeZone: string): string {
  const clock = new Intl.DateTimeFormat('en-CA', { timeZone, year: 'numeric', month: '2-digit' })
  const parts = Object.fromEntries(clock.formatToParts(ms).map(({ type, value }) => [type, value]))
  return `${parts['year']}-${parts['month']}`
}

function monthAfter(month: string, months: number): string {
  const [year = 0, number = 1] = month.split('-').map(Number)
  const index = year * 12 + number - 1 + months
  return `${String(Math.floor(index / 12)).padStart(4, '0')}-${String((index % 12) + 1).padStart(2, '0')}`
}

function beginOf(month: string, timeZone: string): number {
  const local = Date.parse(`${month}-01T00:00:00Z`)
  return momentOf(zoneIn(timeZone, local - 2 * dayMs, local + 2 * dayMs), local)
}
