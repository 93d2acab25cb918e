// A channel with several keys is asked with each of them in turn: what each way is called, and which key it has.

import type { ChannelConfig } from './types.ts'

interface Lane {
  /** The channel's own id for the first key that is in use, so that whoever knows the channel alone finds one. */
  readonly lane: string
  /** The key's name; null: the channel has no list of keys. */
  readonly name: string | null
  readonly key: string | null
}

/** One for each key that is in use; none where all of them are disabled. */
export function lanesOf({ id, key, keys }: Pick<ChannelConfig, 'id' | 'key' | 'keys'>): Lane[] {
  if (keys === undefined) return [{ lane: id, name: null, key }]
  const used = keys.filter(({ disabled }) => !disabled)
  // No id has a # in it.
  return used.map(({ name, key }, at) => ({ lane: at === 0 ? id : `${id}#${name}`, name, key }))
}
