// Maps finish reasons, in every spelling that vendors of the chat format use, to the hub's.

import type { FinishReason } from '../ir.ts'
import { isFailedFinish } from '../openai/fault.ts'

const reasons: ReadonlyMap<string, FinishReason> = new Map([
  ['stop', 'stop'],
  // Used by Together and Hugging Face.
  ['eos', 'stop'],
  ['eos_token', 'stop'],
  ['stop_sequence', 'stop'],
  ['end_turn', 'stop'],
  ['length', 'length'],
  ['max_tokens', 'length'],
  // Mistral: the context window was full before the answer was complete.
  ['model_length', 'length'],
  ['tool_calls', 'tool_calls'],
  ['tool_use', 'tool_calls'],
  ['function_call', 'tool_calls'],
  ['content_filter', 'content_filter'],
  // Used by Zhipu.
  ['sensitive', 'content_filter'],
])

/** `trouble` where the vendor failed; an undocumented word counts as an ordinary stop. */
export function readFinish(word: string): FinishReason | 'trouble' {
  return isFailedFinish(word) ? 'trouble' : (reasons.get(word.toLowerCase()) ?? 'stop')
}
