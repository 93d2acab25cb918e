// The fields in which an item differs after a change, for operator events.

import type { EventChanges } from '../../store/control.ts'

export type Shown = Readonly<Record<string, unknown>>

/** Where the changes are larger than this, only the fields' names are kept. */
const mostBytes = 16_384
/** The revision differs after every change. */
const uninteresting = new Set(['revision'])

/** null: nothing changed. */
export function changesBetween(before: Shown | null, after: Shown | null): EventChanges | null {
  const names = new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])
  const changes = [...names].flatMap((name) => {
    const [was, is] = [before?.[name] ?? null, after?.[name] ?? null]
    const isSame = uninteresting.has(name) || JSON.stringify(was) === JSON.stringify(is)
    return isSame ? [] : [[name, { before: was, after: is }] as const]
  })
  if (changes.length === 0) return null
  const all = Object.fromEntries(changes)
  if (JSON.stringify(all).length <= mostBytes) return all
  return Object.fromEntries(
    changes.map(([name]) => [name, { before: '(large)', after: '(large)' }]),
  )
}
