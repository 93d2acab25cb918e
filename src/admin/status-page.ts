// The public status page, where the operator allows it: how models of public groups did, day by day, and the operator's
// incidents. It names no channel and no vendor.

import type { Notice, RunTimeSettings } from '../config/run-time.ts'
import { anyoneOf } from '../operations/model-access.ts'
import { quarterMs } from '../store/rollup-table.ts'
import type { Store } from '../store/store.ts'
import { type Offer, publicViewer } from './offer.ts'
import { timeText } from './time.ts'
import { type AdminContext, AdminError } from './use-case.ts'
import { dayMs, hourMs } from './zone.ts'

type State = 'operational' | 'degraded' | 'down' | 'unknown'

interface Success {
  /** Requests whose outcome the gateway or a vendor decides; client errors (4xx) are left out. */
  readonly requests: number
  readonly successRate: number | null
}

interface StatusOfModel extends Success {
  readonly model: string
  readonly state: State
  /** One entry for each of `days`. */
  readonly daily: readonly Success[]
}

interface Incident {
  readonly severity: 'warning' | 'critical'
  readonly state: 'scheduled' | 'ongoing' | 'over'
  readonly text: Readonly<Record<string, string>>
  readonly from: string | null
  readonly until: string | null
}

export interface StatusPage {
  readonly at: string
  /** UTC dates, oldest first: `2027-01-31`. */
  readonly days: readonly string[]
  readonly state: State
  /** Sorted by name. */
  readonly models: readonly StatusOfModel[]
  readonly incidents: readonly Incident[]
}

const daysShown = 90
/** Fewest recent requests for which a model's state is shown. */
const leastSample = 10
const operationalRate = 0.99
const degradedRate = 0.9
const mostRows = 100_000
const keptMs = 30_000
/** How long figures of past days are kept. */
const keptDaysMs = hourMs

/** Throws AdminError `not_found` where the page is turned off. The context's `nowMs` is the present. */
export async function readStatusPage(
  { store, nowMs }: Pick<AdminContext, 'store' | 'nowMs'>,
  offer: Offer,
  settings: Pick<RunTimeSettings, 'statusPage' | 'notices'>,
): Promise<StatusPage> {
  if (!settings.statusPage)
    throw new AdminError('not_found', 'statusPage', 'there is no status page: it is turned off')
  const { past, today, lately } = await figuresOf(store, nowMs)
  const first = dayOf(nowMs) - (daysShown - 1) * dayMs
  const names = new Set(
    publicViewer(offer.config).groups.flatMap((group) =>
      offer.modelAccess.models(anyoneOf(group)).map(({ id }) => id),
    ),
  )
  const models = [...names].sort().map((model): StatusOfModel => {
    const days = Array.from({ length: daysShown }, (_, place) =>
      (place === daysShown - 1 ? today : past).get(keyOf(model, first + place * dayMs)),
    )
    return {
      model,
      state: stateOf(lately.get(model)),
      ...successOf(days.reduce<Count>((sum, each) => added(sum, each), nothing)),
      daily: days.map((each) => successOf(each ?? nothing)),
    }
  })
  return {
    at: timeText(nowMs),
    days: Array.from({ length: daysShown }, (_, place) =>
      timeText(first + place * dayMs).slice(0, 10),
    ),
    state: worst(models.map(({ state }) => state)),
    models,
    incidents: settings.notices.flatMap((notice) => incidentOf(notice, nowMs)),
  }
}

const dayOf = (ms: number) => Math.floor(ms / dayMs) * dayMs
const keyOf = (model: string, day: number) => `${day} ${model}`

interface Count {
  readonly requests: number
  readonly failed: number
}

const nothing: Count = { requests: 0, failed: 0 }

function added(one: Count, other: Count | undefined = nothing): Count {
  return { requests: one.requests + other.requests, failed: one.failed + other.failed }
}

function successOf({ requests, failed }: Count): Success {
  return { requests, successRate: requests === 0 ? null : (requests - failed) / requests }
}

function stateOf(count: Count = nothing): State {
  const { requests, successRate } = successOf(count)
  if (successRate === null || requests < leastSample) return 'unknown'
  if (successRate >= operationalRate) return 'operational'
  return successRate >= degradedRate ? 'degraded' : 'down'
}

const ranks: readonly State[] = ['unknown', 'operational', 'degraded', 'down']

function worst(states: readonly State[]): State {
  return ranks[Math.max(0, ...states.map((state) => ranks.indexOf(state)))] ?? 'unknown'
}

/** Notices of severity `info` are no incidents; one that is over stays while it is among the notices. */
function incidentOf({ severity, text, from, until }: Notice, nowMs: number): Incident[] {
  if (severity === 'info') return []
  const isAhead = from !== null && nowMs < Date.parse(from)
  const isOver = until !== null && Date.parse(until) <= nowMs
  const state = isAhead ? 'scheduled' : isOver ? 'over' : 'ongoing'
  return [{ severity, state, text, from, until }]
}

interface Figures {
  /** Figures of past days, by day and model. */
  readonly past: ReadonlyMap<string, Count>
  readonly today: ReadonlyMap<string, Count>
  /** Figures of the last quarters of an hour, by model. */
  readonly lately: ReadonlyMap<string, Count>
}

interface Kept {
  readonly untilMs: number
  readonly day: number
  readonly figures: Promise<Figures>
  readonly pastUntilMs: number
}

const kept = new WeakMap<object, Kept>()

/** Kept for a while, past days longer: anyone may ask, and often. */
function figuresOf(store: Store, nowMs: number): Promise<Figures> {
  const known = kept.get(store.rollups)
  if (known !== undefined && nowMs < known.untilMs) return known.figures
  const day = dayOf(nowMs)
  const isPastKnown = known !== undefined && known.day === day && nowMs < known.pastUntilMs
  const figures = readFigures(store, nowMs, isPastKnown ? known.figures : null)
  const pastUntilMs = isPastKnown ? known.pastUntilMs : nowMs + keptDaysMs
  kept.set(store.rollups, { untilMs: nowMs + keptMs, day, figures, pastUntilMs })
  figures.catch(() => kept.delete(store.rollups))
  return figures
}

async function readFigures(
  store: Store,
  nowMs: number,
  before: Promise<Figures> | null,
): Promise<Figures> {
  const today = dayOf(nowMs)
  const first = today - (daysShown - 1) * dayMs
  const pastDays = Array.from({ length: daysShown - 1 }, (_, place) => first + place * dayMs)
  const lately = Math.floor(nowMs / quarterMs) * quarterMs - quarterMs
  const past = before === null ? await countsOf(store, pastDays, today) : (await before).past
  const now = await countsOf(store, [today], nowMs)
  const latest = await countsOf(store, [lately], nowMs)
  return {
    past,
    today: now,
    lately: new Map([...latest].map(([key, count]) => [key.slice(key.indexOf(' ') + 1), count])),
  }
}

async function countsOf(
  { rollups }: Store,
  cuts: readonly number[],
  until: number,
): Promise<ReadonlyMap<string, Count>> {
  const rows = await rollups.read({
    ...{ cuts, until, filter: { statusClass: ['2xx', '5xx'] } },
    ...{ by: ['model'], sums: ['requests', 'errors'], limit: mostRows },
  })
  const counts = new Map<string, Count>()
  for (const { span, by, sums } of rows) {
    const key = keyOf(by[0] ?? '', cuts[span] ?? 0)
    const [requests = 0, failed = 0] = sums.map(Number)
    counts.set(key, added({ requests, failed }, counts.get(key)))
  }
  return counts
}
