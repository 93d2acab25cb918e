// Shortens the name of an end user for vendors that take only a short one.

import { digest } from './digest.ts'

/** OpenAI, "Create chat completion": `user` and `safety_identifier` have at most 64 characters. */
const mostCharacters = 64

/** A longer name, as Claude Code sends, by hashes of it: still the same for the same person. */
export function shortUser(user: string): string {
  if (user.length <= mostCharacters) return user
  return `user_${[0, 1, 2, 3].map((round) => digest(`${round}${user}`)).join('')}`
}
