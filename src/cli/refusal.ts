// A refusal of a use case in the words of the command line that brought it about.

import type { AdminError } from '../admin/use-case.ts'
import { type Line, UsageError } from './command.ts'

/** An error fit to print; a UsageError where it is the line that is wrong. */
export function refusalOf({ refusal, field, message }: AdminError, line: Line): Error {
  const [root = ''] = /^\w+/.exec(field) ?? []
  const advised = `${message}${line.command.hints?.[`${refusal} ${root}`] ?? ''}`
  const place = refusal === 'invalid' ? placeOf(root, line) : null
  if (place === null) return new Error(advised)
  const { label, given } = place
  if (label.endsWith('...')) return new UsageError(advised)
  if (given === undefined) return new UsageError(`${label} ${advised}`)
  return new UsageError(`${label}${field === root ? shown(given) : ''}: ${advised}`)
}

/** The option or word that gives a field; null where the command line does not. */
function placeOf(field: string, { command, words, flags }: Line) {
  const name = command.fields?.[field] ?? field
  if (name in command.options) return { label: `--${name}`, given: flags.text(name) }
  const at = command.words.indexOf(name)
  return at < 0 ? null : { label: name, given: words[at] }
}

/** What would be hard to make out in the line is left out. */
function shown(given: string): string {
  const isPlain = given === given.trim() && given.length <= 128 && !/\p{C}/u.test(given)
  return isPlain ? ` ${given}` : ''
}
