// What a channel changes in the JSON sent to its vendor: members set, removed, or defaulted where the client gave none.

import { isLimit } from '../config/parameter-rules.ts'
import type { ParameterSettings } from '../config/types.ts'
import type { JsonValue } from '../wire/ir.ts'
import { type Member, members, skipSpace } from '../wire/json/scan.ts'
import { type Edit, splice } from '../wire/json/splice.ts'
import { removals } from '../wire/json/without.ts'
import { parsedObject } from './parsed.ts'

type Given = JsonValue | undefined
type Change = (value: Given) => Given

/** Returns the changed body as segments; the same bytes where nothing changes. Throws GatewayError. */
export type BodyChanges = (body: Uint8Array) => readonly Uint8Array[]

/** Applies removals first, then defaults, then the values that are set. */
export function bodyChanges({ set, remove = [], defaults }: ParameterSettings): BodyChanges {
  const changes = new Map<string, Change[]>()
  const add = (path: string, change: Change) => {
    const [name = '', ...deeper] = path.split('.')
    changes.set(name, [...(changes.get(name) ?? []), within(deeper, change)])
  }
  for (const path of remove) add(path, () => undefined)
  const given = Object.entries(defaults ?? {}) as [string, JsonValue][]
  for (const [path, value] of given) add(path, (found) => found ?? value)
  const forced = Object.entries(set ?? {}) as [string, JsonValue][]
  for (const [path, value] of forced) add(path, () => value)
  const setsLimit = forced.some(([path]) => isLimit(path))
  return (body) => {
    const found = members(body, skipSpace(body, 0))
    const limits = found.filter(
      ({ key, kind }) => isLimit(key) && kind !== 'null' && !remove.includes(key),
    )
    const gone = new Set<string>()
    // A vendor refuses a request with two token limits, or picks either: the client's goes where the channel sets one.
    if (setsLimit) for (const { key } of limits) if (!changes.has(key)) gone.add(key)
    const edits: Edit[] = []
    const added: string[] = []
    for (const [name, list] of changes) {
      const member = found.find(({ key }) => key === name)
      const before = member && valueOf(body, member)
      const isLimited = limits.length > 0 && isLimit(name) && !setsLimit
      const after = isLimited && before === undefined ? before : changed(before, list)
      if (after === before) continue
      const text = JSON.stringify(after)
      if (after === undefined) gone.add(name)
      else if (member === undefined) added.push(`${JSON.stringify(name)}:${text}`)
      else edits.push({ start: member.start, end: member.end, text })
    }
    if (gone.size > 0) edits.push(...removals(found, ({ key }) => gone.has(key)))
    if (added.length > 0) edits.push(insertion(body, found, gone, added))
    return edits.length === 0 ? [body] : splice(body, edits)
  }
}

function changed(before: Given, list: readonly Change[]): Given {
  return list.reduce((value, change) => change(value), before)
}

function valueOf(body: Uint8Array, { start, end }: Member): Given {
  return parsedObject(body.subarray(start, end))
}

/** A change to a member deeper in an object; a value that is not an object there is left for the vendor to judge. */
function within([name, ...deeper]: readonly string[], change: Change): Change {
  if (name === undefined) return change
  const inner = within(deeper, change)
  return (value) => {
    if (
      value !== undefined &&
      value !== null &&
      (typeof value !== 'object' || Array.isArray(value))
    )
      return value
    const object = value ?? {}
    const before = Object.hasOwn(object, name) ? object[name] : undefined
    const after = inner(before)
    if (after === before) return value
    const { [name]: _, ...others } = object
    return after === undefined ? others : { ...others, [name]: after }
  }
}

function insertion(
  body: Uint8Array,
  found: readonly Member[],
  gone: ReadonlySet<string>,
  added: readonly string[],
): Edit {
  const at = found.at(-1)?.end ?? skipSpace(body, 0) + 1
  const isFirst = found.every(({ key }) => gone.has(key))
  return { start: at, end: at, text: (isFirst ? '' : ',') + added.join(',') }
}
