// Shortens the name of an end user for vendors that take only a short one.

import { createHash } from 'node:crypto'

/** OpenAI, "Create chat completion": `user` and `safety_identifier` have at most 64 characters. */
const mostCharacters = 64

/** A longer name, as Claude Code sends, by its SHA-256: still the same for the same person. */
export function shortUser(user: string): string {
  if (user.length <= mostCharacters) return user
  return createHash('sha256').update(user).digest('hex')
}
