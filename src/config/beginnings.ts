// Patterns such as `gpt-*`, which stand for all names that begin alike: finds those that match a name, in few steps.

/** Whether a name is a pattern, which stands for all names that begin with the text before its star. */
export function isPattern(name: string): boolean {
  return name.endsWith('*')
}

/** Whether a name is equal to the pattern or matches it. */
export function fits(pattern: string, name: string): boolean {
  return isPattern(pattern) ? name.startsWith(pattern.slice(0, -1)) : name === pattern
}

/** Values by the beginnings of names, without stars; of one given twice the first value counts. */
export class Beginnings<Value> {
  readonly #values = new Map<string, Value>()
  /** The distinct lengths of the beginnings, longest first: few, however many beginnings there are. */
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

  /** The values of every beginning of a name, longest first. */
  *all(name: string): Generator<Begun<Value>> {
    for (const length of this.#lengths) {
      if (length > name.length) continue
      const beginning = name.slice(0, length)
      const value = this.#values.get(beginning)
      if (value !== undefined) yield { beginning, value }
    }
  }

  /** The value of the longest beginning of a name. */
  find(name: string): Begun<Value> | undefined {
    for (const found of this.all(name)) return found
    return undefined
  }
}

interface Begun<Value> {
  readonly beginning: string
  readonly value: Value
}
