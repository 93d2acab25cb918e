// The members in which formats have the most tokens of a reply.

import type { VendorDialectId } from './formats.ts'

/** By dialect, nested ones with dots; a vendor may ignore members of other names. */
export const limitMembers: Readonly<Partial<Record<VendorDialectId, readonly string[]>>> = {
  'openai-chat': ['max_tokens', 'max_completion_tokens'],
  'openai-completions': ['max_tokens'],
  'openai-responses': ['max_output_tokens'],
  'anthropic-messages': ['max_tokens'],
  'cohere-v2': ['max_tokens'],
  gemini: ['generationConfig.maxOutputTokens'],
  'bedrock-converse': ['inferenceConfig.maxTokens'],
}
