// The condition that a column contains a text, ignoring case. Both engines' `lower` changes only ASCII letters (in
// PostgreSQL by the collation of our columns), so both cases of each letter are in the pattern.

import type { Session } from './engine.ts'
import { cleanText } from './text.ts'

const operators = { sqlite: 'GLOB', postgres: '~' }
/** How each engine takes a character of a pattern as itself. */
const literals = {
  sqlite: (character: string) => character.replace(/[*?[]/, '[$&]'),
  postgres: (character: string) => character.replace(/[\\^$.|?*+()[\]{}]/, '\\$&'),
}

/** `pattern` is bound to the one `?` of `sql(column)`. */
export function containing({ kind }: Pick<Session, 'kind'>, text: string) {
  const characters = Array.from(cleanText(text), (character) => {
    const cases = [character, character.toLowerCase(), character.toUpperCase()]
    // Some letters are two in the other case, such as ß.
    const single = new Set(cases.filter((each) => each.length === character.length))
    return single.size > 1 ? `[${[...single].join('')}]` : literals[kind](character)
  })
  const pattern = characters.join('')
  return {
    sql: (column: string) => `${column} ${operators[kind]} ?`,
    pattern: kind === 'sqlite' ? `*${pattern}*` : pattern,
  }
}
