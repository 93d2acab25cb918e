// Finish reasons, in every spelling vendors of the chat format use.

import type { FinishReason } from '../ir.ts'

const reasons: ReadonlyMap<string, FinishReason> = new Map([
  ['stop', 'stop'],
  // Together, Hugging Face.
  ['eos', 'stop'],
  ['eos_token', 'stop'],
  ['stop_sequence', 'stop'],
  ['end_turn', 'stop'],
  ['length', 'length'],
  ['max_tokens', 'length'],
  // Mistral: the context ended before the answer did.
  ['model_length', 'length'],
  ['tool_calls', 'tool_calls'],
  ['tool_use', 'tool_calls'],
  ['function_call', 'tool_calls'],
  ['content_filter', 'content_filter'],
  // Zhipu.
  ['sensitive', 'content_filter'],
])

/** The vendor's own trouble (DeepSeek; Zhipu; Mistral and OpenRouter): the answer is not whole. */
const troubles = new Set(['insufficient_system_resource', 'network_error', 'error', 'abort'])

/** `trouble` where the vendor broke off; a word nobody documented is taken as an ordinary stop. */
export function readFinish(word: string): FinishReason | 'trouble' {
  const reason = word.toLowerCase()
  return troubles.has(reason) ? 'trouble' : (reasons.get(reason) ?? 'stop')
}
