// Writes the beginning and the end of a reply in Anthropic's format.

import { noTokens } from '../../config/prices.ts'
import type { WriterHead } from '../codec.ts'
import type { ChatEvent, Extra, FinishReason, JsonObject, Usage } from '../ir.ts'
import { objectOf } from '../json/value.ts'
import { ownFields } from './fields.ts'
import { writeFinish } from './finish.ts'
import { writeUsage } from './usage.ts'

type Start = Extract<ChatEvent, { readonly type: 'response-start' }>

/** The message without its content and its end; an id without Anthropic's prefix is replaced. */
export function messageHead(head: WriterHead, start: Start | null): JsonObject {
  const id = start?.id.startsWith('msg_') ? start.id : head.id
  return {
    id,
    type: 'message',
    role: 'assistant',
    model: start?.model || head.model,
    container: null,
    diagnostics: null,
    ...ownFields(start?.extra),
  }
}

/** What the end of a choice reports. */
export interface Ending {
  readonly reason: FinishReason
  readonly stopText?: string | undefined
  readonly extra?: Extra | undefined
  /** The text of the model's refusal. */
  readonly refusal: string
}

/** Writes `stop_reason` and the members that accompany it. */
export function writeEnding({ reason, stopText, extra, refusal }: Ending): JsonObject {
  const { usage: _, stop_reason: own, stop_details: details, ...rest } = ownFields(extra)
  const refused = refusal !== '' && reason === 'stop'
  const word = own ?? (refused ? 'refusal' : writeFinish(reason, stopText))
  const explained =
    word === 'refusal' && refusal !== ''
      ? { type: 'refusal', category: null, explanation: refusal }
      : null
  return {
    stop_reason: word,
    stop_sequence: stopText ?? null,
    stop_details: details ?? explained,
    ...rest,
  }
}

/** Writes the usage, with the vendor's private usage members where it speaks this format. */
export function writeCounts(usage: Usage | null, extra: Extra | undefined): JsonObject {
  return writeUsage(usage ?? noTokens, objectOf(ownFields(extra)['usage']))
}

/** Whether the vendor itself reported the refusal in this format's own member, `stop_details`. */
export function tellsRefusal(extra: Extra | undefined): boolean {
  return ownFields(extra)['stop_details'] !== undefined
}
