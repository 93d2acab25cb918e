// The service tier that a reply of one of OpenAI's chat formats names: both call it alike.

import type { Extra, JsonObject } from '../ir.ts'

/** The member `service_tier` of a reply in either format, as private fields of both; empty where there is none. */
export function tierOf(extra: Extra | undefined): JsonObject {
  const tier =
    extra?.['openai-chat']?.['service_tier'] ?? extra?.['openai-responses']?.['service_tier']
  return tier === undefined ? {} : { service_tier: tier }
}
