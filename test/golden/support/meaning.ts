// The meaning of a reply for its readers, in any format.

import { type FoldedPart, fold } from '../../../src/wire/hub/fold.ts'
import type { ChatEvent, JsonValue } from '../../../src/wire/ir.ts'

/** A call's input as a value, since white space is not part of it; a text if it is not JSON. */
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

/** Without private fields and ids of the reply, which every format makes itself. */
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
