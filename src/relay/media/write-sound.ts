// Speech in OpenAI's form: its bytes as they come, or events with base64 of them.

import type { MediaCall, SoundReply } from '../../vendors/media.ts'
import type { Written } from './written.ts'

const encoder = new TextEncoder()

export function writeSound(reply: SoundReply, call: MediaCall): Written {
  if (call.fields['stream_format'] !== 'sse') return reply
  return { type: 'text/event-stream', chunks: events(reply) }
}

async function* events({ chunks, usage }: SoundReply): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks)
    yield frame({ type: 'speech.audio.delta', audio: chunk.toBase64() })
  const told = usage()
  yield frame({ type: 'speech.audio.done', ...(told !== null && { usage: told }) })
}

function frame(event: object): Uint8Array {
  return encoder.encode(`data: ${JSON.stringify(event)}\n\n`)
}
