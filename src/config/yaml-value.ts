// Turns the nodes of a YAML document into plain data in one pass: aliases, merge keys and duplicate keys.

import { type Alias, isAlias, isMap, isScalar, isSeq, type ParsedNode, type YAMLMap } from 'yaml'

/** What is wrong, and its offset in characters. */
export interface Fault {
  readonly at: number
  readonly what: string
}

/**
 * Most values that all aliases of a file may stand for together. The data of an alias is copied later on, and a page of
 * aliases of aliases would expand beyond any memory.
 */
const mostRepeated = 1_000_000

interface Anchored {
  value: unknown
  /** Values in it, aliases at their full size; null while it is read: an alias of it would contain itself. */
  size: number | null
}

/**
 * Reads in linear time: the library searches the whole document for each alias, and compares each key with all before
 * it.
 */
class Reader {
  readonly faults: Fault[] = []
  /** Anchored values by name; of a name that is anchored twice the last value counts. */
  readonly #anchors = new Map<string, Anchored>()
  /** Values read so far, aliases at their full size. */
  #size = 0
  #repeated = 0

  read(node: ParsedNode | null): unknown {
    this.#size += 1
    if (node === null) return null
    if (isAlias(node)) return this.#aliased(node)
    if (node.anchor === undefined) return this.#content(node)
    const anchored: Anchored = { value: null, size: null }
    this.#anchors.set(node.anchor, anchored)
    const before = this.#size
    anchored.value = this.#content(node)
    anchored.size = this.#size - before + 1
    return anchored.value
  }

  #aliased(alias: Alias.Parsed): unknown {
    const anchored = this.#anchors.get(alias.source)
    if (anchored === undefined) return this.#fault(alias, 'alias without an anchor before it')
    if (anchored.size === null)
      return this.#fault(
        alias,
        'an alias inside the value of its own anchor, which would never end',
      )
    this.#repeated += anchored.size
    if (this.#repeated <= mostRepeated) {
      this.#size += anchored.size
      return anchored.value
    }
    // Reported once, since every later alias is past the limit too.
    if (this.#repeated - anchored.size <= mostRepeated)
      this.#fault(alias, `aliases up to here stand for more than ${mostRepeated} values`)
    return {}
  }

  #content(node: Exclude<ParsedNode, Alias.Parsed>): unknown {
    if (isMap(node)) return this.#section(node)
    if (isSeq(node)) {
      return node.items.map((item) =>
        isPlain(item) ? this.read(item) : this.#fault(node, 'an unknown tag'),
      )
    }
    const { value } = node
    if (value === null || /^(string|number|boolean)$/.test(typeof value)) return value
    return this.#fault(node, 'an unknown tag')
  }

  #section({ items }: YAMLMap.Parsed): Readonly<Record<string, unknown>> {
    const entries = new Map<string, unknown>()
    const said = new Set<string>()
    for (const { key, value } of items) {
      if (isMerge(key)) {
        for (const [name, merged] of this.#merged(value))
          if (!entries.has(name)) entries.set(name, merged)
        continue
      }
      const name = this.#name(key)
      if (said.has(name)) this.#fault(key, 'a key that occurs twice in its section')
      said.add(name)
      entries.set(name, this.read(value))
    }
    return Object.fromEntries(entries)
  }

  #merged(node: ParsedNode | null): readonly (readonly [string, unknown])[] {
    const known = this.faults.length
    const value = this.read(node)
    if (this.faults.length > known) return []
    const sources: readonly unknown[] = Array.isArray(value) ? value : [value]
    return sources.flatMap((source) => {
      if (typeof source === 'object' && source !== null && !Array.isArray(source))
        return Object.entries(source)
      this.#fault(node, 'expected a section, or a list of sections, for << to merge')
      return []
    })
  }

  #name(key: ParsedNode): string {
    const name = this.read(key)
    if (typeof name === 'object' && name !== null)
      this.#fault(key, 'a section or a list cannot be a key')
    // Sections are copied later, and some ways of copying would drop this key.
    if (name === '__proto__') this.#fault(key, 'a key cannot be called __proto__')
    return String(name ?? '')
  }

  #fault(node: ParsedNode | null, what: string): null {
    this.faults.push({ at: node?.range[0] ?? 0, what })
    return null
  }
}

/** The plain data of a document, and its faults; with faults the data has gaps. */
export function readNodes(root: ParsedNode | null): {
  readonly value: unknown
  readonly faults: readonly Fault[]
} {
  const reader = new Reader()
  const value = reader.read(root)
  return { value, faults: reader.faults }
}

/** Some tags make the library put other things than values into lists. */
function isPlain(item: unknown): item is ParsedNode {
  return isAlias(item) || isScalar(item) || isMap(item) || isSeq(item)
}

/** `<<` without quotes, which the library reads as a symbol. */
function isMerge(key: ParsedNode): boolean {
  return isScalar(key) && typeof key.value === 'symbol'
}
