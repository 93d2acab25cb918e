// Parses and checks a file's text: the only file that loads YAML and the schema.

import type { KnownNames } from './cross-check.ts'
import { interpolate } from './interpolate.ts'
import { parseFile } from './parse.ts'
import type { Problem } from './problems.ts'
import type { FileSettings } from './schema.ts'
import { readEnvironment, readSecretFiles } from './secret-files.ts'
import type { Environment } from './settings.ts'
import { validate } from './validate.ts'

export interface Question {
  readonly text: string
  /** The folder that relative paths in the file start from. */
  readonly folder: string
  readonly known: KnownNames
}

export interface Checked {
  readonly problems: readonly Problem[]
  /** null where there are problems. Plain JSON data. */
  readonly input: FileSettings | null
  /** Further files that the configuration takes values from. */
  readonly files: readonly string[]
}

/** Never throws; finds all problems of a kind at once. */
export async function checkText(question: Question, env: Environment): Promise<Checked> {
  const { text, folder, known } = question
  const problems: Problem[] = []
  const files: string[] = []
  const parsed = parseFile(text, problems)
  if (problems.length > 0) return { problems, input: null, files }
  const variables = readEnvironment(parsed, env, { folder, files }, problems)
  const plain = interpolate(parsed, variables, problems)
  const raw = readSecretFiles(plain, { folder, files }, problems)
  const validated = validate(raw, known)
  if (!validated.ok) {
    // An unset variable leaves an empty text: problems that follow from it are not reported too.
    const reported = new Set(problems.map(({ path }) => path))
    problems.push(...validated.problems.filter(({ path }) => !reported.has(path)))
  }
  const input = validated.ok && problems.length === 0 ? validated.input : null
  return { problems, input, files }
}
