// The types of a CLI command and of what it is given.

export interface Option {
  readonly type: 'string' | 'boolean'
  /** The placeholder of the value in help: `NAME`. */
  readonly value?: string
  readonly help: string
}

export interface Context {
  /** The words after the command's name. */
  readonly words: readonly string[]
  readonly flags: Flags
  readonly env: Readonly<Record<string, string | undefined>>
  readonly json: boolean
  readonly nowMs: number
}

export interface Command {
  /** The command's words: `key create`. */
  readonly name: string
  /** Its arguments as help shows them: `ID`, `[FILE]`, `NAME=PRICE...` for one or more. */
  readonly words: readonly string[]
  readonly summary: string
  readonly options: Readonly<Record<string, Option>>
  /** For each field of the use case's input, the option or argument that gives it, where the names differ. */
  readonly fields?: Readonly<Record<string, string>>
  /** Advice that only the command line can give, by refusal and field: `not_found id`. */
  readonly hints?: Readonly<Record<string, string>>
  /** Set where the command prints no value and takes no `--json`. */
  readonly json?: false
  /** Returns the exit code where it is not 0. */
  run(context: Context): Promise<number | undefined>
}

/** The command line itself is wrong: exit code 2. */
export class UsageError extends Error {}

/** The given flags, by name without dashes; each is checked when it is read. */
export class Flags {
  readonly #values: ReadonlyMap<string, string>

  constructor(values: ReadonlyMap<string, string>) {
    this.#values = values
  }

  has(name: string): boolean {
    return this.#values.has(name)
  }

  text(name: string): string | undefined {
    const value = this.#values.get(name)
    if (value !== undefined && value.trim() === '') {
      throw new UsageError(`--${name} must not be empty`)
    }
    return value
  }

  required(name: string): string {
    const value = this.text(name)
    if (value === undefined) throw new UsageError(`--${name} is missing`)
    return value
  }

  /** NaN where the value is not a whole number. */
  number(name: string): number | undefined {
    const value = this.text(name)
    if (value === undefined) return undefined
    return /^\d+$/.test(value) ? Number(value) : Number.NaN
  }
}

/** A parsed command line. */
export interface Line {
  readonly command: Command
  readonly words: readonly string[]
  readonly flags: Flags
}
