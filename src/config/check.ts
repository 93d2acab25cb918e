// Reads and checks a file's text: the only file that brings in YAML and the schema.

import { interpolate } from './interpolate.ts'
import { parseFile } from './parse.ts'
import type { Problem } from './problems.ts'
import type { FileInput } from './schema.ts'
import type { Environment } from './settings.ts'
import { type KnownNames, validate } from './validate.ts'

export interface Question {
  readonly text: string
  readonly known: KnownNames
}

export interface Checked {
  readonly problems: readonly Problem[]
  /** null where there are problems. Plain JSON data. */
  readonly input: FileInput | null
}

/** Never throws; finds all problems of a kind at once. */
export async function checkText({ text, known }: Question, env: Environment): Promise<Checked> {
  const problems: Problem[] = []
  const parsed = parseFile(text, problems)
  if (problems.length > 0) return { problems, input: null }
  const raw = interpolate(parsed, env, problems)
  const validated = validate(raw, known)
  if (!validated.ok) {
    // An unset variable leaves an empty text behind: what follows from that is not told twice.
    const told = new Set(problems.map(({ path }) => path))
    problems.push(...validated.problems.filter(({ path }) => !told.has(path)))
  }
  return { problems, input: validated.ok && problems.length === 0 ? validated.input : null }
}
