// The lanes of a channel: it is asked with each of its keys in turn, and each key has a lane with its own health.

import type { ChannelConfig } from './types.ts'

interface Lane {
  /** The first key in use has the channel's own id as its lane, so that the channel's id alone finds one. */
  readonly lane: string
  /** The key's name; null: the channel has no list of keys. */
  readonly name: string | null
  readonly key: string | null
}

/** One lane for each key in use; none where all keys are disabled. */
export function lanesOf({ id, key, keys }: Pick<ChannelConfig, 'id' | 'key' | 'keys'>): Lane[] {
  if (keys === undefined) return [{ lane: id, name: null, key }]
  const used = keys.filter(({ disabled }) => !disabled)
  // Unambiguous, since no channel id contains a #.
  return used.map(({ name, key }, at) => ({ lane: at === 0 ? id : `${id}#${name}`, name, key }))
}
