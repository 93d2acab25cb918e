// Why a message ended, in Anthropic's words and the hub's.

import type { FinishReason } from '../ir.ts'

const reasons: ReadonlyMap<string, FinishReason> = new Map([
  ['end_turn', 'stop'],
  ['stop_sequence', 'stop'],
  // The vendor's own tools want another request to go on; the text until here stands.
  ['pause_turn', 'stop'],
  ['compaction', 'stop'],
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['tool_use', 'tool_calls'],
  ['refusal', 'content_filter'],
])

/** A word nobody documented is taken as an ordinary stop. `called`: the message has a call of a client's tool. */
export function readFinish(word: string, called: boolean): FinishReason {
  const reason = reasons.get(word) ?? 'stop'
  if (reason === 'tool_calls' && !called) return 'stop'
  return reason === 'stop' && called && word !== 'pause_turn' ? 'tool_calls' : reason
}

const words: Readonly<Record<FinishReason, string>> = {
  stop: 'end_turn',
  length: 'max_tokens',
  tool_calls: 'tool_use',
  content_filter: 'refusal',
}

export function writeFinish(reason: FinishReason, stopText: string | undefined): string {
  return reason === 'stop' && stopText !== undefined ? 'stop_sequence' : words[reason]
}
