// Transcripts of OpenAI's own models, wherever they are served.

import { transcripts } from './openai-transcripts.ts'

/** "Create transcription", `response_format`: what each model has. Whisper has all but who speaks, in forms of its own. */
function formatsOf(model: string): readonly string[] | null {
  if (/^whisper/.test(model)) return ['json', 'text', 'srt', 'verbose_json', 'vtt']
  if (/^gpt-4o.*-diarize/.test(model)) return ['json', 'text', 'diarized_json']
  return /^gpt-4o.*-transcribe/.test(model) ? ['json'] : null
}

export const openaiListeners = transcripts({
  formats: formatsOf,
  streams: (model) => !/^whisper/.test(model),
  takes: null,
})
