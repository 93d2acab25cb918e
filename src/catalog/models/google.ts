// Google's models, at its Gemini API and at Vertex; context windows by @pydantic/genai-prices 0.1.8.

import { type ShippedModels, thinks } from '../shipped.ts'

const models: ShippedModels['models'] = {
  'gemini-3.8-flash': { ...thinks, context: 1_000_000, vision: true },
  'gemini-3.7-flash': { ...thinks, context: 1_000_000, vision: true },
  'gemini-3.6-flash': { ...thinks, context: 1_000_000, vision: true },
  'gemini-3.5-flash': { ...thinks, context: 1_000_000, vision: true },
  'gemini-3.5-flash-lite': { ...thinks, context: 1_000_000, vision: true },
  'gemini-3.1-pro-preview': { ...thinks, vision: true },
  'gemini-3.1-flash-lite': { ...thinks, context: 1_000_000, vision: true },
  'gemini-3.1-flash-image-preview': { ...thinks, context: 1_000_000, vision: true },
  'gemini-3-pro-preview': { ...thinks, vision: true },
  'gemini-3-pro-image-preview': { ...thinks, context: 1_000_000, vision: true },
  'gemini-3-flash-preview': { ...thinks, context: 1_000_000, vision: true },
  'gemini-2.5-pro': { ...thinks, vision: true },
  'gemini-2.5-flash': { ...thinks, context: 1_048_576, vision: true },
  'gemini-2.5-flash-lite': { ...thinks, context: 1_048_576, vision: true },
  'gemini-2.5-flash-image': { context: 1_000_000, vision: true },
}

export const google: ShippedModels = { vendor: 'google', ownedBy: 'google', models }

export const vertex: ShippedModels = { vendor: 'vertex', ownedBy: 'google', models }
