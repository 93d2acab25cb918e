// Helpers shared by the formats of embeddings and reranking: errors, token counts, lists in replies.

import { type Fault, invalidRequest } from '../../errors.ts'
import { believed, countOf, unbelieved } from '../hub/counts.ts'
import type { JsonObject, JsonValue, Usage } from '../ir.ts'
import { isObject } from '../json/value.ts'
import { faultInside } from '../openai/fault.ts'
import type { ListReply, ListRequest, Ranked } from './list.ts'

/** The texts, for vendors that accept no token ids. Throws GatewayError naming the client's field. */
export function plainTexts(
  request: ListRequest,
  vendor: string,
  most: number,
  param: string,
): string[] {
  const { texts } = request
  if (texts.length > most) {
    throw invalidRequest(`${vendor} takes at most ${most} texts at once; send fewer.`, param)
  }
  return texts.map((text) => {
    if (typeof text === 'string') return text
    throw invalidRequest(`${vendor} takes texts, not token ids.`, param)
  })
}

/** Usage in which all tokens are prompt tokens. */
export function promptUsage(
  prompt_tokens: JsonValue | undefined,
): Pick<ListReply, 'usage' | 'unbelieved'> {
  const raw = { prompt_tokens: prompt_tokens ?? null }
  const usage = believed(raw, readPrompt)
  return { usage, ...unbelieved(usage, raw) }
}

function readPrompt({ prompt_tokens }: JsonObject): Usage | null {
  const input = countOf(prompt_tokens)
  if (input === null) return null
  return { input, cachedInput: 0, cacheWrite: 0, output: 0, reasoning: 0 }
}

/** The fault of a reply that lacks its list. */
export function withoutList(body: JsonObject, name: string): Fault {
  const error = body['error'] ?? body['message'] ?? body['detail']
  if (error != null) return faultInside(error)
  return { kind: 'unreadable', message: `the reply has no ${name}` }
}

/** Reads `[{index, relevance_score}]`; null where an element is malformed or refers to a text that was not sent. */
export function readRanking(list: JsonValue | undefined, texts: number): readonly Ranked[] | null {
  if (!Array.isArray(list)) return null
  const ranked: Ranked[] = []
  for (const item of list) {
    if (!isObject(item)) return null
    const { index, relevance_score: score } = item
    if (typeof index !== 'number' || !Number.isInteger(index) || index < 0 || index >= texts)
      return null
    if (typeof score !== 'number') return null
    ranked.push({ index, score })
  }
  // Some servers list the results in the order of the documents.
  return ranked.sort((one, other) => other.score - one.score)
}

export function isFault(value: object): value is Fault {
  return 'kind' in value && 'message' in value
}
