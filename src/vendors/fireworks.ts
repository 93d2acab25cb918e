// Fireworks AI: open models under OpenAI's paths; transcripts on separate hosts.

import { amendments, maxTokensOnly } from './amendments.ts'
import { allDialects, openaiCompatible, openaiPath } from './compatible.ts'
import { transcripts } from './openai-transcripts.ts'
import { withoutAllButReasoning } from './sent-back.ts'
import type { Call, ChannelSettings, Vendor } from './vendor.ts'

const baseUrl = 'https://api.fireworks.ai/inference/v1'

/** Each of the two transcription models has its own host (Fireworks, "Transcribe audio"). */
function address({ dialect, model }: Call, settings: ChannelSettings): string {
  const path = openaiPath(dialect)
  if (!path.startsWith('/audio/') || settings.baseUrl !== baseUrl) return settings.baseUrl + path
  const host = model.includes('turbo') ? 'audio-turbo' : 'audio-prod'
  return `https://${host}.api.fireworks.ai/v1${path}`
}

/** Supports all of Whisper's formats, but no streams (Fireworks, "Transcribe audio"). */
const transcription = transcripts({
  formats: () => ['json', 'text', 'srt', 'verbose_json', 'vtt'],
  streams: () => false,
  takes: null,
})

export const fireworks = openaiCompatible({
  id: 'fireworks',
  baseUrl,
  environment: 'FIREWORKS_API_KEY',
  quirks: { amend: amendments(maxTokensOnly, withoutAllButReasoning) },
  speaks: [...allDialects, 'openai-transcriptions', 'openai-translations'],
  address,
  adapters: { 'openai-transcriptions': transcription, 'openai-translations': transcription },
}) satisfies Vendor
