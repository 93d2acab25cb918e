// Maps finish reasons between Anthropic's words and the hub's.

import type { FinishReason } from '../ir.ts'

const reasons: ReadonlyMap<string, FinishReason> = new Map([
  ['end_turn', 'stop'],
  ['stop_sequence', 'stop'],
  // The vendor's own tools need another request to continue; the text so far stands.
  ['pause_turn', 'stop'],
  ['compaction', 'stop'],
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['tool_use', 'tool_calls'],
  ['refusal', 'content_filter'],
])

/** An undocumented word counts as an ordinary stop. `called`: the message calls a tool that the client runs. */
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
