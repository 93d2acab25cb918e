// Together AI: open models under OpenAI's paths, and reranking in the format of Jina and Cohere ("Rerank").

import { amendments, dropped, maxTokensOnly } from './amendments.ts'
import { allDialects, audioDialects, openaiCompatible } from './compatible.ts'
import { transcripts } from './openai-transcripts.ts'
import { topLevelCached } from './usage.ts'
import type { Vendor } from './vendor.ts'

/** Together, "Create audio transcription request". */
const transcription = transcripts({
  formats: () => ['json', 'verbose_json'],
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

export const together = openaiCompatible({
  id: 'together',
  baseUrl: 'https://api.together.xyz/v1',
  environment: 'TOGETHER_API_KEY',
  speaks: [...allDialects, ...audioDialects, 'jina-rerank'],
  adapters: { 'openai-transcriptions': transcription, 'openai-translations': transcription },
  quirks: {
    amend: amendments(maxTokensOnly, dropped('stream_format')),
    usage: topLevelCached,
  },
}) satisfies Vendor
