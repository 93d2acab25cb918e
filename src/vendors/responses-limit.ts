// Raises limits that OpenAI's Responses refuse as too small: agents probe models with a limit of 1, which chats take.

import type { Amendment } from './amendments.ts'
import { isMakersAddress } from './makers-address.ts'

/** The smallest `max_output_tokens` that OpenAI takes (API reference, Responses). */
export const leastLimit = 16

/** For translated requests: a client of Responses gets its vendor's own answer. */
export const raisedLimit: Amendment = {
  apply(body, { dialect, baseUrl }) {
    if (dialect !== 'openai-responses' || baseUrl === undefined) return
    const { max_output_tokens: limit } = body
    if (typeof limit === 'number' && limit < leastLimit && isMakersAddress(baseUrl))
      body.max_output_tokens = leastLimit
  },
}
