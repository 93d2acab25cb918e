// Groq: reports usage in its own member of a stream's last chunk; makes no subtitles.

import { amendments, dropped, unnamed } from './amendments.ts'
import { audioDialects, chatOnly, openaiCompatible } from './compatible.ts'
import { thinking } from './efforts.ts'
import { transcripts } from './openai-transcripts.ts'
import { withoutReplyMembers } from './sent-back.ts'
import type { Vendor } from './vendor.ts'

/** Groq API reference, "Create transcription". */
const transcription = transcripts({
  formats: () => ['json', 'text', 'verbose_json'],
  streams: () => false,
  takes: new Set([
    'language',
    'prompt',
    'response_format',
    'temperature',
    'timestamp_granularities',
    'stream',
  ]),
})

/**
 * Answered with 400, as are a message's `name` (Groq, "OpenAI compatibility") and whatever is not in Groq's API
 * reference (`property 'prompt_cache_key' is unsupported`).
 */
const refused = [
  'logprobs',
  'top_logprobs',
  'logit_bias',
  'prompt_cache_key',
  'prompt_cache_retention',
  'prompt_cache_options',
  'verbosity',
  'safety_identifier',
]

export const groq = openaiCompatible({
  id: 'groq',
  baseUrl: 'https://api.groq.com/openai/v1',
  environment: 'GROQ_API_KEY',
  speaks: [...chatOnly, ...audioDialects],
  quirks: {
    usageOnStream: 'always',
    refusesThoughts: true,
    // Groq, "Reasoning", options for the effort; any other model answers it with 400.
    parameters: thinking(
      { name: /gpt-oss/, efforts: ['low', 'medium', 'high'], refused },
      { name: /qwen3/, efforts: ['none', 'default'], refused },
      { name: /./, efforts: [], refused },
    ),
    amend: amendments(dropped('stream_format'), unnamed, withoutReplyMembers),
    usagePath: ['x_groq', 'usage'],
  },
  adapters: { 'openai-transcriptions': transcription, 'openai-translations': transcription },
}) satisfies Vendor
