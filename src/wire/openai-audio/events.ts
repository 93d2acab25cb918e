// Writes the events of streamed transcripts and streamed speech, as OpenAI sends them.

import type { JsonObject } from '../ir.ts'

/** Times in seconds. */
export interface EventSegment {
  readonly id: string
  readonly start: number
  readonly end: number
  readonly text: string
  readonly speaker: string
}

interface TranscriptContent {
  readonly text: string
  readonly segments?: readonly EventSegment[]
  readonly usage: JsonObject | null
}

function frame(event: object): string {
  return `data: ${JSON.stringify(event)}\n\n`
}

/** A whole transcript as a stream. */
export function transcriptEvents({ text, segments = [], usage }: TranscriptContent): string {
  const parts = segments.map((segment) => frame({ type: 'transcript.text.segment', ...segment }))
  if (text !== '') parts.unshift(frame({ type: 'transcript.text.delta', delta: text }))
  parts.push(frame({ type: 'transcript.text.done', text, ...(usage !== null && { usage }) }))
  return parts.join('')
}

export function speechDelta(chunk: Uint8Array): string {
  return frame({ type: 'speech.audio.delta', audio: chunk.toBase64() })
}

export function speechDone(usage: JsonObject | null): string {
  return frame({ type: 'speech.audio.done', ...(usage !== null && { usage }) })
}
