// What a settlement must be to be kept, so that one bad record is refused by name and not by a crash half-way.

import { maxNano } from '../money.ts'
import type { Settlement } from './ledger.ts'
import { RowRefused } from './store.ts'
import { cleanText } from './text.ts'
import type { UsageRow } from './usage-row.ts'

type Field = keyof UsageRow

const texts: readonly Field[] = [
  'requestId',
  'account',
  'key',
  'keyName',
  'group',
  'operation',
  'modelAsked',
  'usageSource',
]
const textsOrNull: readonly Field[] = [
  'modelServed',
  'channel',
  'vendor',
  'errorCode',
  'errorCause',
]
const counts: readonly Field[] = [
  'input',
  'cachedInput',
  'cacheWrite',
  'output',
  'reasoning',
  'cacheWrite1h',
  'audioInput',
  'audioOutput',
  'imageInput',
  'imageOutput',
  'multiplierPpm',
]
const smallCounts: readonly Field[] = ['attempts', 'status']
const times: readonly Field[] = ['at', 'durationMs']
const amounts: readonly Field[] = ['chargeNano', 'writeoffNano', 'vendorCostNano']
/** What PostgreSQL's INTEGER holds. */
const mostSmall = 2_147_483_647

/** Throws `RowRefused`, which names the field. */
export function checkSettlement(settlement: Settlement): void {
  const { row, epoch, node, place, fromLeaseNano, capNano } = settlement
  for (const field of texts) demand(typeof row[field] === 'string', field)
  for (const field of textsOrNull) demand(isNullOr('string', row[field]), field)
  for (const field of counts) demand(isCount(row[field]), field)
  for (const field of smallCounts) demand(isCount(row[field], mostSmall), field)
  for (const field of times) demand(isTime(row[field]), field)
  for (const field of amounts) demand(isAmount(row[field]), field)
  demand(row.requestId !== '' && cleanText(row.requestId) === row.requestId, 'requestId')
  demand(row.ttftMs === null || isTime(row.ttftMs), 'ttftMs')
  demand(row.priceVersion === null || isCount(row.priceVersion), 'priceVersion')
  demand(isNullOr('object', row.units), 'units')
  demand(isNullOr('object', row.failedAttempts), 'failedAttempts')
  // The whole charge is in one place until settling divides it.
  demand(row.writeoffNano === 0n, 'writeoffNano')
  demand(typeof node === 'string' && isCount(epoch), 'node')
  demand(!place || (isCount(place.epoch) && isCount(place.number)), 'place')
  demand(isAmount(fromLeaseNano), 'fromLeaseNano')
  demand(capNano === null || isAmount(capNano), 'capNano')
}

function demand(isRight: boolean, field: string): void {
  if (!isRight) throw new RowRefused(`A record cannot be kept for its ${field}`)
}

function isNullOr(type: 'string' | 'object', value: unknown): boolean {
  return value === null || typeof value === type
}

function isCount(value: unknown, most = Number.MAX_SAFE_INTEGER): boolean {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 && value <= most
}

function isTime(value: unknown): boolean {
  return typeof value === 'number' && value >= 0 && value <= Number.MAX_SAFE_INTEGER
}

function isAmount(value: unknown): boolean {
  return typeof value === 'bigint' && value >= 0n && value <= maxNano
}
