// Transcripts in OpenAI's form.

import type { MediaCall, TranscriptReply } from '../../vendors/media.ts'
import type { Written } from './written.ts'

export function writeTranscript(reply: TranscriptReply, _call: MediaCall): Written {
  const { text, usage } = reply
  const body = { text, ...(usage !== null && { usage }) }
  return { type: 'application/json', chunks: once(JSON.stringify(body)) }
}

async function* once(text: string): AsyncGenerator<Uint8Array> {
  yield new TextEncoder().encode(text)
}
