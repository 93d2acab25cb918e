// The gateway on which realtime sessions are tested: its channels, models and keys.

import { testKey } from '../support/gateway.ts'

export const key = 'sk-upstream-secret-0123456789'
const refusing = [400, 401, 429, 500, 503]
export const limited = 'sk-limited-0123456789'
const prices = { input: '4', output: '16', audioInput: '32', audioOutput: '64', cachedInput: '0.4' }
const transcribing = { kind: 'transcription', prices: { second: '100' } }

/** `url` is the vendor that is asked first, `otherUrl` the one that remains if that refuses. */
export function realtimeConfig(url: string, otherUrl: string) {
  return {
    channels: [
      {
        id: 'main',
        vendor: 'openai',
        baseUrl: url,
        key,
        models: {
          'gpt-realtime': 'gpt-realtime',
          renamed: 'gpt-realtime-2025-08-28',
          'whisper-1': 'whisper-1',
          scribe: 'gpt-4o-transcribe',
          unpriced: 'unpriced-transcribe',
          'gpt-4o': 'gpt-4o',
        },
      },
      // Each refuses in a different way; the health of one must not affect another.
      ...refusing.map((status) => ({
        id: `refusing-${status}`,
        vendor: 'openai',
        baseUrl: url,
        key,
        models: [`refused-${status}`],
      })),
      // Weight 0: only if no other is left.
      { id: 'last', vendor: 'openai', baseUrl: otherUrl, key, models: ['refused-*'], weight: 0 },
      { id: 'azure', vendor: 'azure-openai', baseUrl: url, key, models: ['deployed'] },
    ],
    models: {
      'gpt-realtime': { kind: 'realtime', prices },
      renamed: { kind: 'realtime', prices },
      'refused-*': { kind: 'realtime', prices },
      deployed: { kind: 'realtime', prices },
      'whisper-1': transcribing,
      scribe: { kind: 'transcription', prices: { input: '2.5', output: '10' } },
      unpriced: { kind: 'transcription', prices: { input: '1' } },
      'gpt-4o': { kind: 'chat' },
    },
    keys: [
      { name: 'test', secret: testKey },
      { name: 'limited', secret: limited, limits: { concurrentRequests: 1 } },
    ],
    realtime: { maxMessageBytes: 65_536 },
    server: { heartbeatMs: 200 },
  }
}
