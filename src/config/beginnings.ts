// Names that begin alike, written `gpt-*`: found by what they begin with, however many there are.

/** Whether a name stands for all that begin with what is before its star. */
export function isPattern(name: string): boolean {
  return name.endsWith('*')
}

/** Whether a name is this one, or one of those this pattern stands for. */
export function fits(pattern: string, name: string): boolean {
  return isPattern(pattern) ? name.startsWith(pattern.slice(0, -1)) : name === pattern
}

/** What belongs to beginnings, the stars left out; of one that is given twice the first counts. */
export class Beginnings<Value> {
  readonly #values = new Map<string, Value>()
  /** Of beginnings there are, longest first: few, however many beginnings. */
  readonly #lengths: readonly number[]

  constructor(entries: Iterable<readonly [beginning: string, value: Value]>) {
    for (const [beginning, value] of entries)
      if (!this.#values.has(beginning)) this.#values.set(beginning, value)
    const lengths = new Set(Array.from(this.#values.keys(), ({ length }) => length))
    this.#lengths = [...lengths].sort((one, other) => other - one)
  }

  get isEmpty(): boolean {
    return this.#lengths.length === 0
  }

  keys(): Iterable<string> {
    return this.#values.keys()
  }

  /** Of every beginning of a name, the longest first. */
  *all(name: string): Generator<Begun<Value>> {
    for (const length of this.#lengths) {
      if (length > name.length) continue
      const beginning = name.slice(0, length)
      const value = this.#values.get(beginning)
      if (value !== undefined) yield { beginning, value }
    }
  }

  /** Of the longest beginning of a name. */
  find(name: string): Begun<Value> | undefined {
    for (const found of this.all(name)) return found
    return undefined
  }
}

interface Begun<Value> {
  readonly beginning: string
  readonly value: Value
}
