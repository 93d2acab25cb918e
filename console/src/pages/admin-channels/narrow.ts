// Selects and sorts channels as the address says.

import { nano } from '../../format.ts'
import { vendorName } from '../../ui/vendor-name.ts'
import type { Channel } from './channels.ts'
import type { ChannelsSearch } from './search.ts'

export function narrowed(channels: readonly Channel[], search: ChannelsSearch): Channel[] {
  const { vendor, tag, state, search: words = '', sort = 'priority', order = 'asc' } = search
  const text = words.toLowerCase()
  const found = channels.filter(
    (channel) =>
      (vendor === undefined || vendor.includes(channel.vendor)) &&
      (state === undefined || state.includes(channel.state)) &&
      (tag === undefined || channel.tags.some((each) => tag.includes(each))) &&
      (text === '' || saidBy(channel).some((each) => each.toLowerCase().includes(text))),
  )
  const sign = order === 'asc' ? 1 : -1
  return found.sort(
    (one, other) => sign * compare(sort, one, other) || one.id.localeCompare(other.id),
  )
}

/** The texts that a search looks through. */
function saidBy({ id, vendor, baseUrl, models, tags, groups, document }: Channel): string[] {
  const note = document['note']
  return [
    id,
    vendor,
    vendorName(vendor),
    baseUrl ?? '',
    ...Object.entries(models ?? {}).flat(),
    ...tags,
    ...(groups ?? []),
    ...(typeof note === 'string' ? [note] : []),
  ]
}

function compare(sort: NonNullable<ChannelsSearch['sort']>, one: Channel, other: Channel): number {
  if (sort === 'id') return one.id.localeCompare(other.id)
  if (sort === 'priority') return one.priority - other.priority
  if (sort === 'success')
    return (one.hour.successPercent ?? Infinity) - (other.hour.successPercent ?? Infinity) || 0
  if (sort === 'p95') return (one.hour.p95Ms ?? 0) - (other.hour.p95Ms ?? 0)
  const difference = nano(one.day.vendorCostNano) - nano(other.day.vendorCostNano)
  return difference === 0n ? 0 : difference > 0n ? 1 : -1
}
