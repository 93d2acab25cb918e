// What the address of this page holds.

import { list, oneOf, searchOf, text } from '../../app/search.ts'

export const validateChannelsSearch = searchOf({
  search: text,
  vendor: list,
  tag: list,
  state: list,
  sort: oneOf('id', 'priority', 'success', 'p95', 'spend'),
  order: oneOf('asc', 'desc'),
  /** The channel that is open. */
  open: text,
  /** What of it is shown; left out: what it is and does. */
  tab: oneOf('settings', 'test', 'versions'),
  dialog: oneOf('import', 'new', 'routing'),
  /** Of the routing preview. */
  model: text,
  group: text,
})

export type ChannelsSearch = ReturnType<typeof validateChannelsSearch>
