// vLLM's own server; its "Re-rank API" is Jina's.

import { amendments, dropped } from './amendments.ts'
import { allDialects, audioDialects, openaiCompatible } from './compatible.ts'
import { transcripts } from './openai-transcripts.ts'
import type { Vendor } from './vendor.ts'

/** vLLM, "Transcriptions API"; its streams consist of chat chunks, not of transcript events. */
const transcription = transcripts({
  formats: () => ['json', 'text', 'verbose_json'],
  streams: () => false,
  takes: null,
})

export const vllm = openaiCompatible({
  id: 'vllm',
  baseUrl: 'http://127.0.0.1:8000/v1',
  keyless: true,
  speaks: [...allDialects, ...audioDialects, 'jina-rerank'],
  quirks: { amend: amendments(dropped('stream_format')) },
  adapters: { 'openai-transcriptions': transcription, 'openai-translations': transcription },
}) satisfies Vendor
