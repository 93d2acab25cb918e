// Reads the text of a configuration file: YAML in block or flow style, of which JSON is a part.

import { LineCounter, parseDocument, visit } from 'yaml'
import type { Problem } from './problems.ts'

/** One mistake makes the parser stumble many times; the first few places are enough to find it. */
const shownFaults = 3

/**
 * The value of a file, `{}` for an empty one. Problems carry line and column; the parser's words are
 * cut before the piece of the file it quotes, which may be a secret.
 */
export function parseFile(text: string, problems: Problem[]): unknown {
  const source = text.replace(/^\uFEFF/, '')
  const lines = new LineCounter()
  const document = parseDocument(source, { lineCounter: lines, prettyErrors: false, merge: true })
  const faults = [...document.errors, ...document.warnings].map((fault) => ({
    at: fault.pos[0],
    what: unquoted(fault.message),
  }))
  visit(document, {
    Alias(_key, alias) {
      if (alias.resolve(document) !== undefined) return
      faults.push({ at: alias.range?.[0] ?? 0, what: 'alias without an anchor before it' })
    },
  })
  for (const { at, what } of faults.slice(0, shownFaults)) {
    const { line, col } = lines.linePos(at)
    const hint = bareReference.test(source.split('\n')[line - 1] ?? '') ? quotesHint : ''
    problems.push({ path: '', message: `line ${line}, column ${col}: ${what}${hint}` })
  }
  if (faults.length > 0) return null
  try {
    return document.toJS() ?? {}
  } catch (error) {
    // Aliases that multiply beyond reason.
    const reason = error instanceof Error ? error.message : 'unreadable'
    problems.push({ path: '', message: unquoted(reason) })
    return null
  }
}

/** Within a flow collection YAML takes the brace of `${NAME}` for one of its own. */
const bareReference = /[{[,].*\$\{/
const quotesHint = '; between { } or [ ] a reference needs quotes: "${NAME}"'

function unquoted(message: string): string {
  return message.replace(/(:\s|["'`\\]).*$/s, '').trim() || 'not YAML'
}
