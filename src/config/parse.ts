// Parses the text of a configuration file: YAML in block or flow style, which includes JSON.

import { Composer, type Document, Lexer, Parser } from 'yaml'
import type { Problem } from './problems.ts'
import { type Fault, readNodes } from './yaml-value.ts'

/** One mistake makes the parser report many faults; the first few are enough to find it. */
const shownFaults = 3
/** Deepest nesting: no setting is nearly as deep, and reading recurses at each level. */
const mostLevels = 100
/** Most lexemes (words, signs, blanks) of a file: some hundred thousand entries, which are read in seconds. */
const mostPieces = 8_000_000

/**
 * The value of a file, `{}` for an empty one. Problems contain line and column; the parser's message is cut before its
 * quote of the file, which may be a secret.
 */
export function parseFile(text: string, problems: Problem[]): unknown {
  const source = text.replace(/^\uFEFF/, '')
  const { value, faults } = read(source)
  for (const { at, what } of faults.toSorted((a, b) => a.at - b.at).slice(0, shownFaults)) {
    const before = source.slice(0, at)
    const line = before.split('\n').length
    const start = before.lastIndexOf('\n') + 1
    const [text = ''] = source.slice(start).split('\n', 1)
    const hint = hasBareReference(text) ? quotesHint : ''
    problems.push({ path: '', message: `line ${line}, column ${at - start + 1}: ${what}${hint}` })
  }
  return faults.length > 0 ? null : (value ?? {})
}

interface Read {
  readonly value?: unknown
  readonly faults: readonly Fault[]
}

function read(source: string): Read {
  const unprintable = source.search(controlCharacter)
  if (unprintable >= 0)
    return { faults: [{ at: unprintable, what: 'control characters are not allowed' }] }
  const composed = compose(source)
  if ('at' in composed) return { faults: [composed] }
  const parsed = [...composed.errors, ...composed.warnings]
    .sort((one, other) => one.pos[0] - other.pos[0])
    .slice(0, shownFaults)
    .map((fault) => ({ at: fault.pos[0], what: unquoted(fault.message) }))
  const { value, faults } = readNodes(composed.contents)
  return { value, faults: [...parsed, ...faults] }
}

/** Parses step by step, so that a file of nothing but brackets is refused at its first hundred. */
function compose(source: string): Document.Parsed | Fault {
  const parser = new Parser()
  // Duplicate keys are found later, in one pass.
  const composer = new Composer({ prettyErrors: false, merge: true, uniqueKeys: false })
  const documents: Document.Parsed[] = []
  let pieces = 0
  let stumbles = 0
  for (const lexeme of new Lexer().lex(source)) {
    for (const token of parser.next(lexeme)) {
      documents.push(...composer.next(token))
      if (token.type === 'error') stumbles += 1
    }
    if (parser.stack.length > mostLevels + 1)
      return { at: parser.offset - lexeme.length, what: `more than ${mostLevels} levels deep` }
    pieces += 1
    if (pieces > mostPieces)
      return { at: parser.offset - lexeme.length, what: `more than ${mostPieces} words and signs` }
    if (documents.length > 1 || stumbles > shownFaults) break
  }
  for (const token of parser.end()) documents.push(...composer.next(token))
  documents.push(...composer.end(true, source.length))
  const [document, second] = documents
  if (second !== undefined)
    return { at: second.range[0], what: 'a second document; only one is allowed' }
  return document ?? { at: 0, what: 'not YAML' }
}

/** Characters that YAML forbids in a text; a file in another encoding, or a binary one, is full of them. */
const controlCharacter = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f]/

/** Within a flow collection YAML takes the braces of `${NAME}` for its own. */
function hasBareReference(line: string): boolean {
  return /[{[,]/.test(line.slice(0, Math.max(0, line.lastIndexOf('${'))))
}
const quotesHint = '; between { } or [ ] a reference needs quotes: "${NAME}"'

function unquoted(message: string): string {
  return message.replace(/(:\s|["'`\\]).*$/s, '').trim() || 'not YAML'
}
