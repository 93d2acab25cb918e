// What a command of the CLI is, and what it is given.

export interface Option {
  readonly type: 'string' | 'boolean'
  /** How the value is called in help: `NAME`. */
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
  /** `key create`. */
  readonly name: string
  /** Words it takes, as help shows them: `ID`, `[FILE]`, `NAME=PRICE...` for one or more. */
  readonly words: readonly string[]
  readonly summary: string
  readonly options: Readonly<Record<string, Option>>
  /** What of the line gave a field of the use case's input: an option or a word, where it is not called as the field. */
  readonly fields?: Readonly<Record<string, string>>
  /** Advice that only a command line can give, by refusal and field: `not_found id`. */
  readonly hints?: Readonly<Record<string, string>>
  /** It prints no value, so it takes no `--json`. */
  readonly json?: false
  /** Returns the exit code when it is not 0. */
  run(context: Context): Promise<number | undefined>
}

/** The command line itself is wrong: exit 2. */
export class UsageError extends Error {}

/** The flags given, by name without dashes; reading one checks it. */
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

  /** Not a number where it is no whole one. */
  number(name: string): number | undefined {
    const value = this.text(name)
    if (value === undefined) return undefined
    return /^\d+$/.test(value) ? Number(value) : Number.NaN
  }
}

/** A command line, taken apart. */
export interface Line {
  readonly command: Command
  readonly words: readonly string[]
  readonly flags: Flags
}
