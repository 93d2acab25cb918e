// ElevenLabs: speech in voices named by id, and transcripts of recordings, each in a form of its own.

import type { Fault } from '../errors.ts'
import type { JsonObject, JsonValue } from '../wire/ir.ts'
import { isObject } from '../wire/json/value.ts'
import { lazyAdapter } from './media.ts'
import type { Vendor } from './vendor.ts'

const transcripts = lazyAdapter(async () => ({
  serve: (await import('./elevenlabs-scribe.ts')).writeDown,
}))
const speech = lazyAdapter(async () => ({ serve: (await import('./elevenlabs-speak.ts')).speak }))

/** Error bodies are `{"detail": {"status", "message"}}`, or a list of invalid fields (ElevenLabs, "Errors"). */
function refine(fault: Fault, status: number, body: string): Fault {
  const detail = detailIn(body)
  if (detail === null) return fault
  const { message, status: name } = detail
  const shown = typeof message === 'string' ? { ...fault, message: message.slice(0, 500) } : fault
  switch (name) {
    // Sent with status 401, which would disable the channel like a refused key.
    case 'quota_exceeded':
    case 'payment_required':
      return { ...shown, kind: 'quota' }
    case 'voice_not_found':
    case 'invalid_voice_id':
      return { ...shown, kind: 'rejected', param: 'voice' }
    case 'model_not_found':
    case 'invalid_model_id':
      return { ...shown, kind: 'unknown_model' }
    case 'too_many_concurrent_requests':
    case 'concurrent_limit_exceeded':
      return { ...shown, kind: 'rate_limited' }
    case 'system_busy':
      return { ...shown, kind: 'overloaded' }
    default:
      return status === 404 ? { ...shown, kind: 'rejected', param: null } : shown
  }
}

function detailIn(body: string): JsonObject | null {
  try {
    const value = JSON.parse(body) as JsonValue
    return isObject(value) && isObject(value.detail) ? value.detail : null
  } catch (error) {
    if (error instanceof SyntaxError) return null
    throw error
  }
}

export const elevenlabs: Vendor = {
  id: 'elevenlabs',
  ownedBy: 'elevenlabs',
  baseUrl: 'https://api.elevenlabs.io',
  environment: 'ELEVENLABS_API_KEY',
  speaks: ['openai-speech', 'openai-transcriptions'],
  quirks: {
    usageOnStream: 'always',
    refine,
  },
  // Only adapters call the vendor, at their own addresses.
  address: (_call, { baseUrl }) => baseUrl,
  signature: { headers: ({ key }) => (key === null ? [] : [['xi-api-key', key]]) },
  adapters: { 'openai-speech': speech, 'openai-transcriptions': transcripts },
}
