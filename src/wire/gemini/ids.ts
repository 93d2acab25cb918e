// Makes ids for calls without one, from the content of the reply, so that they are recognised when sent back.

import { digest } from '../hub/digest.ts'

const prefix = 'call_gem_'

/** `origin`: the reply's id, or whatever else distinguishes the reply. */
export function madeId(origin: string, choice: number, ordinal: number): string {
  const tail = origin.replace(/[^a-zA-Z0-9]/g, '').slice(-16)
  return `${prefix}${tail}${digest(origin)}_${choice}_${ordinal}`
}

export function isMadeId(id: string): boolean {
  return id.startsWith(prefix)
}
