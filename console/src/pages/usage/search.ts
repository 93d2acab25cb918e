// The search parameters in this page's address.

import { rangeFields } from '../../app/range.ts'
import { flag, list, oneOf, searchOf, text } from '../../app/search.ts'

export const metricNames = [
  'spend',
  'requests',
  'tokens',
  'errors',
  'errorRate',
  'ttftP50',
  'ttftP95',
  'latencyP50',
  'latencyP95',
  'throughput',
  'cacheRate',
] as const
export type Metric = (typeof metricNames)[number]

/** The dimensions for grouping and filtering, besides the account that is chosen for every page. */
export const filterNames = [
  'model',
  'key',
  'group',
  'operation',
  'statusClass',
  'tag',
  'channel',
] as const
export type FilterName = (typeof filterNames)[number]
export const dimensionNames = [...filterNames, 'account'] as const
export type Dimension = (typeof dimensionNames)[number] | 'none'

export const sorts = [
  'spend',
  'requests',
  'success',
  'failed',
  'tokens',
  'input',
  'cachedInput',
  'output',
  'reasoning',
  'errorRate',
  'cacheRate',
] as const

export const intervals = ['quarter', 'hour', 'day', 'week', 'month'] as const
export type Interval = (typeof intervals)[number]

export const validateUsageSearch = searchOf({
  ...rangeFields,
  metric: oneOf(...metricNames),
  /** `model` if nothing is set. */
  by: oneOf(...dimensionNames, 'none'),
  by2: oneOf(...dimensionNames),
  /** Not set: chosen to suit the range. */
  interval: oneOf(...intervals),
  compare: flag,
  model: list,
  key: list,
  group: list,
  operation: list,
  statusClass: list,
  tag: list,
  channel: list,
  sort: oneOf(...sorts),
  order: oneOf('asc'),
  /** The panel "what the same requests would cost otherwise" is open. */
  whatif: flag,
  toModel: text,
  toGroup: text,
})

export type UsageSearch = ReturnType<typeof validateUsageSearch>
