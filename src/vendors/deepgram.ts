// Deepgram: transcripts of recordings, and speech, each in a form of its own.

import type { Fault } from '../errors.ts'
import type { JsonValue } from '../wire/ir.ts'
import { isObject } from '../wire/json/value.ts'
import { lazyAdapter } from './media.ts'
import type { Vendor } from './vendor.ts'

const transcripts = lazyAdapter(async () => ({
  serve: (await import('./deepgram-listen.ts')).listen,
}))
const speech = lazyAdapter(async () => ({ serve: (await import('./deepgram-speak.ts')).speak }))

/** Error bodies are `{"err_code", "err_msg"}` or `{"category", "message", "details"}` (Deepgram, "API errors"). */
function refine(fault: Fault, status: number, body: string): Fault {
  const said = parsed(body)
  if (!isObject(said)) return fault
  const { err_code: code, err_msg: message, category } = said
  const shown = typeof message === 'string' ? { ...fault, message: message.slice(0, 500) } : fault
  const name = typeof code === 'string' ? code : category
  if (name === 'ASR_PAYMENT_REQUIRED' || name === 'PAYMENT_REQUIRED')
    return { ...shown, kind: 'quota' }
  if (status < 500 && /no such model/i.test(shown.message))
    return { ...shown, kind: 'unknown_model' }
  return shown
}

function parsed(body: string): JsonValue {
  try {
    return JSON.parse(body) as JsonValue
  } catch (error) {
    if (error instanceof SyntaxError) return null
    throw error
  }
}

export const deepgram: Vendor = {
  id: 'deepgram',
  ownedBy: 'deepgram',
  baseUrl: 'https://api.deepgram.com',
  environment: 'DEEPGRAM_API_KEY',
  speaks: ['openai-transcriptions', 'openai-speech'],
  quirks: {
    usageOnStream: 'always',
    refine,
  },
  // Only adapters call the vendor, at their own addresses.
  address: (_call, { baseUrl }) => baseUrl,
  signature: { headers: ({ key }) => (key === null ? [] : [['authorization', `Token ${key}`]]) },
  adapters: { 'openai-transcriptions': transcripts, 'openai-speech': speech },
}
