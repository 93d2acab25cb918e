// What a request may ask for beside the reply, above all for reasoning that can be sent back, since nothing is stored.

import type { JsonValue } from '../ir.ts'

/** Probabilities of the text's tokens. */
export const textLogprobs = 'message.output_text.logprobs'

const encryptedReasoning = 'reasoning.encrypted_content'

/** Models without reasoning answer 400 where encrypted reasoning is requested. */
const withoutReasoning = /(^|[/:])(gpt-[34]|chatgpt-)/

/** `model` is the vendor's name of the model. */
export function encryptsReasoning(model: string): boolean {
  return !withoutReasoning.test(model)
}

/** The `include` list with encrypted reasoning in it once. */
export function withEncrypted(include: readonly JsonValue[]): JsonValue[] {
  return include.includes(encryptedReasoning) ? [...include] : [...include, encryptedReasoning]
}
