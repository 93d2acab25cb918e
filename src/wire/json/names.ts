// Ensures that JSON readers read a document alike: no member named twice, no known member spelled in another case.

import { invalidRequest } from '../../errors.ts'
import {
  JsonSyntaxError,
  parseSpan,
  type StructureVisitor,
  stringEnd,
  textOf,
  walk,
} from './scan.ts'
import type { Edit } from './splice.ts'

/**
 * An object whose members a format gives a meaning. To some JSON readers (Go's) a name that differs only in case is
 * the same member, to others another one. The elements of an array share the place of the array.
 */
export interface Place {
  /** The place of each member's value; null where nothing inside has a meaning. */
  readonly inside: ReadonlyMap<string, Place | null>
  /** Known names by their case-folded form, as a case-insensitive reader sees them. */
  readonly spelled: ReadonlyMap<string, readonly string[]>
  /** Maps a spelling to its canonical name, where one member has several; else null. */
  readonly nameOf: ((name: string) => string) | null
}

/** `inside`: members that are objects with settings of their own, or arrays of such objects. */
export function placeOf(
  names: Iterable<string>,
  inside: Readonly<Record<string, Place>> = {},
  nameOf: Place['nameOf'] = null,
): Place {
  const places = new Map<string, Place | null>([...names].map((name) => [name, null]))
  for (const [name, place] of Object.entries(inside)) places.set(name, place)
  const spelled = new Map<string, string[]>()
  for (const name of places.keys()) {
    const known = spelled.get(fold(name))
    if (known === undefined) spelled.set(fold(name), [name])
    else known.push(name)
  }
  return { inside: places, spelled, nameOf }
}

/** A name without its case, as Go's encoding/json folds it, which includes the long s and the Kelvin sign. */
function fold(name: string): string {
  return name.toUpperCase().toLowerCase()
}

/** The most members of all open objects together; a request has about a hundred. */
const MAX_OPEN_MEMBERS = 65_536
/** The most names with escapes, which are slow to read, and the most of them that are rewritten plainly. */
const MAX_ESCAPED = 16_384
const MAX_EDITS = 256
/** Objects with up to this many members are compared in pairs, without a hash table. */
const FEW = 16
const MAX_DEPTH = 72
const MAX_SHOWN_CHARS = 64

/** Random, so that nobody can choose names that collide in the table. */
const seed = (Math.random() * 0x1_0000_0000) | 0
const prime = 0x01000193

class NameCheck implements StructureVisitor {
  private bytes: Uint8Array = new Uint8Array(0)
  private edits: Edit[] = []
  private escaped = 0
  private pending: Place | null = null
  private depth = 0
  /** For each open container: its first member's index in the lists below, or -1 - the element's index for an array. */
  private readonly bases = new Int32Array(MAX_DEPTH)
  private readonly places: (Place | null)[] = []
  /** For each member of each open object: its name's span without quotes, hash, and text where the bytes differ. */
  private count = 0
  private starts = new Int32Array(1_024)
  private ends = new Int32Array(1_024)
  private hashes = new Int32Array(1_024)
  private readonly texts: (string | null)[] = []
  private table = new Int32Array(64)

  /** Gives edits that spell needlessly escaped names plainly. Throws GatewayError, JsonSyntaxError. */
  run(bytes: Uint8Array, at: number, place: Place): readonly Edit[] {
    this.bytes = bytes
    this.pending = place
    this.edits = []
    this.escaped = 0
    this.depth = 0
    this.count = 0
    try {
      walk(bytes, at, this)
      return this.edits
    } finally {
      this.bytes = new Uint8Array(0)
      this.texts.length = 0
      this.places.length = 0
    }
  }

  open(isObject: boolean): void {
    this.places[this.depth] = this.pending
    this.bases[this.depth] = isObject ? this.count : -1
    this.depth++
  }

  element(): void {
    const top = this.depth - 1
    this.bases[top] = (this.bases[top] ?? 0) - 1
    this.pending = this.places[top] ?? null
  }

  key(at: number): number {
    const { bytes } = this
    let hash = seed
    let next = at + 1
    for (;;) {
      const code = bytes[next]
      if (code === 0x22) break
      if (code === undefined || code === 0x5c || code >= 0x80) return this.oddKey(at)
      hash = Math.imul(hash ^ code, prime)
      next++
    }
    if (this.places[this.depth - 1] != null)
      return this.known(at, next + 1, textOf(bytes, at + 1, next), hash)
    this.pending = null
    this.add(at + 1, next, hash, null)
    return next + 1
  }

  /** Handles a name with escapes or with characters beyond ASCII. */
  private oddKey(at: number): number {
    const { bytes } = this
    const end = stringEnd(bytes, at)
    const raw = textOf(bytes, at, end)
    const escaped = raw.includes('\\')
    const text = escaped ? String(parseSpan(bytes, at, end)) : raw.slice(1, -1)
    if (escaped) {
      if (/^\w+$/.test(text)) this.edits.push({ start: at, end, text: `"${text}"` })
      if (++this.escaped > MAX_ESCAPED || this.edits.length > MAX_EDITS)
        throw new JsonSyntaxError(at, 'too many names with escapes')
    }
    if (this.places[this.depth - 1] != null) return this.known(at, end, text, hashOf(text))
    this.pending = null
    this.add(at + 1, end - 1, hashOf(text), text)
    return end
  }

  /** Handles a name in an object with known names. */
  private known(at: number, end: number, text: string, hash: number): number {
    const place = this.places[this.depth - 1]
    if (place == null) return end
    const name = place.nameOf === null ? text : place.nameOf(text)
    this.add(at + 1, end - 1, name === text ? hash : hashOf(name), name)
    const inside = place.inside.get(text)
    this.pending = inside ?? null
    if (inside !== undefined) return end
    const spelled = place.spelled.get(fold(text))
    if (spelled === undefined) return end
    const param = this.pathOf(this.depth, shown(text))
    throw invalidRequest(`${param} must be spelled ${spelled.join(' or ')}`, param)
  }

  private add(start: number, end: number, hash: number, text: string | null): void {
    const at = this.count
    if (at === this.starts.length) this.grow(start)
    this.starts[at] = start
    this.ends[at] = end
    this.hashes[at] = hash
    this.texts[at] = text
    this.count = at + 1
  }

  private grow(offset: number): void {
    const size = this.starts.length * 2
    if (size > MAX_OPEN_MEMBERS) throw new JsonSyntaxError(offset, 'too many members')
    this.starts = grown(this.starts, size)
    this.ends = grown(this.ends, size)
    this.hashes = grown(this.hashes, size)
  }

  close(isObject: boolean): void {
    this.depth--
    if (!isObject) return
    const base = this.bases[this.depth] ?? 0
    const members = this.count - base
    if (members > FEW) this.compareMany(base)
    else if (members > 1) this.compareFew(base)
    this.count = base
  }

  private compareFew(base: number): void {
    const { hashes, count } = this
    for (let at = base + 1; at < count; at++) {
      const hash = hashes[at]
      for (let before = base; before < at; before++) {
        if (hashes[before] === hash && this.same(before, at)) this.refuse(at)
      }
    }
  }

  private compareMany(base: number): void {
    const { hashes, count } = this
    let size = 64
    while (size < (count - base) * 2) size *= 2
    if (size > this.table.length) this.table = new Int32Array(size)
    const { table } = this
    const mask = size - 1
    table.fill(0, 0, size)
    for (let at = base; at < count; at++) {
      const hash = hashes[at] ?? 0
      let slot = Math.imul(hash ^ (hash >>> 15), 0x85ebca6b) >>> 7
      for (;;) {
        slot &= mask
        const before = (table[slot] ?? 0) - 1
        if (before < 0) break
        if (hashes[before] === hash && this.same(before, at)) this.refuse(at)
        slot++
      }
      table[slot] = at + 1
    }
  }

  private same(one: number, other: number): boolean {
    const { bytes, starts, ends, texts } = this
    if ((texts[one] ?? null) !== null || (texts[other] ?? null) !== null)
      return this.textAt(one) === this.textAt(other)
    let at = starts[one] ?? 0
    let beside = starts[other] ?? 0
    const end = ends[one] ?? 0
    if (end - at !== (ends[other] ?? 0) - beside) return false
    for (; at < end; at++, beside++) if (bytes[at] !== bytes[beside]) return false
    return true
  }

  private textAt(member: number): string {
    return (
      this.texts[member] ?? textOf(this.bytes, this.starts[member] ?? 0, this.ends[member] ?? 0)
    )
  }

  private refuse(member: number): never {
    // The object is closed already, but its members are still in the lists.
    const param = this.pathOf(this.depth + 1, shown(this.textAt(member)))
    throw invalidRequest(`${param} may be given only once`, param)
  }

  /** The path of a member of the object at `depth`. */
  private pathOf(depth: number, name: string): string {
    let path = ''
    for (let level = 0; level < depth - 1; level++) {
      const base = this.bases[level] ?? 0
      if (base < 0) path += `[${-1 - base}]`
      else path = joined(path, shown(this.textAt(this.lastOf(level))))
    }
    return joined(path, name)
  }

  /** The current member of the object at `level`: the one before the first member of the next inner object. */
  private lastOf(level: number): number {
    for (let inner = level + 1; inner < MAX_DEPTH; inner++) {
      const base = this.bases[inner] ?? -1
      if (base >= 0) return base - 1
    }
    return this.count - 1
  }
}

function joined(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`
}

function shown(name: string): string {
  const short = name.length > MAX_SHOWN_CHARS ? `${name.slice(0, MAX_SHOWN_CHARS)}...` : name
  return /^[\p{L}\p{N}_$-]+(\.\.\.)?$/u.test(short) ? short : JSON.stringify(short)
}

function hashOf(text: string): number {
  let hash = seed
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), prime)
  return hash
}

function grown(list: Int32Array<ArrayBuffer>, size: number): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(size)
  larger.set(list)
  return larger
}

const check = new NameCheck()

/**
 * Refuses a repeated name at any depth, and a name that differs from a known one only in case. Gives edits that spell
 * names of letters, digits and `_` plainly where they are written with escapes. Throws GatewayError naming the
 * member, or JsonSyntaxError. `at`: the opening brace.
 */
export function checkNames(bytes: Uint8Array, at: number, place: Place): readonly Edit[] {
  return check.run(bytes, at, place)
}
