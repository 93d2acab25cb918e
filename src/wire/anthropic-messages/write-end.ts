// How a reply begins and ends in Anthropic's words.

import { noTokens } from '../../config/prices.ts'
import type { WriterHead } from '../codec.ts'
import type { ChatEvent, Extra, FinishReason, JsonObject, Usage } from '../ir.ts'
import { objectOf } from '../json/value.ts'
import { ownFields } from './fields.ts'
import { writeFinish } from './finish.ts'
import { writeUsage } from './usage.ts'

type Start = Extract<ChatEvent, { readonly type: 'response-start' }>

/** The message without its content and its end; another vendor's id is none of this format's. */
export function messageHead(head: WriterHead, start: Start | null): JsonObject {
  const id = start?.id.startsWith('msg_') ? start.id : head.id
  return {
    id,
    type: 'message',
    role: 'assistant',
    model: start?.model || head.model,
    ...ownFields(start?.extra),
  }
}

/** What a choice ended with. */
export interface Ending {
  readonly reason: FinishReason
  readonly stopText?: string | undefined
  readonly extra?: Extra | undefined
  /** What the model refused with. */
  readonly refusal: string
}

/** `stop_reason` and what goes with it. */
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

/** The counts, with what the vendor said beside them where it is one of this format. */
export function writeCounts(usage: Usage | null, extra: Extra | undefined): JsonObject {
  return writeUsage(usage ?? noTokens, objectOf(ownFields(extra)['usage']))
}

/** Whether the vendor put the refusal where this format has its place. */
export function tellsRefusal(extra: Extra | undefined): boolean {
  return ownFields(extra)['stop_details'] !== undefined
}
