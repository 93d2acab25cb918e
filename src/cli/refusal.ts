// Puts a use case's refusal into the terms of the command line that caused it.

import type { AdminError } from '../admin/use-case.ts'
import { type Line, UsageError } from './command.ts'

/** An error fit to print; a UsageError where the command line is wrong. */
export function refusalOf({ refusal, field, message }: AdminError, line: Line): Error {
  const [root = ''] = /^\w+/.exec(field) ?? []
  const advised = `${message}${line.command.hints?.[`${refusal} ${root}`] ?? ''}`
  const place = refusal === 'invalid' ? placeOf(root, line) : null
  if (place === null) {
    const isSet = refusal === 'invalid' && line.flags.text('set') !== undefined
    return isSet ? new UsageError(`--set: ${field && `${field}: `}${advised}`) : new Error(advised)
  }
  const { label, given } = place
  if (label.endsWith('...')) return new UsageError(advised)
  if (given === undefined) return new UsageError(`${label} ${advised}`)
  const within = field.slice(root.length)
  // An entry of a list that is given as one word.
  if (/^\[\d+\]\./.test(within)) return new UsageError(`${label}${within}: ${advised}`)
  return new UsageError(`${label}${within === '' ? shown(given) : ''}: ${advised}`)
}

/** The option or argument that gives a field; null where the command line does not give it. */
function placeOf(field: string, { command, words, flags }: Line) {
  const name = command.fields?.[field] ?? field
  if (name in command.options) return { label: `--${name}`, given: flags.text(name) }
  const at = command.words.indexOf(name)
  return at < 0 ? null : { label: name, given: words[at] }
}

/** The given text; '' where it would be hard to recognize in the message. */
function shown(given: string): string {
  const isPlain = given === given.trim() && given.length <= 128 && !/\p{C}/u.test(given)
  return isPlain ? ` ${given}` : ''
}
