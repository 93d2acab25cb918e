// Checks the alert rules of accounts, and writes one notice for each crossing until it is over.

import type { KeyConfig } from '../config/types.ts'
import { periodAt } from '../ledger/spend-period.ts'
import { formatUnits } from '../money.ts'
import type { AlertSetting } from '../store/alerts.ts'
import { quarterOf } from '../store/rollup-table.ts'
import { rowOfDeclared, spentInPeriods } from './key-view.ts'
import { type Crossing, type NoticeFacts, newNoticeId, plain } from './notice.ts'
import { isOperators } from './operator-events.ts'
import { orderCrossings } from './order-notices.ts'
import type { AdminContext } from './use-case.ts'

/** The stored form: amounts as text. */
export interface AlertRules {
  readonly lowBalanceNano: string | null
  readonly daySpendNano: string | null
  readonly timeZone: string
  readonly keyLimitPercent: number | null
  readonly errorRatePercent: number | null
  readonly webhook: string | null
  readonly email: string | null
  /** Whether the owner proved to read mail at the address; unproven addresses get no mail. */
  readonly emailVerified: boolean
}

const unset: AlertRules = {
  lowBalanceNano: null,
  daySpendNano: null,
  timeZone: 'UTC',
  keyLimitPercent: null,
  errorRatePercent: null,
  webhook: null,
  email: null,
  emailVerified: false,
}

/** null: every rule is off. */
export function rulesOf(setting: Pick<AlertSetting, 'document'> | null): AlertRules {
  return { ...unset, ...((setting?.document ?? {}) as Partial<AlertRules>) }
}

interface Watched {
  readonly account: string
  readonly rules: AlertRules
}

const hourMs = 3_600_000
/** Longer than finished orders are checked, so that one is not told twice. */
const orderMs = 48 * hourMs
/** Fewest requests for which an error rate is meaningful. */
const leastRequests = 20
const hasRules = ({ rules }: Watched) =>
  rules.lowBalanceNano !== null ||
  rules.daySpendNano !== null ||
  rules.keyLimitPercent !== null ||
  rules.errorRatePercent !== null

/** Returns the number of notices written. `declared`: keys of the configuration file. */
export async function raiseAlerts(
  admin: AdminContext,
  declared: readonly KeyConfig[],
): Promise<number> {
  const { store, nowMs } = admin
  const settings = (await store.alerts.settings()).map(({ account, document }) => ({
    account,
    rules: rulesOf({ document }),
  }))
  const watched = settings.filter(hasRules)
  const raised = (await store.alerts.raised()).filter(({ account }) => !isOperators(account))
  const crossings = [
    ...(await lowBalances(admin, watched)),
    ...(await daySpends(admin, watched)),
    ...(await keyLimits(admin, watched, declared)),
    ...(await errorRates(admin, watched)),
    ...(await orderCrossings(admin)),
  ]
  const isCrossed = new Set(crossings.map(nameOf))
  const over = raised.filter((each) => !isCrossed.has(nameOf(each)) && mayEnd(each, nowMs))
  await store.alerts.clear(over)
  const rulesBy = new Map(settings.map(({ account, rules }) => [account, rules]))
  const known = new Set(raised.map(nameOf))
  let count = 0
  for (const crossing of crossings) {
    if (known.has(nameOf(crossing))) continue
    count += (await tell(admin, crossing, rulesBy.get(crossing.account))) ? 1 : 0
  }
  return count
}

/**
 * Writes a notice unless the same is raised already, and queues it for the account's webhook and mail. False where it
 * is raised already.
 */
export function tell(
  { store, nowMs }: AdminContext,
  { account, subject, facts }: Crossing,
  rules: AlertRules = unset,
): Promise<boolean> {
  const id = newNoticeId(nowMs)
  const dueAt = {
    webhook: rules.webhook === null ? null : nowMs,
    mail: rules.email === null || !rules.emailVerified ? null : nowMs,
  }
  const raised = { account, rule: facts.rule, subject, at: nowMs }
  return store.alerts.raise(raised, { id, account, at: nowMs, document: facts, dueAt })
}

type Named = { readonly account: string; readonly subject: string } & (
  | { readonly rule: string }
  | { readonly facts: NoticeFacts }
)

function nameOf(each: Named): string {
  const rule = 'rule' in each ? each.rule : each.facts.rule
  return `${each.account}\0${rule}\0${each.subject}`
}

/**
 * An error rate around its limit gives at most one notice an hour; what orders raise is kept so that it is told once.
 */
function mayEnd(
  { rule, at }: { readonly rule: string; readonly at: number },
  nowMs: number,
): boolean {
  if (rule.startsWith('order_') || rule === 'top_up_stopped') return nowMs - at >= orderMs
  return rule !== 'error_rate' || nowMs - at >= hourMs
}

async function lowBalances(
  { store, currency }: AdminContext,
  watched: readonly Watched[],
): Promise<Crossing[]> {
  const asked = watched.filter(({ rules }) => rules.lowBalanceNano !== null)
  if (asked.length === 0) return []
  const code = await currency()
  const wallets = new Map((await store.journal.wallets()).map((each) => [each.account, each]))
  return asked.flatMap(({ account, rules: { lowBalanceNano } }) => {
    const limit = BigInt(lowBalanceNano ?? 0)
    const left = wallets.get(account)?.postedNano ?? 0n
    if (left >= limit) return []
    const text = `${formatUnits(left)} ${code} are left, less than ${formatUnits(limit)}.`
    const money = { limitNano: String(limit), valueNano: String(left) }
    return [
      {
        account,
        subject: '',
        facts: { ...plain, rule: 'low_balance', currency: code, text, ...money },
      },
    ]
  })
}

async function daySpends(
  { store, nowMs, currency }: AdminContext,
  watched: readonly Watched[],
): Promise<Crossing[]> {
  const asked = watched.filter(({ rules }) => rules.daySpendNano !== null)
  const code = asked.length === 0 ? '' : await currency()
  const zones = new Set(asked.map(({ rules }) => rules.timeZone))
  const found: Crossing[] = []
  for (const timeZone of zones) {
    const { startMs } = periodAt({ period: 'day', timeZone }, nowMs)
    const own = asked.filter(({ rules }) => rules.timeZone === timeZone)
    const totals = await totalsOf(store, own, { since: startMs, until: nowMs })
    for (const { account, rules } of own) {
      const limit = BigInt(rules.daySpendNano ?? 0)
      const spent = totals.get(account)?.chargeNano ?? 0n
      if (spent <= limit) continue
      const text = `${formatUnits(spent)} ${code} were spent today, more than ${formatUnits(limit)}.`
      const money = { limitNano: String(limit), valueNano: String(spent) }
      const facts = { ...plain, rule: 'day_spend', currency: code, text, ...money } as const
      found.push({ account, subject: String(startMs), facts })
    }
  }
  return found
}

async function keyLimits(
  { store, nowMs, currency }: AdminContext,
  watched: readonly Watched[],
  declared: readonly KeyConfig[],
): Promise<Crossing[]> {
  const found: Crossing[] = []
  for (const { account, rules } of watched) {
    const percent = rules.keyLimitPercent
    if (percent === null) continue
    const own = declared.filter((key) => key.account === account).map(rowOfDeclared)
    const keys = [...own, ...(await store.keys.all(account))]
    const spent = await spentInPeriods(store, keys, nowMs)
    const code = await currency()
    for (const { id, name, spendLimit } of keys) {
      if (spendLimit === null) continue
      const { amountNano: limit } = spendLimit
      const value = spent.get(id)?.chargeNano ?? 0n
      const share = Number((value * 100n) / limit)
      if (share < percent) continue
      const text = `The key ${name} has spent ${share} % of its limit of ${formatUnits(limit)} ${code}.`
      const facts = {
        ...plain,
        rule: 'key_limit',
        currency: code,
        text,
        limitNano: String(limit),
        valueNano: String(value),
        limitPercent: percent,
        valuePercent: share,
        keyId: id,
        keyName: name,
      } as const
      const { startMs } = periodAt(spendLimit, nowMs)
      found.push({ account, subject: `${id} ${startMs}`, facts })
    }
  }
  return found
}

async function errorRates(
  { store, nowMs, currency }: AdminContext,
  watched: readonly Watched[],
): Promise<Crossing[]> {
  const asked = watched.filter(({ rules }) => rules.errorRatePercent !== null)
  const code = asked.length === 0 ? '' : await currency()
  const totals = await totalsOf(store, asked, { since: quarterOf(nowMs - hourMs), until: nowMs })
  return asked.flatMap(({ account, rules: { errorRatePercent } }) => {
    const limitPercent = errorRatePercent ?? 0
    const { requests = 0n, errors = 0n } = totals.get(account) ?? {}
    const valuePercent = requests === 0n ? 0 : Number((errors * 100n) / requests)
    if (requests < BigInt(leastRequests) || valuePercent < limitPercent) return []
    const text = `${valuePercent} % of ${requests} requests failed within the last hour.`
    const share = { limitPercent, valuePercent, requests: Number(requests) }
    return [
      {
        account,
        subject: '',
        facts: { ...plain, rule: 'error_rate', currency: code, text, ...share },
      },
    ]
  })
}

async function totalsOf(
  store: AdminContext['store'],
  watched: readonly Watched[],
  { since, until }: { readonly since: number; readonly until: number },
) {
  if (watched.length === 0) return new Map<string, never>()
  const rows = await store.rollups.read({
    cuts: [quarterOf(since)],
    until,
    filter: { account: watched.map(({ account }) => account) },
    by: ['account'],
    sums: ['chargeNano', 'requests', 'errors'],
    limit: watched.length,
  })
  return new Map(
    rows.map(({ by: [account = ''], sums: [chargeNano = 0n, requests = 0n, errors = 0n] }) => [
      account,
      { chargeNano, requests, errors },
    ]),
  )
}
