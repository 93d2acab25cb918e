// Reads the text of a configuration file: YAML in block or flow style, of which JSON is a part.

import { LineCounter, parseDocument } from 'yaml'
import type { Problem } from './problems.ts'

/**
 * The value of a file, `{}` for an empty one. Problems carry line and column; the parser's words are
 * cut before the piece of the file it quotes, which may be a secret.
 */
export function parseFile(text: string, problems: Problem[]): unknown {
  const lines = new LineCounter()
  const document = parseDocument(text.replace(/^\uFEFF/, ''), {
    lineCounter: lines,
    prettyErrors: false,
    merge: true,
  })
  for (const fault of [...document.errors, ...document.warnings]) {
    const { line, col } = lines.linePos(fault.pos[0])
    problems.push({ path: '', message: `line ${line}, column ${col}: ${unquoted(fault.message)}` })
  }
  if (problems.length > 0) return null
  try {
    return document.toJS() ?? {}
  } catch (error) {
    // An alias without its anchor, or aliases that multiply beyond reason.
    problems.push({
      path: '',
      message: unquoted(error instanceof Error ? error.message : 'unreadable'),
    })
    return null
  }
}

function unquoted(message: string): string {
  return message.replace(/(:\s|["'`\\]|\(the anchor).*$/s, '').trim() || 'not YAML'
}
