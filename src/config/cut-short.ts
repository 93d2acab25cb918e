// Tells a configuration file that was emptied or cut off while being written from one that was edited.

import type { Problem } from './problems.ts'

/** A file of blanks and comments declares nothing: applying it would drop every channel, key and price. */
export function emptied(text: string): Problem | null {
  const declares = text.split('\n').some((line) => /^\s*[^\s#]/.test(line.replace(/^\uFEFF/, '')))
  if (declares) return null
  return { path: '', message: 'the file is empty; to use the defaults only, write {}' }
}

/**
 * A beginning of the file in force that ends within a line, lacks a section or lacks all entries of the last one: the
 * result of a copy or an editor that failed half-way. A few entries less at the end count as an edit.
 */
export function cutShort(before: string, now: string): Problem | null {
  const isBeginning = now.length < before.length && before.startsWith(now)
  if (!isBeginning) return null
  const endsLine = now.endsWith('\n') || before[now.length] === '\n'
  const [last = ''] = now.trimEnd().split('\n').slice(-1)
  const [next = ''] = before.slice(now.length).replace(/^\n/, '').split('\n')
  const emptiesSection = sections(last).length > 0 && sections(next).length === 0 && next !== ''
  const losesSection = sections(now).length < sections(before).length
  if (endsLine && !emptiesSection && !losesSection) return null
  return {
    path: '',
    message:
      'the file is only the first part of the configuration in force and may be cut off; send SIGHUP to apply it anyway',
  }
}

function sections(text: string): readonly string[] {
  return text.split('\n').filter((line) => /^["'\w]/.test(line))
}
