// The search parameters in this page's address.

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
  /** The tab that is open; left out: its facts and state. */
  tab: oneOf('settings', 'test', 'versions'),
  dialog: oneOf('import', 'new', 'routing'),
  /** For the routing preview. */
  model: text,
  group: text,
})

export type ChannelsSearch = ReturnType<typeof validateChannelsSearch>
