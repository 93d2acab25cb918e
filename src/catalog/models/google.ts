// Google's models, in its Gemini API and Vertex; context windows: @pydantic/genai-prices 0.1.8, else litellm 1.109.1.

import { embeds, films, type ShippedModel, type ShippedModels, speaks, thinks } from '../shipped.ts'

/** Chat models that answer with images. */
const paints: ShippedModel = { kind: 'image', also: ['chat'], vision: true }
/** Chat models that answer with audio. */
const reads: ShippedModel = { ...speaks, also: ['chat'] }
/** Chat models that accept audio, and can be asked for a transcript. */
const hears: ShippedModel = { ...thinks, also: ['transcription'], vision: true }

const models: ShippedModels['models'] = {
  'gemini-3.8-flash': { ...hears, context: 1_000_000 },
  'gemini-3.7-flash': { ...hears, context: 1_000_000 },
  'gemini-3.6-flash': { ...hears, context: 1_000_000 },
  'gemini-3.5-flash': { ...hears, context: 1_000_000 },
  'gemini-3.5-flash-lite': { ...hears, context: 1_000_000 },
  'gemini-3.1-pro-preview': { ...hears, context: 1_048_576 },
  'gemini-3.1-flash-lite': { ...hears, context: 1_000_000 },
  'gemini-3.1-flash-image-preview': { ...paints, context: 1_000_000 },
  'gemini-3-pro-preview': { ...hears, context: 1_048_576 },
  'gemini-3-pro-image-preview': { ...paints, context: 1_000_000 },
  'gemini-3-flash-preview': { ...hears, context: 1_000_000 },
  'gemini-2.5-pro': { ...hears, context: 1_048_576 },
  'gemini-2.5-flash': { ...hears, context: 1_048_576 },
  'gemini-2.5-flash-lite': { ...hears, context: 1_048_576 },
  'gemini-2.5-flash-image': { ...paints, context: 1_000_000 },
  'gemini-3.1-flash-image': { ...paints, context: 1_000_000 },
  'gemini-3.1-flash-lite-image': paints,
  'gemini-3-pro-image': { ...paints, context: 1_000_000 },
  'gemini-3.8-flash-tts': reads,
  'gemini-3.8-flash-lite-tts': reads,
  'gemini-3.1-flash-tts-preview': reads,
  'gemini-2.5-pro-preview-tts': reads,
  'gemini-2.5-flash-preview-tts': reads,
  'veo-3.1-generate-001': films,
  'veo-3.1-fast-generate-001': films,
  'veo-3.1-generate-preview': films,
  'veo-3.1-fast-generate-preview': films,
  'veo-3.1-lite-generate-preview': films,
  'gemini-embedding-2': embeds,
  'gemini-embedding-001': { ...embeds, context: 2_048 },
}

export const google: ShippedModels = { vendor: 'google', ownedBy: 'google', models }

export const vertex: ShippedModels = { vendor: 'vertex', ownedBy: 'google', models }
