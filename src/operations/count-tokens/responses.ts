// Counts the tokens of a Responses request without answering it, by our own count. Costs nothing.

import { invalidRequest } from '../../errors.ts'
import type { FrontRooms } from '../../http/front-rooms.ts'
import { unknownModel } from '../../http/google.ts'
import { countedTokens } from '../../meter/ceiling.ts'
import { parsedObject } from '../../relay/parsed.ts'
import type { CommonDialect } from '../../wire/dialect.ts'
import { isObject } from '../../wire/json/value.ts'
import { estimateOf } from '../../wire/openai-responses/estimate.ts'
import { keepingOf, withHistory } from '../../wire/openai-responses/kept.ts'
import { historyOf } from '../responses/request.ts'
import { counting } from './count-tokens.ts'

/** OpenAI's own interface counts without a model too; what a request must say is checked all the same. */
const anyModel = 'any'

/** The count as JSON text, what was kept before included. Throws GatewayError where the request is no good. */
export function countResponseTokens(
  rooms: FrontRooms,
  dialect: CommonDialect,
  request: Request,
): Promise<string> {
  return counting(rooms, request, async (bytes, principal) => {
    const body = parsedObject(bytes)
    if (!isObject(body)) throw invalidRequest('The request body must be a JSON object.', null)
    const named = body.model == null ? { ...body, model: anyModel } : null
    const { model } = dialect.client.peek(
      named === null ? bytes : new TextEncoder().encode(JSON.stringify(named)),
    )
    if (named === null && rooms.modelAccess.find(principal, model, dialect).candidates.length === 0)
      throw unknownModel(model)
    const { previousResponseId } = keepingOf(body)
    const before =
      previousResponseId === null
        ? []
        : await historyOf(rooms.responses, principal.account, previousResponseId)
    const { bytes: textBytes, tokens } = estimateOf(withHistory(body, before))
    const count = Math.max(1, countedTokens(textBytes) + tokens)
    return JSON.stringify({ object: 'response.input_tokens', input_tokens: count })
  })
}
