// Values in files of their own: `{ file: PATH }` in place of a secret, and a file of variables.

import { resolve } from 'node:path'
import { type Problem, pathText } from './problems.ts'
import type { Environment } from './settings.ts'
import { readTextFileSync } from './text-file.ts'

/**
 * The folder that paths start from, and the absolute path of every file read: a change of one changes the
 * configuration.
 */
interface FileValues {
  readonly folder: string
  readonly files: string[]
}

const secretName = /key|secret|token|password/i
const longestBytes = 65_536

/** Replaces each `{ file: PATH }` that stands for a secret by the content of its file. */
export function readSecretFiles(
  value: unknown,
  values: FileValues,
  problems: Problem[],
  path: readonly PropertyKey[] = [],
): unknown {
  if (Array.isArray(value)) {
    return value.map((item, index) => readSecretFiles(item, values, problems, [...path, index]))
  }
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value)
  const [first] = entries
  const isReference = entries.length === 1 && first?.[0] === 'file' && typeof first[1] === 'string'
  if (isReference && secretName.test(String(path.at(-1)))) {
    return readText(String(first[1]), values, problems, path)?.replace(/[\r\n]+$/, '') ?? ''
  }
  return Object.fromEntries(
    entries.map(([name, item]) => [name, readSecretFiles(item, values, problems, [...path, name])]),
  )
}

/** The environment, overridden by the file's `environmentFile`: lines of `NAME=value`. */
export function readEnvironment(
  parsed: unknown,
  env: Environment,
  values: FileValues,
  problems: Problem[],
): Environment {
  const given = Object(parsed).environmentFile
  if (typeof given !== 'string') return env
  const path = ['environmentFile']
  const text = readText(given, values, problems, path)
  if (text === null) return env
  const read: Record<string, string> = {}
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (/^\s*(#|$)/.test(line)) continue
    const [, name, value] = /^\s*(?:export\s+)?([A-Za-z_]\w*)=(.*)$/.exec(line) ?? []
    if (name === undefined || value === undefined) {
      problems.push({ path: pathText(path), message: `line ${index + 1}: expected NAME=value` })
    } else read[name] = value.trim().replace(/^(["'])(.*)\1$/, '$2')
  }
  return { ...env, ...read }
}

function readText(
  given: string,
  { folder, files }: FileValues,
  problems: Problem[],
  path: readonly PropertyKey[],
): string | null {
  const file = resolve(folder, given)
  files.push(file)
  const refused = (reason: string) => {
    problems.push({ path: pathText(path), message: `the file ${file} ${reason}` })
    return null
  }
  const read = readTextFileSync(file, longestBytes)
  if ('refused' in read) return refused(read.refused)
  return read.text.trim() === '' ? refused('is empty') : read.text
}
