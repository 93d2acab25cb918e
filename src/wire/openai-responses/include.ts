// Asks a vendor of this format for reasoning in a form that can be given back, since it is to keep nothing.

import type { JsonValue } from '../ir.ts'

const encryptedReasoning = 'reasoning.encrypted_content'

/** Models that do not reason answer 400 where their reasoning is asked for. */
const withoutReasoning = /(^|[/:])(gpt-[34]|chatgpt-)/

/** `model` is the vendor's own name of it. */
export function encryptsReasoning(model: string): boolean {
  return !withoutReasoning.test(model)
}

/** The list `include` with encrypted reasoning in it, once. */
export function withEncrypted(include: readonly JsonValue[]): JsonValue[] {
  return include.includes(encryptedReasoning) ? [...include] : [...include, encryptedReasoning]
}
