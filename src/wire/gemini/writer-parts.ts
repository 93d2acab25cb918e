// Writes parts, candidates and frames in Google's format, for both streams and whole replies.

import type { WriterHead } from '../codec.ts'
import type { FoldedPart } from '../hub/fold.ts'
import type { Extra, FinishReason, JsonObject, PartHead, UrlCitation, Usage } from '../ir.ts'
import { objectExactly } from '../json/exact.ts'
import { isObject, together } from '../json/value.ts'
import { ownFields } from './fields.ts'
import { writeFinish } from './finish.ts'
import { writeCitations } from './grounding.ts'
import { writeLogprobs } from './logprobs.ts'
import { writeUsage } from './usage.ts'

interface ReplyHead {
  readonly id: string
  readonly model: string
}

/** The members beside `candidates` in every frame. */
export function topOf(start: ReplyHead | null, head: WriterHead): JsonObject {
  return { modelVersion: start?.model || head.model, responseId: start?.id || head.id }
}

export function usageMember(usage: Usage | null): JsonObject {
  return usage === null ? {} : { usageMetadata: writeUsage(usage) }
}

/** The object that a call's arguments are; null where they are not an object. A custom tool's input is wrapped. */
function argsOf(text: string, custom: boolean): JsonObject | null {
  if (custom) return { input: text }
  if (text.trim() === '') return {}
  return objectExactly(text)
}

interface SaidPart {
  readonly head: PartHead
  readonly text: string
  readonly sealed: string | null
}

/** One part; null where there is nothing to show, `malformed` where a call's arguments are not an object. */
export function partOf({ head, text, sealed }: SaidPart): JsonObject | 'malformed' | null {
  const signed = sealed === null ? {} : { thoughtSignature: sealed }
  switch (head.type) {
    case 'text':
    case 'refusal':
      return text === '' && sealed === null ? null : { text, ...signed }
    case 'reasoning':
      // Redacted reasoning has no text and must return with opaque state alone.
      if (head.redacted) return sealed === null ? null : { thought: true, ...signed }
      return text === '' && sealed === null ? null : { text, thought: true, ...signed }
    case 'image':
      return { inlineData: { mimeType: head.mediaType, data: text }, ...signed }
    case 'tool-call': {
      const { id, name, custom = false } = head
      const args = argsOf(text, custom)
      return args === null ? 'malformed' : { functionCall: { id, name, args }, ...signed }
    }
    case 'other': {
      const { part } = ownFields(head.extra)
      return isObject(part) ? { ...part, ...signed } : null
    }
  }
}

/** What the end of a candidate consists of. */
export interface Ending {
  readonly index: number
  readonly reason: FinishReason | null
  readonly malformed: boolean
  readonly extras: readonly Extra[]
  readonly citations: readonly UrlCitation[]
  /** The text to which the citations' offsets refer. */
  readonly text: string
  readonly logprobs: readonly JsonObject[]
}

/** Why the prompt was refused, which replaces the candidates; null where it was not. */
export function feedbackOf({ extras }: Pick<Ending, 'extras'>): JsonObject | null {
  for (const extra of extras) {
    const { promptFeedback: feedback } = ownFields(extra)
    if (isObject(feedback)) return feedback
  }
  return null
}

export function candidateOf(ending: Ending, parts: readonly JsonObject[]): JsonObject {
  const { index, reason, malformed, citations, logprobs, text } = ending
  const fields = together(ending.extras.map(ownFields))
  const word = malformed && reason !== 'length' ? 'MALFORMED_FUNCTION_CALL' : wordOf(reason)
  return {
    // Google's chat clients drop content without parts from their history.
    content: { parts: parts.length === 0 ? [{ text: '' }] : [...parts], role: 'model' },
    ...(word !== null && { finishReason: word }),
    index,
    ...(citations.length > 0 && { groundingMetadata: writeCitations(citations, text) }),
    ...(logprobs.length > 0 && { logprobsResult: writeLogprobs(logprobs) }),
    ...fields,
  }
}

function wordOf(reason: FinishReason | null): string | null {
  return reason === null ? null : writeFinish(reason)
}

/** The citations of the last text that has any, with that text. */
export function citedIn(parts: readonly FoldedPart[]): Pick<Ending, 'citations' | 'text'> {
  const cited = parts.findLast((part) => part.citations.length > 0)
  return { citations: cited?.citations ?? [], text: cited?.text ?? '' }
}
