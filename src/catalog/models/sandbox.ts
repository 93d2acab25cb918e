// Models and prices of the built-in sandbox, which needs no vendor and no network.

import { converses, embeds, type ShippedModels } from '../shipped.ts'

export const sandbox: ShippedModels = {
  vendor: 'sandbox',
  ownedBy: 'sandbox',
  models: {
    'sandbox/chat': { context: 2_000_000, vision: true },
    'sandbox/reasoning': { context: 64_000, reasoning: true },
    'sandbox/completion': { kind: 'completion' },
    'sandbox/embedding': embeds,
    'sandbox/image': { kind: 'image' },
    'sandbox/transcription': { kind: 'transcription' },
    'sandbox/speech': { kind: 'speech' },
    'sandbox/moderation': { kind: 'moderation' },
    'sandbox/video': { kind: 'video' },
    'sandbox/realtime': converses,
  },
}

const chat = { input: '0.50', cachedInput: '0.05', output: '1.50' }

/** Prices by model; a name with settings costs the same. Low, so that a trial lasts, but never free. */
export const sandboxPrices: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'sandbox/chat': chat,
  'sandbox/reasoning': chat,
  'sandbox/completion': chat,
  'sandbox/embedding': { input: '0.02' },
  'sandbox/image': { image: '1000' },
  'sandbox/transcription': { second: '10' },
  'sandbox/speech': { character: '1.50' },
  'sandbox/moderation': { request: '10' },
  'sandbox/video': { second: '1000' },
  'sandbox/realtime': { ...chat, audioInput: '2', audioOutput: '6' },
}
