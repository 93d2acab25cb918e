// Counts the tokens of a Responses request without answering it, by our own count. Costs nothing.

import { invalidRequest } from '../errors.ts'
import { countedTokens } from '../meter/ceiling.ts'
import { parsedObject } from '../relay/parsed.ts'
import { isObject } from '../wire/openai/usage.ts'
import { estimateOf } from '../wire/openai-responses/estimate.ts'
import { keepingOf, withHistory } from '../wire/openai-responses/kept.ts'
import { counting } from './count-tokens.ts'
import type { FrontRooms } from './front-rooms.ts'
import { historyOf } from './responses.ts'

/** The count as JSON text, what was kept before included. Throws GatewayError where the request is no good. */
export function countResponseTokens(rooms: FrontRooms, request: Request): Promise<string> {
  return counting(rooms, request, async (bytes, { account }) => {
    const body = parsedObject(bytes)
    if (!isObject(body)) throw invalidRequest('The request body must be a JSON object.', null)
    const { previousResponseId } = keepingOf(body)
    const before =
      previousResponseId === null
        ? []
        : await historyOf(rooms.responses, account, previousResponseId)
    const { bytes: textBytes, tokens } = estimateOf(withHistory(body, before))
    const count = Math.max(1, countedTokens(textBytes) + tokens)
    return JSON.stringify({ object: 'response.input_tokens', input_tokens: count })
  })
}
