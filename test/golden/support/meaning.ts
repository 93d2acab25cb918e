// What a reply comes to for those who read it, in whatever format it was told.

import { type FoldedPart, fold } from '../../../src/wire/hub/fold.ts'
import type { ChatEvent, JsonValue } from '../../../src/wire/ir.ts'

/** Of a call's input the value, for white space is no part of it; a text where it is none. */
function inputOf(text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    return text
  }
}

function meaningOf({ head, text, sealed, citations, logprobs }: FoldedPart) {
  const isInput = head.type === 'tool-call' && head.custom !== true
  return {
    ...head,
    said: isInput ? inputOf(text) : text,
    ...(sealed !== null && { sealed }),
    ...(citations.length > 0 && { citations: citations.map(({ extra: _, ...place }) => place) }),
    ...(logprobs.length > 0 && { logprobs }),
  }
}

/** Without private fields, and without names of the reply itself, which every format makes anew. */
export function meaning(events: readonly ChatEvent[]) {
  const { choices, usage } = fold(events)
  return {
    choices: choices.map(({ parts, reason, stopText }) => ({
      parts: parts.map(meaningOf),
      reason,
      ...(stopText !== null && { stopText }),
    })),
    usage,
  }
}
