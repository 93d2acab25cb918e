// Transcripts of vendors that have OpenAI's path but not all formats: asks for one they have, writes the one requested.

import { text } from '../wire/json/value.ts'
import type { MediaAdapter, MediaCall } from './media.ts'
import type { Transcribes } from './openai-transcripts-ask.ts'

export function transcripts(vendor: Transcribes): MediaAdapter {
  return {
    adapts(call) {
      const formats = vendor.formats(call.model)
      if (formats === null) return false
      const { fields, model, stream } = call
      if (!formats.includes(formatOf(call)) || (stream && !vendor.streams(model))) return true
      const { takes } = vendor
      return (
        takes !== null && Object.keys(fields).some((name) => name !== 'model' && !takes.has(name))
      )
    },
    async serve(call, tools) {
      const { askTranscript } = await import('./openai-transcripts-ask.ts')
      return askTranscript(vendor, { call, format: formatOf(call) }, tools)
    },
  }
}

function formatOf({ fields }: MediaCall): string {
  return text(fields['response_format']) ?? 'json'
}

/** "Create transcription", `response_format`: formats by model. Whisper has all except speakers, in its own forms. */
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
