// Cerebras: refuses a few of OpenAI's members even at their defaults.

import { amendments, developerAsSystem, dropped, droppedWhen } from './amendments.ts'
import { chatAndCompletions, openaiCompatible } from './compatible.ts'
import type { Vendor } from './vendor.ts'

/** The members are those that Cerebras's page "OpenAI compatibility" lists as answered 400. */
export const cerebras = openaiCompatible({
  id: 'cerebras',
  baseUrl: 'https://api.cerebras.ai/v1',
  environment: 'CEREBRAS_API_KEY',
  speaks: chatAndCompletions,
  refusesThoughts: true,
  amend: amendments(
    droppedWhen('frequency_penalty', 0, null),
    droppedWhen('presence_penalty', 0, null),
    droppedWhen('parallel_tool_calls', true, null),
    droppedWhen('logit_bias', null),
    dropped('service_tier'),
    developerAsSystem,
  ),
}) satisfies Vendor
