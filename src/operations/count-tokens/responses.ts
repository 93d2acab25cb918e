// Counts the tokens of a Responses request by an estimate, without answering it. Free of charge.

import { countedTokens } from '../../meter/ceiling.ts'
import { parsedObject } from '../../relay/parsed.ts'
import { estimateOf } from '../../wire/openai-responses/estimate.ts'
import { keepingOf, withHistory } from '../../wire/openai-responses/kept.ts'
import type { Operation } from '../operation.ts'
import { resolveModel } from '../resolve.ts'
import { historyOf, type ResponseRooms } from '../responses/request.ts'
import { unreadObject } from '../unread.ts'

/** OpenAI's endpoint counts without a model too; this stands in for one, so that the rest is still validated. */
const anyModel = 'any'

/** Includes the tokens of the stored conversation that the request continues. */
export const countResponse: Operation<{ readonly responses: ResponseRooms }> = {
  dialect: 'openai-responses',
  peek({ dialect, body: bytes }) {
    const body = unreadObject(bytes)
    if (body.model != null) return dialect.client.peek(bytes)
    return dialect.client.peek(
      new TextEncoder().encode(JSON.stringify({ ...body, model: anyModel })),
    )
  },
  resolve(peeked, services) {
    const { peek, principal, dialect } = peeked
    if (peek.model !== anyModel) return resolveModel(peeked, services)
    return { peek, ...services.modelAccess.find(principal, anyModel, dialect) }
  },
  async answer({ peek, principal }, { responses }) {
    const body = parsedObject(peek.body)
    const { previousResponseId } = keepingOf(body)
    const before =
      previousResponseId === null
        ? []
        : await historyOf(responses, principal.account, previousResponseId)
    const { bytes, tokens } = estimateOf(withHistory(body, before, responses.maxBodyBytes))
    const count = Math.max(1, countedTokens(bytes) + tokens)
    return { body: JSON.stringify({ object: 'response.input_tokens', input_tokens: count }) }
  },
}
