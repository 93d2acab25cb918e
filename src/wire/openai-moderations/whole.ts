// Inspects a moderation reply, and adds `flagged` where a vendor reports only categories.

import { unbelieved } from '../hub/counts.ts'
import type { JsonObject, JsonValue } from '../ir.ts'
import { isObject } from '../json/value.ts'
import { wholeMedia } from '../openai/media.ts'
import { readUsage } from '../openai/usage.ts'
import type { ReplyQuirks, WholeReply } from '../reply.ts'

export function wholeModerations(bytes: Uint8Array, quirks: ReplyQuirks): WholeReply {
  let amended: JsonObject | null = null
  const reply = wholeMedia(bytes, (body) => {
    const { results, model, usage } = body
    if (!Array.isArray(results) || results.length === 0) {
      return { kind: 'unreadable', message: 'the reply has no list `results`' }
    }
    if (results.some(lacksFlag)) amended = { ...body, results: results.map(flagged) }
    const counted = isObject(usage) && quirks.usage !== undefined ? quirks.usage(usage) : usage
    const read = readUsage(counted)
    return {
      usage: read,
      ...unbelieved(read, counted),
      finishReason: null,
      model: typeof model === 'string' ? model : null,
    }
  })
  if (amended === null) return reply
  return { ...reply, bytes: new TextEncoder().encode(JSON.stringify(amended)) }
}

function lacksFlag(result: JsonValue): result is JsonObject {
  return isObject(result) && result.flagged === undefined && isObject(result.categories)
}

/** Mistral's results have `categories` but no `flagged`, on which OpenAI's clients rely. */
function flagged(result: JsonValue): JsonValue {
  if (!lacksFlag(result)) return result
  const { categories } = result
  const any = isObject(categories) && Object.values(categories).includes(true)
  return { flagged: any, ...result }
}
