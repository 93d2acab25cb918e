// Replaces ${NAME} by the environment's values after the file is parsed, so that a value cannot change its structure.

import { type Problem, pathText } from './problems.ts'

type Environment = Readonly<Record<string, string | undefined>>

const reference = /\$\$\{|\$\{([^}]*)\}|\$\{/g
const variableName = /^[A-Za-z_][A-Za-z0-9_]*$/

/**
 * Replaces `${NAME}` in every text of a parsed file; `$${` stands for a literal `${`. Key names are left alone. An
 * unset variable is a problem, and so is a reference in another form.
 */
export function interpolate(value: unknown, env: Environment, problems: Problem[]): unknown {
  return visit(value, [], env, problems)
}

function visit(
  value: unknown,
  path: readonly PropertyKey[],
  env: Environment,
  problems: Problem[],
): unknown {
  if (typeof value === 'string') return substitute(value, path, env, problems)
  if (Array.isArray(value)) {
    return value.map((item, index) => visit(item, [...path, index], env, problems))
  }
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value)
    return Object.fromEntries(
      entries.map(([key, item]) => [key, visit(item, [...path, key], env, problems)]),
    )
  }
  return value
}

function substitute(
  text: string,
  path: readonly PropertyKey[],
  env: Environment,
  problems: Problem[],
): string {
  if (!text.includes('${')) return text
  return text.replace(reference, (match, name: string | undefined) => {
    if (match === '$${') return '${'
    if (name === undefined || !variableName.test(name)) {
      const message =
        'expected ${NAME} with the name of an environment variable; $${ is a literal ${'
      problems.push({ path: pathText(path), message })
      return ''
    }
    const value = Object.hasOwn(env, name) ? env[name] : undefined
    if (value === undefined) {
      problems.push({ path: pathText(path), message: `environment variable ${name} is not set` })
    }
    return value ?? ''
  })
}
