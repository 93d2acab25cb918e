// Writes speech in OpenAI's form: its bytes as they arrive, or events with base64 of them.

import type { MediaCall, SoundReply } from '../../vendors/media.ts'
import { speechDelta, speechDone } from '../../wire/openai-audio/events.ts'
import type { Written } from '../adapters/written.ts'

const encoder = new TextEncoder()

export function writeSound(reply: SoundReply, call: MediaCall): Written {
  const { type, chunks } = reply
  if (call.fields['stream_format'] === 'sse')
    return { type: 'text/event-stream', chunks: events(reply) }
  return { type, chunks, usage: () => reply.usage() }
}

async function* events(reply: SoundReply): AsyncGenerator<Uint8Array> {
  for await (const chunk of reply.chunks)
    if (chunk.length > 0) yield encoder.encode(speechDelta(chunk))
  yield encoder.encode(speechDone(reply.usage()))
}
