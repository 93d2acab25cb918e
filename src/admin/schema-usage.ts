// Input schemas of requests and the ledger.

import { z } from 'zod'
import { amount, count, mostOnPage, page, readBy, since, text, time } from './schema-parts.ts'

/** A whole number as text, as both a query and a command line give it. */
function wholeText(least: number, most: number) {
  const expected = `expected a whole number from ${least} to ${most}`
  return readBy((value) => {
    const number = /^\d{1,15}$/.test(value) ? Number(value) : -1
    return number >= least && number <= most ? number : null
  }, expected)
}

const id = text.max(1_024)
export const format = z.enum(['csv', 'json'], 'expected csv or json')

/** A filter of requests; every field narrows it. */
const search = {
  /** The request id. */
  id: id.optional(),
  account: id.optional(),
  key: id.optional(),
  model: id.optional(),
  modelServed: id.optional(),
  group: id.optional(),
  operation: id.optional(),
  channel: id.optional(),
  client: id.optional(),
  vendorRequestId: id.optional(),
  errorCode: id.optional(),
  stream: z
    .enum(['true', 'false'], 'expected true or false')
    .transform((value) => value === 'true')
    .optional(),
  status: wholeText(100, 599).optional(),
  statusClass: z
    .enum(['1xx', '2xx', '3xx', '4xx', '5xx'], 'expected 2xx, 4xx or 5xx')
    .transform((value) => Number(value[0]))
    .optional(),
  /** In units of the currency. */
  minCost: amount.optional(),
  minLatencyMs: wholeText(0, 86_400_000).optional(),
  since: since.optional(),
  until: time.optional(),
}

export const usageInputs = {
  listUsage: z.strictObject({ ...search, ...page, limit: count(mostOnPage).default(100) }),
  showRequest: z.strictObject({ id }),
  shareRequest: z.strictObject({
    id,
    days: z.int('expected a whole number of days').min(1).max(90).optional(),
  }),
  readSharedRequest: z.strictObject({ token: id }),
  /** `most`: rows at a time; where there are more the oldest are left out, and the result says so. */
  followRequests: z.strictObject({ ...search, most: wholeText(1, 10_000).optional() }),
  exportRequests: z.strictObject({ ...search, format: format.default('csv') }),
  listRunning: z.strictObject({ account: id.optional() }),
  stopRequest: z.strictObject({ id }),
  listEntries: z.strictObject({
    account: id.optional(),
    since: since.optional(),
    until: time.optional(),
    ...page,
    limit: count(mostOnPage).default(100),
  }),
}
