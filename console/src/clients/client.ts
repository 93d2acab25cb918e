// The setup of a client as data, so that a test reads it as a person would.

/** The values that are filled in. `base`: the gateway's address without a path or a slash at its end. */
export interface Setup {
  readonly base: string
  readonly key: string
  readonly model: string
}

export interface Client {
  /** Used in addresses. */
  readonly id: string
  readonly name: string
  readonly kind: 'code' | 'agent' | 'app'
  /** The steps in order. */
  readonly steps: (setup: Setup) => readonly Step[]
}

export interface Step {
  /** A file, or where in the client to go; null: a terminal. */
  readonly where: string | null
  readonly text: string
}

/** Between double quotes, as JSON, TOML, YAML, Python, Go and JavaScript read it. */
export const quoted = JSON.stringify

/** One word of a shell: in single quotes if necessary. */
export function word(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}

/** Environment variables of a shell, one a line. */
export function exported(variables: Readonly<Record<string, string>>): string {
  return Object.entries(variables)
    .map(([name, value]) => `export ${name}=${word(value)}`)
    .join('\n')
}
