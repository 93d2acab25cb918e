// Input schemas of requests and the ledger.

import { z } from 'zod'
import {
  amount,
  count,
  mostOnPage,
  oneAccount,
  page,
  readBy,
  since,
  someAccount,
  text,
  until,
} from './schema-parts.ts'

/** A whole number as text, as both a query and a command line give it. */
function wholeText(least: number, most: number) {
  const expected = `expected a whole number from ${least} to ${most}`
  return readBy((value) => {
    const number = /^\d{1,15}$/.test(value) ? Number(value) : -1
    return number >= least && number <= most ? number : null
  }, expected)
}

const id = text.max(1_024)
export const format = z
  .enum(['csv', 'json'], 'expected csv or json')
  .describe('CSV, or JSON with one object on each line')

/** A filter of requests; every field narrows it. */
const search = {
  id: id.optional().describe('Only the request with this id'),
  account: id.optional().describe(someAccount),
  key: id.optional().describe('Only requests of this key, by its id'),
  model: id.optional().describe('Only requests that asked for this model'),
  modelServed: id.optional().describe('Only requests answered by this model, by the vendor’s name'),
  group: id.optional().describe('Only requests of this group'),
  operation: id.optional().describe('Only requests of this operation, such as `chat`'),
  channel: id.optional().describe('Only requests of this channel; only for operators'),
  client: id.optional().describe('Only requests of this client program'),
  vendorRequestId: id.optional().describe('Only requests to which the vendor gave this id'),
  tag: id.optional().describe('Only requests that the client labelled so (`x-tollgate-tag`)'),
  errorCode: id.optional().describe('Only requests that failed with this code'),
  stream: z
    .enum(['true', 'false'], 'expected true or false')
    .transform((value) => value === 'true')
    .optional()
    .describe('true: only streams; false: only others'),
  status: wholeText(100, 599).optional().describe('Only requests with this HTTP status'),
  statusClass: z
    .enum(['1xx', '2xx', '3xx', '4xx', '5xx'], 'expected 2xx, 4xx or 5xx')
    .transform((value) => Number(value[0]))
    .optional()
    .describe('Only requests with a status of this class'),
  outcome: z
    .enum(['ok', 'failed', 'interrupted'], 'expected ok, failed or interrupted')
    .optional()
    .describe(
      'ok: only requests answered in full; failed: only those that were not; interrupted: only those that failed after ' +
        'their status was sent',
    ),
  minCost: amount
    .optional()
    .describe('Only requests that were charged at least this, as a decimal of the currency'),
  minLatencyMs: wholeText(0, 86_400_000)
    .optional()
    .describe('Only requests that took at least this long, in ms'),
  since: since.optional(),
  until: until.optional(),
}

export const usageInputs = {
  listUsage: z.strictObject({ ...search, ...page, limit: count(mostOnPage).default(100) }),
  showRequest: z.strictObject({ id }),
  shareRequest: z.strictObject({
    id,
    days: z
      .int('expected a whole number of days')
      .min(1)
      .max(90)
      .optional()
      .describe('Days after which the link expires; 7 by default'),
  }),
  readSharedRequest: z.strictObject({ token: id }),
  /** `most`: rows at a time; where there are more the oldest are left out, and the result says so. */
  followRequests: z.strictObject({
    ...search,
    most: wholeText(1, 10_000)
      .optional()
      .describe('Most requests that are sent at a time; older ones are left out'),
  }),
  exportRequests: z.strictObject({ ...search, format: format.default('csv') }),
  listRunning: z.strictObject({ account: id.optional().describe(someAccount) }),
  stopRequest: z.strictObject({ id }),
  listEntries: z.strictObject({
    account: id.optional().describe(oneAccount),
    since: since.optional(),
    until: until.optional(),
    ...page,
    limit: count(mostOnPage).default(100),
  }),
}
