// SiliconFlow: open models under OpenAI's paths, errors without an envelope.

import type { Fault } from '../errors.ts'
import { amendments, developerAsSystem, dropped, maxTokensOnly } from './amendments.ts'
import { allDialects, openaiCompatible } from './compatible.ts'
import { kimiThoughts } from './moonshot.ts'
import { transcripts } from './openai-transcripts.ts'
import type { Vendor } from './vendor.ts'

/** SiliconFlow's codes in `{"code", "message", "data"}`: 20012 unknown model, 30001 no balance. */
function refine(fault: Fault, _status: number, body: string): Fault {
  if (/"code":\s*20012\b/.test(body)) return { ...fault, kind: 'unknown_model' }
  return /"code":\s*30001\b/.test(body) ? { ...fault, kind: 'quota' } : fault
}

/** SiliconFlow, "Create audio transcription": it takes a file and a model, and returns a text. */
const transcription = transcripts({
  formats: () => ['json'],
  streams: () => false,
  takes: new Set(),
})

/** Keys of the international platform need https://api.siliconflow.com/v1. */
export const siliconflow = openaiCompatible({
  id: 'siliconflow',
  baseUrl: 'https://api.siliconflow.cn/v1',
  environment: 'SILICONFLOW_API_KEY',
  speaks: [...allDialects, 'openai-transcriptions', 'openai-speech'],
  adapters: { 'openai-transcriptions': transcription },
  quirks: {
    amend: amendments(maxTokensOnly, developerAsSystem, dropped('stream_format'), kimiThoughts),
    refine,
  },
}) satisfies Vendor
