// The search parameters in this page's address: the API's own filters, the range, the open request.

import { rangeFields } from '../../app/range.ts'
import { flag, oneOf, searchOf, stringifySearch, text, wholeNumber } from '../../app/search.ts'

const statusClasses = ['2xx', '4xx', '5xx'] as const
const outcomes = ['ok', 'failed', 'interrupted'] as const

/** How requests ended, as one choice: an outcome, or the class of the status. */
export const endings = [...outcomes, '4xx', '5xx'] as const

export const validateRequestsSearch = searchOf({
  ...rangeFields,
  model: text,
  key: text,
  group: text,
  channel: text,
  operation: text,
  statusClass: oneOf(...statusClasses),
  outcome: oneOf(...outcomes),
  errorCode: text,
  stream: oneOf('true', 'false'),
  client: text,
  tag: text,
  id: text,
  vendorRequestId: text,
  minCost: text,
  minLatencyMs: wholeNumber,
  /** New requests are shown as they end. */
  live: flag,
  /** The request that is open. */
  open: text,
  tab: oneOf('overview', 'messages', 'raw'),
})

export type RequestsSearch = ReturnType<typeof validateRequestsSearch>

const filterNames = [
  'model',
  'key',
  'group',
  'channel',
  'operation',
  'statusClass',
  'outcome',
  'errorCode',
  'stream',
  'client',
  'tag',
  'id',
  'vendorRequestId',
  'minCost',
] as const

/** The filter by one of `endings`. */
export function endedBy(ending: string | undefined): Partial<RequestsSearch> {
  const outcome = outcomes.find((each) => each === ending)
  const statusClass = statusClasses.find((each) => each === ending)
  return { outcome, statusClass }
}

/** The filters in the API's form. */
export function filtersOf(search: RequestsSearch) {
  const given = filterNames.flatMap((name) =>
    search[name] === undefined ? [] : [[name, search[name]]],
  )
  const { minLatencyMs } = search
  return {
    ...(Object.fromEntries(given) as Partial<Pick<RequestsSearch, (typeof filterNames)[number]>>),
    ...(minLatencyMs !== undefined && { minLatencyMs: String(minLatencyMs) }),
  }
}

/** Removes everything but the range. */
export const withoutFilters = {
  ...Object.fromEntries(filterNames.map((name) => [name, undefined])),
  minLatencyMs: undefined,
} as const

/** Removes all that a saved view has, and what was open. */
export const withoutView = {
  ...withoutFilters,
  ...Object.fromEntries(Object.keys(rangeFields).map((name) => [name, undefined])),
  live: undefined,
  open: undefined,
  tab: undefined,
} as const

/** The part of the address that is saved as a view: filters, range and whether it follows, without the account. */
export function savedSearch(search: RequestsSearch): string {
  return stringifySearch({ ...validateRequestsSearch(search), open: undefined, tab: undefined })
}
