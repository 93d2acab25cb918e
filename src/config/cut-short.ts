// Tells a configuration file that was emptied or cut off while it was written from one that was edited.

import type { Problem } from './problems.ts'

/** A file of blanks and comments declares nothing: every channel, key and price would be gone. */
export function emptied(text: string): Problem | null {
  const declares = text.split('\n').some((line) => /^\s*[^\s#]/.test(line.replace(/^\uFEFF/, '')))
  if (declares) return null
  return { path: '', message: 'the file is empty; write {} for a configuration of defaults alone' }
}

/**
 * The beginning of the file in force, ending within a line, without one of its sections or without all of the last one's
 * entries: what a copy or an editor that failed half-way leaves behind. Some entries fewer at the end are an edit.
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
    message: 'the file is cut short: it is the beginning of the one in force; SIGHUP takes it over',
  }
}

function sections(text: string): readonly string[] {
  return text.split('\n').filter((line) => /^["'\w]/.test(line))
}
