// Names given on a command line: of accounts, groups, keys and references.

import { UsageError } from './command.ts'

/** Names are compared letter by letter elsewhere, so blanks at the ends would be a trap. `what` is how the line calls it. */
export function readName(text: string, what: string): string {
  if (text === '' || text !== text.trim() || /\p{C}/u.test(text) || text.length > 128) {
    throw new UsageError(
      `${what}: expected 1 to 128 characters, none of them a control character, no blank at the ends`,
    )
  }
  return text
}
