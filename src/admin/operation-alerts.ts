// Alerts for operators, derived from the readings of processes and from the store.

import type { operatorEvents } from '../config/schema-webhooks.ts'
import type { FailingWork } from '../store/failing-work.ts'
import type { DifferingBill } from '../store/payment-bills.ts'
import type { Alike, ProcessReading } from '../store/running.ts'
import type { MissingPrice } from './price-missing.ts'
import { timeText } from './time.ts'

export interface Alert {
  readonly code: (typeof operatorEvents)[number]
  readonly severity: 'critical' | 'warning'
  /** What the alert is about: a channel, a model; null: the deployment. */
  readonly subject: string | null
  readonly message: string
  /** The number in the message: seconds, settlements, records, places or requests. */
  readonly count: number | null
  /** The part of the message that the code does not imply, in its source's words. */
  readonly cause: string | null
  readonly since: string | null
}

interface Found {
  readonly readings: readonly ProcessReading[]
  readonly channels: readonly {
    readonly id: string
    readonly state: 'ok' | 'degraded' | 'open' | 'draining' | 'disabled'
    readonly reason: string | null
    readonly since: string | null
  }[]
  readonly settlement: {
    readonly oldestUnsettledMs: number
    readonly setAside: number
    readonly closed: readonly string[]
  }
  readonly missing: readonly MissingPrice[]
  readonly failing: readonly FailingWork[]
  readonly bills: readonly DifferingBill[]
}

/** A request settled later than this is reported: normally settling takes less than a second. */
const lateMs = 10_000
/** Most unpriced models listed: more would hide the other alerts. */
const mostModels = 20

/** Critical alerts first. */
export function alertsOf({
  readings,
  channels,
  settlement,
  missing,
  failing,
  bills,
}: Found): readonly Alert[] {
  const { closed, oldestUnsettledMs, setAside } = settlement
  const late = Math.round(oldestUnsettledMs / 1_000)
  const all: readonly Alert[] = [
    ...[...new Set(closed)].map((cause) => ofDeployment('ledger_closed', cause, { cause })),
    ...channels.flatMap(channelAlert),
    ...(oldestUnsettledMs < lateMs
      ? []
      : [
          ofDeployment('settlement_late', `a request that ended ${late} s ago is not settled yet`, {
            count: late,
          }),
        ]),
    ...(setAside === 0
      ? []
      : [
          ofDeployment(
            'set_aside',
            `${setAside} settlements were set aside: no ledger takes them`,
            {
              count: setAside,
            },
          ),
        ]),
    ...missingRecords(readings),
    ...bills.map(billAlert),
    ...differencesOf(readings).map(warning),
    ...missing.slice(0, mostModels).map(priceAlert),
    ...failing.map(workAlert),
    ...[...new Set(readings.flatMap(({ warnings }) => warnings))].map(warning),
  ]
  return all.toSorted((one, other) => rank(one) - rank(other))
}

function missingRecords(readings: readonly ProcessReading[]): Alert[] {
  const count = readings.reduce((sum, { missing = 0 }) => sum + missing, 0)
  const message = `${count} answered requests never came into the ledger: tollgate audit names them`
  return count === 0 ? [] : [ofDeployment('records_missing', message, { count })]
}

function billAlert({ provider, day, comparedAt, differences }: DifferingBill): Alert {
  const places = differences === 1 ? 'one place' : `${differences} places`
  return {
    code: 'reconcile_difference',
    severity: 'critical',
    subject: `${provider} ${day}`,
    message: `the bill of this day differs from what was booked in ${places}`,
    count: differences,
    cause: null,
    since: timeText(comparedAt),
  }
}

/**
 * Settings that should be equal on all nodes but differ. Fingerprints are made with the encryption key: under different
 * keys, those of one configuration differ too.
 */
function differencesOf(readings: readonly ProcessReading[]): readonly string[] {
  const said = readings.flatMap(({ alike }) => alike ?? [])
  const differ = (name: keyof Alike) => new Set(said.map((each) => each[name])).size > 1
  const hasKeys = differ('encryptionKey')
  return [
    ...(differ('version') ? ['processes of different versions serve'] : []),
    ...(hasKeys ? ['processes have different encryption keys (ENCRYPTION_KEY)'] : []),
    ...(!hasKeys && differ('configuration') ? ['processes have different configurations'] : []),
  ]
}

function rank({ severity }: Alert): number {
  return severity === 'critical' ? 0 : 1
}

function ofDeployment(
  code: Alert['code'],
  message: string,
  { count = null, cause = null }: Partial<Pick<Alert, 'count' | 'cause'>>,
): Alert {
  return { code, severity: 'critical', subject: null, message, count, cause, since: null }
}

function warning(cause: string): Alert {
  return { ...ofDeployment('warning', cause, { cause }), severity: 'warning' }
}

function channelAlert({ id, state, reason, since }: Found['channels'][number]): Alert[] {
  // A channel that is disabled in the configuration raises no alert: it is meant to be.
  if (reason === 'configuration' || (state !== 'disabled' && state !== 'open')) return []
  const about = { severity: 'critical', subject: id, count: null, since } as const
  if (state === 'disabled') {
    const message = "its vendor refuses the channel's key"
    return [{ ...about, code: 'channel_disabled', message, cause: null }]
  }
  const cause = reason ?? 'failing'
  const message = `it is not asked at the moment: ${cause}`
  return [{ ...about, code: 'channel_open', message, cause }]
}

function priceAlert({ model, reason, refused }: MissingPrice): Alert {
  const requests = refused === 1 ? '1 request was' : `${refused} requests were`
  const asked = refused === 0 ? '' : `; ${requests} refused in the last hour`
  return {
    code: 'price_missing',
    severity: refused === 0 ? 'warning' : 'critical',
    subject: model,
    message: `${reason}${asked}`,
    count: refused,
    cause: reason,
    since: null,
  }
}

const failures = {
  archive: ['archive_failing', 'requests past their time cannot be archived, and stay'],
  export: ['export_failing', 'requests do not leave to it, and stay'],
} as const

function workAlert({ work, subject, failure, since }: FailingWork): Alert {
  const [code, what] = failures[work]
  return {
    code,
    severity: 'warning',
    subject: subject === '' ? null : subject,
    message: `${what}: ${failure}`,
    count: null,
    cause: failure,
    since: timeText(since),
  }
}
