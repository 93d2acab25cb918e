// OpenAI: the format's own vendor, without a quirk.

import { allAndCompaction, beyondText, openaiCompatible } from './compatible.ts'
import { openaiImages } from './openai-images.ts'
import { transcripts } from './openai-transcripts.ts'
import { openaiVideos } from './openai-videos.ts'
import type { Vendor } from './vendor.ts'
import { videoStarts } from './video.ts'

/** "Create transcription", `response_format`: what each model has. Whisper has all but who speaks, in forms of its own. */
function formatsOf(model: string): readonly string[] | null {
  if (/^whisper/.test(model)) return ['json', 'text', 'srt', 'verbose_json', 'vtt']
  if (/^gpt-4o.*-diarize/.test(model)) return ['json', 'text', 'diarized_json']
  return /^gpt-4o.*-transcribe/.test(model) ? ['json'] : null
}

const openaiTranscripts = transcripts({
  formats: formatsOf,
  streams: (model) => !/^whisper/.test(model),
  takes: null,
})

export const openai = openaiCompatible({
  id: 'openai',
  baseUrl: 'https://api.openai.com/v1',
  environment: 'OPENAI_API_KEY',
  speaks: [...allAndCompaction, ...beyondText, 'openai-videos'],
  videos: openaiVideos,
  refusesThoughts: true,
  encryptsReasoning: true,
  adapters: {
    'openai-images': openaiImages,
    'openai-image-edits': openaiImages,
    'openai-videos': videoStarts(openaiVideos),
    'openai-transcriptions': openaiTranscripts,
  },
}) satisfies Vendor
