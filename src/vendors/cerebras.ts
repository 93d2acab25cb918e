// Cerebras: refuses some of OpenAI's members even at their default values.

import { amendments, developerAsSystem, dropped, droppedWhen } from './amendments.ts'
import { chatAndCompletions, openaiCompatible } from './compatible.ts'
import { thinking } from './efforts.ts'
import { withoutReplyMembers } from './sent-back.ts'
import type { Vendor } from './vendor.ts'

const refused = ['frequency_penalty', 'presence_penalty', 'logit_bias', 'verbosity']
const three = ['low', 'medium', 'high']

/** The members are those that Cerebras's page "OpenAI compatibility" lists as answered with 400. */
export const cerebras = openaiCompatible({
  id: 'cerebras',
  baseUrl: 'https://api.cerebras.ai/v1',
  environment: 'CEREBRAS_API_KEY',
  speaks: chatAndCompletions,
  quirks: {
    refusesThoughts: true,
    // Cerebras, "Reasoning" and the pages of its models.
    parameters: thinking(
      { name: /gpt-oss/, efforts: three, refused },
      { name: /zai-glm|qwen-?3\.\d|gemma-4/, efforts: ['none', ...three], refused },
      { name: /./, efforts: [], refused },
    ),
    amend: amendments(
      droppedWhen('frequency_penalty', 0, null),
      droppedWhen('presence_penalty', 0, null),
      droppedWhen('parallel_tool_calls', true, null),
      droppedWhen('logit_bias', null),
      dropped('service_tier'),
      developerAsSystem,
      withoutReplyMembers,
    ),
  },
}) satisfies Vendor
