// Three ways to read one JSON text, as vendors may: the first of two members counts, the last one, or case does not
// matter.

export type Node = null | boolean | number | string | readonly Node[] | Members
/** Members in their order, including repeated ones. */
export class Members {
  readonly list: readonly (readonly [string, Node])[]

  constructor(list: readonly (readonly [string, Node])[]) {
    this.list = list
  }
}

/** What a reader finds under a name; undefined if it finds none. */
export type Reader = (value: Node, name: string) => Node | undefined

export const first: Reader = (value, name) =>
  value instanceof Members ? value.list.find(([key]) => key === name)?.[1] : undefined

export const last: Reader = (value, name) =>
  value instanceof Members ? value.list.findLast(([key]) => key === name)?.[1] : undefined

/**
 * Like Go's encoding/json: the last member that equals the name in any case, with the long s and the Kelvin sign as
 * letters.
 */
export const blind: Reader = (value, name) =>
  value instanceof Members
    ? value.list.findLast(([key]) => folded(key) === folded(name))?.[1]
    : undefined

function folded(name: string): string {
  return name.replaceAll('\u017f', 's').replaceAll('\u212a', 'k').toLowerCase()
}

/** The object, and the objects nested in it under any of `names`. */
export function objectsIn(value: Node, names: readonly string[], read: Reader): Node[] {
  if (!(value instanceof Members)) return []
  return [value, ...names.flatMap((name) => objectsIn(read(value, name) ?? null, names, read))]
}

/** Reads a text that JSON.parse accepts. */
export function parsed(text: string): Node {
  JSON.parse(text)
  const tokens = text.match(/"(?:[^"\\]|\\.)*"|[^\s[\]{}:,"]+|[[\]{}:,]/gs) ?? []
  let at = 0
  const value = (): Node => {
    const token = tokens[at++] ?? ''
    if (token === '[') return list(']', value)
    if (token !== '{') return JSON.parse(token) as Node
    return new Members(
      list('}', () => {
        const key = JSON.parse(tokens[at] ?? '') as string
        at += 2
        return [key, value()] as const
      }),
    )
  }
  const list = <T>(end: string, one: () => T): T[] => {
    const found: T[] = []
    while (tokens[at] !== end) {
      if (tokens[at] === ',') at++
      found.push(one())
    }
    at++
    return found
  }
  return value()
}
