// Validates a settlement, so that a bad record is refused with the name of its field instead of failing later.

import { maxNano } from '../money.ts'
import type { Settlement } from './ledger.ts'
import { RowRefused } from './store.ts'
import { cleanText } from './text.ts'
import { type ColumnKind, columnValues, placesOf, usageColumns } from './usage-row.ts'

/** Maximum of PostgreSQL's INTEGER. */
const mostSmall = 2_147_483_647

/** Throws `RowRefused`, whose message names the field. */
export function checkSettlement(settlement: Settlement): void {
  const { row, epoch, node, place, fromLeaseNano, capNano } = settlement
  const values = columnValues(row)
  for (const { accepts, places } of checks) {
    for (const at of places) if (!accepts(values[at])) refuse(usageColumns[at]?.field)
  }
  demand(row.requestId !== '' && cleanText(row.requestId) === row.requestId, 'requestId')
  // The whole charge is in `chargeNano` before settling divides it.
  demand(row.writeoffNano === 0n, 'writeoffNano')
  demand(typeof node === 'string' && isCount(epoch), 'node')
  demand(!place || (isCount(place.epoch) && isCount(place.number)), 'place')
  demand(isAmount(fromLeaseNano), 'fromLeaseNano')
  demand(capNano === null || isAmount(capNano), 'capNano')
}

const accepts: Readonly<Record<ColumnKind, (value: unknown) => boolean>> = {
  text: (value) => typeof value === 'string',
  textOrNull: (value) => value === null || typeof value === 'string',
  count: (value) => isCount(value),
  countOrNull: (value) => value === null || isCount(value),
  small: (value) => isCount(value, mostSmall),
  time: isTime,
  timeOrNull: (value) => value === null || isTime(value),
  flag: (value) => typeof value === 'boolean',
  money: isAmount,
  json: (value) => value === null || typeof value === 'object',
}

const checks = (Object.keys(accepts) as ColumnKind[]).map((kind) => ({
  accepts: accepts[kind],
  places: placesOf(kind),
}))

function demand(isRight: boolean, field: string): void {
  if (!isRight) refuse(field)
}

function refuse(field: string | undefined): never {
  throw new RowRefused(`A record cannot be kept for its ${field}`)
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
